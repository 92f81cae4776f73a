"""Paragraphs as plain text to read and as LaTeX to paste into a paper."""

from collections.abc import Callable, Sequence
from pathlib import Path

from capmap.artifacts import write_text
from capmap.tables import escape_latex


def write_paragraphs(paragraphs: Sequence[str], paths: Sequence[str | Path]) -> None:
    """Write paragraphs to several files, each in the format that its suffix names.

    Parameters
    ----------
    paragraphs : sequence of str
        Finished sentences; each paragraph becomes one line, with an empty line between two.
    paths : sequence of path-like
        Files ending in ``.txt`` or ``.tex``; each is replaced atomically.

    Raises
    ------
    ValueError
        If a path has another suffix; nothing is written then.
    """
    render: dict[str, Callable[[str], str]] = {".txt": str, ".tex": escape_latex}
    unknown = [str(path) for path in paths if Path(path).suffix not in render]
    if unknown:
        raise ValueError(f"Paragraphs are written as .txt or .tex, not as {unknown}.")
    for path in paths:
        lines = [render[Path(path).suffix](paragraph) for paragraph in paragraphs]
        write_text(path, "\n\n".join(lines) + "\n")
