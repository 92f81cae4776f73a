"""A study's settings on their way from files to YAML with comments, and how sure each is."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

import yaml

Certainty: TypeAlias = Literal["found", "guess", "decide"]


@dataclass
class Draft:
    """The settings of a study, and what is to be said about them.

    Parameters
    ----------
    settings : dict
        Of one study.
    notes : dict of str to list
        Option, and the certainty and text of each note on it. "found" is what the files say,
        "guess" what is likely, and "decide" what only the user knows: the setting is a proposal.
    is_undirected : bool
        Whether no name says of the scores which way is better.
    runs : int
        How many runs were read as the draft says.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, list[tuple[Certainty, str]]] = field(default_factory=dict)
    is_undirected: bool = False
    runs: int = 0

    def note(self, option: str, certainty: Certainty, text: str) -> None:
        """Add a note on an option, once."""
        notes = self.notes.setdefault(option, [])
        if (certainty, text) not in notes:
            notes.append((certainty, text))

    def put(self, option: str, value: Any, certainty: Certainty, text: str) -> None:
        """Set an option, or fill a section, and say why."""
        old = self.settings.get(option)
        is_section = isinstance(old, dict) and isinstance(value, Mapping)
        self.settings[option] = {**old, **value} if old and is_section else value
        self.note(option, certainty, text)

    @property
    def decisions(self) -> list[str]:
        """What the user has to decide, each with its option."""
        return [
            f"{option}: {text}"
            for option, notes in self.notes.items()
            for certainty, text in notes
            if certainty == "decide"
        ]


WIDTH = 100
MARK = "    # "
HEADINGS = {"found": "", "guess": "A guess: ", "decide": "DECIDE: "}
# Folders of capmap itself in results/.
RESERVED = ("logs", "benchmarks")
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


def name_study(exports: Sequence[str]) -> str:
    """Name a study after its file or folder.

    Examples
    --------
    >>> name_study(["runs/my results.csv"]), name_study(["*.csv"])
    ('my-results', 'study')
    """
    stem = PurePath(exports[0]).name.partition(".")[0] if exports else ""
    name = NOT_IN_NAMES.sub("-", stem).strip("-_") or "study"
    return f"{name}-study" if name in RESERVED else name


def write_draft(draft: Draft, name: str) -> str:
    """Write a draft as the YAML of a configuration, with a comment above each option.

    Parameters
    ----------
    draft : Draft
        Settings and notes.
    name : str
        The study's name.

    Returns
    -------
    str
        What only the user knows begins with "DECIDE".
    """
    lines = ["# Drafted by capmap: comments say what is a guess, and what you have to DECIDE."]
    lines += ["studies:", f"  {name}:"]
    for key in dict.fromkeys([*draft.settings, *draft.notes]):
        for certainty, text in draft.notes.get(key, []):
            words = HEADINGS[certainty] + " ".join(text.split())
            lines += textwrap.wrap(words, WIDTH, initial_indent=MARK, subsequent_indent=MARK)
        if key in draft.settings:
            text = yaml.safe_dump(
                {key: draft.settings[key]},
                default_flow_style=None if isinstance(draft.settings[key], dict | list) else False,
                allow_unicode=True,
                sort_keys=False,
                width=WIDTH,
            )
            lines += [f"    {line}" for line in text.splitlines()]
    return "\n".join(lines) + "\n"
