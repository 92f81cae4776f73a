"""Any export as a sheet: a list of columns, and their cells on request."""

from collections.abc import Collection, Sequence
from typing import Protocol

from capmap.exports.cells import Cells
from capmap.exports.delimited import open_delimited
from capmap.exports.files import (
    HEAD,
    PARQUET,
    PLAIN,
    FileOptions,
    has_suffix,
    read_content,
    refuse,
)
from capmap.exports.markdown import MARKDOWN, open_markdown
from capmap.exports.parquet import open_parquet
from capmap.exports.records import LINES, YAML, open_records
from capmap.exports.workbooks import is_workbook, open_workbook
from capmap.problems import UnreadableExportError

NESTED = LINES | YAML | {".json"}


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
        The file. Parquet, workbooks and gzip are known by their first bytes. Suffixes (before
        ``.gz``) distinguish nested files (``.jsonl``, ``.ndjson``, ``.json``, ``.yaml`` or
        ``.yml``) and Markdown (``.md`` or ``.markdown``); all else is a delimited table.
    wanted : collection of str
        The names that its header should have, by which the delimiter is found, and the table where
        Markdown has several.
    options : FileOptions, optional
        How it is written. Several header rows are joined, see `join_header`. What a format does not
        know is ignored, such as the sheet of a CSV, but names and header rows are not.

    Raises
    ------
    UnreadableExportError
        When it cannot be opened, or names its columns itself and should not.
    """
    head = read_content(path, limit=HEAD)
    is_parquet = head.startswith(PARQUET) or has_suffix(path, frozenset({".parquet", ".pq"}))
    if is_parquet or has_suffix(path, NESTED):
        if options.names or options.header_rows > 1:
            raise _refuse_header(path, options, is_parquet=is_parquet)
        if is_parquet:
            return open_parquet(path, head)
        return open_records(path, records=options.records, encoding=options.encoding)
    if is_workbook(path, head):
        return open_workbook(path, options=options)
    if has_suffix(path, MARKDOWN):
        return open_markdown(path, wanted=wanted, options=options)
    return open_delimited(path, head, wanted=wanted, options=options)


def _refuse_header(path: str, options: FileOptions, *, is_parquet: bool) -> UnreadableExportError:
    is_json = has_suffix(path, LINES | {".json"})
    kind = "A file of JSON lines" if is_json else "A YAML file"
    kind = "A Parquet file" if is_parquet else kind
    if options.names:
        reason = f"{kind} names its columns itself, so they cannot be given."
        remedy = "Remove `reading: {names: […]}`, or rename the columns in the file."
        return refuse("names", path, reason, remedy)
    reason = f"{kind} names each column once, so it cannot have several header rows."
    remedy = "Remove `header_rows`, or export the table as CSV or TSV."
    return refuse("header_rows", path, reason, remedy)
