"""A draft as YAML with comments."""

import re
import textwrap
from collections.abc import Sequence
from pathlib import PurePath

import yaml

from capmap.drafting.draft import Draft

WIDTH = 100
FIRST = ("title", "exports", "preset", "format")
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
    keys = sorted(draft.settings, key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST))
    for key in keys:
        for certainty, text in draft.notes.get(key, []):
            lines += textwrap.wrap(
                HEADINGS[certainty] + " ".join(text.split()),
                WIDTH,
                initial_indent="    # ",
                subsequent_indent="    # ",
                break_on_hyphens=False,
            )
        text = yaml.safe_dump(
            {key: draft.settings[key]},
            default_flow_style=None if isinstance(draft.settings[key], dict | list) else False,
            allow_unicode=True,
            sort_keys=False,
            width=WIDTH,
        )
        lines += [f"    {line}" for line in text.splitlines()]
    return "\n".join(lines) + "\n"
