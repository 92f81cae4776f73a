"""Any export as a sheet: a list of columns, and their cells on request."""

from collections.abc import Collection, Sequence
from pathlib import PurePath
from typing import Protocol

from capmap.exports.cells import Cells
from capmap.exports.delimited import open_delimited
from capmap.exports.files import HEAD, PARQUET, read_content
from capmap.exports.jsonlines import open_jsonlines
from capmap.exports.parquet import open_parquet


class Sheet(Protocol):
    """A file whose columns are known and whose cells can be read."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns in the order of the file, duplicates included."""

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns.

        Raises
        ------
        UnreadableExportError
            When the file turns out to be damaged.
        """


def open_sheet(path: str, *, wanted: Collection[str]) -> Sheet:
    """Open an export as what it is.

    Parameters
    ----------
    path : str
        The file. Parquet and gzip are known by their first bytes, JSON lines by the suffix
        ``.jsonl``, ``.ndjson`` or ``.json`` (before ``.gz``); all else is a delimited table.
    wanted : collection of str
        The names that its header should have, by which the delimiter is found.

    Raises
    ------
    UnreadableExportError
        When it cannot be opened.
    """
    head = read_content(path, limit=HEAD)
    suffixes = {suffix.lower() for suffix in PurePath(path).suffixes[-2:]}
    if head.startswith(PARQUET) or suffixes & {".parquet", ".pq"}:
        return open_parquet(path, head)
    if suffixes & {".jsonl", ".ndjson", ".json"}:
        return open_jsonlines(path)
    return open_delimited(path, head, wanted=wanted)
