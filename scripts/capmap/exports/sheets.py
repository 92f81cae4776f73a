"""Any export as a sheet: a list of columns, and their cells on request."""

from collections.abc import Collection, Sequence
from pathlib import PurePath
from typing import Protocol

from capmap.exports.cells import Cells
from capmap.exports.delimited import open_delimited
from capmap.exports.files import HEAD, PARQUET, PLAIN, FileOptions, read_content
from capmap.exports.jsonlines import open_jsonlines
from capmap.exports.parquet import open_parquet
from capmap.problems import Problem, UnreadableExportError


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


def open_sheet(path: str, *, wanted: Collection[str], options: FileOptions = PLAIN) -> Sheet:
    """Open an export as what it is.

    Parameters
    ----------
    path : str
        The file. Parquet and gzip are known by their first bytes, JSON lines by the suffix
        ``.jsonl``, ``.ndjson`` or ``.json`` (before ``.gz``); all else is a delimited table.
    wanted : collection of str
        The names that its header should have, by which the delimiter is found.
    options : FileOptions, optional
        How it is written. Several header rows are joined, see `join_header`; only delimited tables
        can have them.

    Raises
    ------
    UnreadableExportError
        When it cannot be opened, or is no delimited table and should have several header rows.
    """
    head = read_content(path, limit=HEAD)
    suffixes = {suffix.lower() for suffix in PurePath(path).suffixes[-2:]}
    is_parquet = head.startswith(PARQUET) or bool(suffixes & {".parquet", ".pq"})
    if not is_parquet and not suffixes & {".jsonl", ".ndjson", ".json"}:
        return open_delimited(path, head, wanted=wanted, header_rows=options.header_rows)
    if options.header_rows > 1:
        raise UnreadableExportError(_explain_header_rows(path, is_parquet=is_parquet))
    return open_parquet(path, head) if is_parquet else open_jsonlines(path)


def _explain_header_rows(path: str, *, is_parquet: bool) -> Problem:
    kind = "A Parquet file" if is_parquet else "A file of JSON lines"
    return Problem(
        code="header_rows",
        source=path,
        reason=f"{kind} names each column once, so it cannot have several header rows.",
        remedy="Remove `header_rows`, or export the table as CSV or TSV.",
    )
