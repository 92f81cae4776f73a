"""A study's settings on their way from files to YAML, and how sure each is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

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
    unused : list of str
        Columns in which rows of the same names differ, and that are not used.
    runs : int
        How many runs were read as the draft says.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, list[tuple[Certainty, str]]] = field(default_factory=dict)
    is_undirected: bool = False
    unused: list[str] = field(default_factory=list)
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
