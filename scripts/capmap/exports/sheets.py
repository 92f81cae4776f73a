"""Any export as a sheet: a list of columns, and their cells on request."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.exports.cells import Cells, clean_header
from capmap.exports.delimited import open_delimited
from capmap.exports.files import (
    HEAD,
    LARGEST,
    PARQUET,
    PLAIN,
    FileOptions,
    has_suffix,
    read_content,
    refuse,
)
from capmap.exports.markdown import MARKDOWN, open_markdown
from capmap.exports.records import LINES, YAML, open_records
from capmap.exports.workbooks import is_workbook, open_workbook
from capmap.problems import UnreadableExportError, shorten
from capmap.wording import quote_name

NESTED = LINES | YAML | {".json"}
# What pyarrow raises of damaged files: lengths, indexes and names that make no sense.
DAMAGE = (pa.ArrowException, OSError, LookupError, ValueError, OverflowError)


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
            reason = "The file names each column itself, once: it has no header that can be given."
            remedy = "Remove `header_rows` and `reading: {names: …}`, or export the table as CSV."
            raise refuse("names", path, reason, remedy)
        if is_parquet:
            return open_parquet(path, head)
        return open_records(path, records=options.records, encoding=options.encoding)
    if is_workbook(path, head):
        return open_workbook(path, options=options)
    if has_suffix(path, MARKDOWN):
        return open_markdown(path, wanted=wanted, options=options)
    return open_delimited(path, wanted=wanted, options=options)


@dataclass(frozen=True)
class ParquetSheet:
    """A Parquet file whose schema has been read: its columns, trimmed, and their own names."""

    path: str
    columns: list[str]
    fields: dict[str, str]

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns as text; the first row counts as line 2.

        A number is written with the fewest digits that give the same float again. Null is an empty
        cell.
        """
        fields = [self.fields[name] for name in names]
        try:
            file = pq.ParquetFile(self.path)
            present = file.schema_arrow.names
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            size = sum(group.total_byte_size for group in groups)
            twice = [name for name in fields if present.count(name) > 1]
            table = None if twice or size > LARGEST else file.read(fields, use_threads=False)
        except DAMAGE as error:
            raise _explain_damage(self.path, error) from error
        if table is None and twice:
            reason = f"{present.count(twice[0])} columns are called {quote_name(twice[0])}."
            remedy = "Rename or remove all but one of them."
            raise refuse("duplicated_column", self.path, reason, remedy, line=1, column=twice[0])
        if table is None:
            reason = f"The file takes {size} bytes once unpacked; {LARGEST} are the limit."
            raise refuse("too_large", self.path, reason, "Split the file into several ones.")
        columns = {name: self._write_column(table, name) for name in names}
        numeric = frozenset(name for name in names if _is_number(table.field(self.fields[name])))
        return Cells(columns, np.arange(2, table.num_rows + 2), numeric)

    def _write_column(self, table: pa.Table, name: str) -> pa.Array:
        column = table.column(self.fields[name])
        try:
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if pa.types.is_floating(column.type):
                column = column.cast(pa.float64())
            texts = column.cast(pa.large_string()).combine_chunks()
        except pa.ArrowException as error:
            reason = f"The column holds {column.type}, which is neither text nor number."
            remedy = f"Write {quote_name(name)} as text or as numbers."
            raise refuse("nested_column", self.path, reason, remedy, line=1, column=name) from error
        try:
            texts.validate(full=True)
        except DAMAGE as error:
            raise _explain_damage(self.path, error) from error
        return texts.fill_null("")


def open_parquet(path: str, head: bytes) -> ParquetSheet:
    """Read the schema of a Parquet file, of which `head` is the beginning.

    Raises
    ------
    UnreadableExportError
        When it is not a Parquet file, or a damaged one.
    """
    if not head.startswith(PARQUET):
        reason = "The file is called Parquet but is something else."
        remedy = "Write it again as Parquet, or give it the suffix of what it is."
        raise refuse("not_parquet", path, reason, remedy)
    try:
        names = pq.read_schema(path).names
        columns = clean_header(names)
    except DAMAGE as error:
        raise _explain_damage(path, error) from error
    return ParquetSheet(path, columns, dict(zip(columns, names, strict=True)))


def _explain_damage(path: str, error: Exception) -> UnreadableExportError:
    reason = f"The Parquet file is damaged ({shorten(str(error).partition(chr(10))[0])})."
    return refuse("damaged_parquet", path, reason, "Copy or download it again, or write it again.")


def _is_number(field: Any) -> bool:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
    return any(test(kind) for test in tests)
