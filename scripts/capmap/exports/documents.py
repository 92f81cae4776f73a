"""Whole text files of moderate size: one name per line, or one JSON document."""

import json
from pathlib import PurePath
from typing import Any

from capmap.exports.faults import UnreadableExportError
from capmap.exports.files import LARGEST, check_text, read_bounded
from capmap.problems import Problem

TABLES = frozenset({".csv", ".tsv", ".parquet", ".pq"})
JSON = frozenset({".json"})
# Each entry becomes objects, which take up to 110 times the bytes of its text.
LONGEST = LARGEST // 16


class Pairs(list[tuple[str, Any]]):
    """A JSON object: its keys and values in the order of the file, repeated keys included."""


DECODER = json.JSONDecoder(object_pairs_hook=Pairs)


def has_suffix(path: str, suffixes: frozenset[str]) -> bool:
    """Tell whether a file has one of some suffixes, also before ``.gz``, whatever their case."""
    return bool({suffix.lower() for suffix in PurePath(path).suffixes[-2:]} & suffixes)


def read_text(path: str) -> str:
    """Read a text file in UTF-8, without the byte order mark.

    Raises
    ------
    UnreadableExportError
        When it cannot be read, is empty or larger than 64 MiB, or is not text in UTF-8.
    """
    content = read_bounded(path, limit=LONGEST, remedy="Write it as a table, CSV or Parquet.")
    check_text(content, path)
    return content.decode("utf-8-sig")


def read_lines(path: str) -> list[str]:
    """Read a file of one entry per line, trimmed.

    Raises
    ------
    UnreadableExportError
        As in `read_text`, and when a line before the last entry is blank: where entries are known
        by their position, it is not clear whether one is missing.
    """
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if "" in lines:
        raise refuse(
            "blank_line",
            path,
            "The line is blank, and entries are known by their position.",
            "Fill it in, or remove it.",
            line=lines.index("") + 1,
        )
    return lines


def read_document(path: str) -> Any:
    """Read one JSON document; its objects are `Pairs`.

    Raises
    ------
    UnreadableExportError
        As in `read_text`, and when it is not JSON (with the line), ends too early, is nested too
        deeply, or has a number of thousands of digits.
    """
    text = read_text(path)
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            reason, remedy = "The JSON ends too early.", "Copy or download it again."
            code = "truncated_json"
        else:
            reason = f"The file is not JSON ({error.msg}, character {error.colno} of the line)."
            code, remedy = "invalid_json", "Write the file with a JSON library."
        raise refuse(code, path, reason, remedy, line=error.lineno) from error
    except RecursionError as error:
        raise refuse(
            "deep_json",
            path,
            "The JSON is nested too deeply.",
            "Write a list of lists, or an object of lists.",
        ) from error
    except ValueError as error:
        raise refuse(
            "long_number",
            path,
            "The JSON has a number of thousands of digits.",
            "Check that the file holds what it should.",
        ) from error


def refuse(
    code: str, path: str, reason: str, remedy: str, *, line: int = 0, column: str = ""
) -> UnreadableExportError:
    """Make the error of a file with one fault."""
    return UnreadableExportError(
        Problem(code=code, source=path, reason=reason, remedy=remedy, line=line, column=column)
    )
