"""What documents of nested values have in common: values, lines and faults."""

from collections.abc import Iterator
from typing import Any, TypeAlias

from capmap.exports.files import LONGEST
from capmap.problems import Problem
from capmap.wording import quote_name

DEEPEST = 100
LONGEST_VALUE = 200
REMEDY = "Write the file with a library for its format."


class Numeral(str):
    """The text of a number, as it stands in the file."""

    __slots__ = ()


class Object(dict[str, Any]):
    """An object, and the lines where its values begin."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []

    def add(self, key: str, value: Any, line: int) -> None:
        """Add a value under a key that is not there yet."""
        self[key] = value
        self.lines.append(line)


class Array(list[Any]):
    """A list, and the lines where its entries begin."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []

    def add(self, _key: str, value: Any, line: int) -> None:
        """Add an entry, whatever the key."""
        self.append(value)
        self.lines.append(line)


class FaultError(ValueError):
    """What is wrong with a value, and what to do about it; line 0 is where the value begins."""

    def __init__(
        self, code: str, reason: str, remedy: str = REMEDY, *, line: int = 0, value: str = ""
    ) -> None:
        super().__init__(reason)
        self.code, self.reason, self.remedy = code, reason, remedy
        self.line, self.value = line, value

    def explain(self, path: str, line: int = 0) -> Problem:
        """Make a problem of it, at a line unless it has one itself."""
        return Problem(
            code=self.code,
            source=path,
            reason=self.reason,
            remedy=self.remedy,
            line=self.line or line,
            value=self.value[:LONGEST_VALUE],
        )


# A line of JSON lines, an entry of the list that a document is, or a document: the line where it
# begins; the position of an entry in its list, from "0", empty for others; and its value, which is
# text, `Numeral`, True, False, None, or a list or an object of such.
Part: TypeAlias = tuple[int, str, Any]
Parts: TypeAlias = Iterator[Part | FaultError]


def refuse_depth(line: int = 0, *, code: str = "deep_nesting") -> FaultError:
    """Make the fault of a value that is nested too deeply."""
    return FaultError(code, "The value is nested too deeply.", "Write flatter objects.", line=line)


def refuse_twice(key: str, line: int) -> FaultError:
    """Make the fault of a key that stands twice."""
    reason = f"The key {quote_name(key)} stands twice in one object."
    return FaultError("duplicated_key", reason, "Rename or remove one of them.", line=line)


def check_length(text: str) -> None:
    """Check that a document does not take too much memory as a whole.

    Raises
    ------
    FaultError
        When it has more than 64 Mi characters.
    """
    if len(text) > LONGEST:
        reason = f"The document has more than {LONGEST} characters, and it is read as a whole."
        raise FaultError("too_large", reason, "Write JSON lines, or a list of objects as JSON.")
