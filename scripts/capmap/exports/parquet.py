"""Parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.exports.cells import Cells, clean_header
from capmap.exports.files import LARGEST, PARQUET, refuse
from capmap.problems import shorten
from capmap.wording import quote_name


@dataclass(frozen=True)
class ParquetSheet:
    """A Parquet file whose schema has been read.

    Parameters
    ----------
    path : str
        The file.
    columns : list of str
        Its top-level columns, trimmed.
    fields : dict of str to str
        Their names in the file.
    """

    path: str
    columns: list[str]
    fields: dict[str, str]

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns as text; the first row counts as line 2.

        Notes
        -----
        A number is written with the fewest digits that give the same float again. Null is an empty
        cell.
        """
        fields = [self.fields[name] for name in names]
        with explain_damage(self.path):
            file = pq.ParquetFile(self.path)
            self._require_fields(file.schema_arrow.names, fields)
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            self._require_size(sum(group.total_byte_size for group in groups))
            table = file.read(fields, use_threads=False)
            columns = {name: self._read_column(table, name) for name in names}
        numeric = frozenset(
            name for name in names if _is_number(table.field(self.fields[name]).type)
        )
        return Cells(columns, np.arange(2, table.num_rows + 2), numeric)

    def _read_column(self, table: pa.Table, name: str) -> pa.Array:
        column = table.column(self.fields[name])
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
        try:
            texts = column.cast(pa.large_string()).combine_chunks()
        except pa.ArrowException as error:
            reason = f"The column holds {column.type}, which is neither text nor number."
            remedy = f"Write {quote_name(name)} as text or as numbers."
            raise refuse("nested_column", self.path, reason, remedy, line=1, column=name) from error
        texts.validate(full=True)
        return texts.fill_null("")

    def _require_fields(self, present: Sequence[str], fields: Sequence[str]) -> None:
        """Refuse a field that is there twice, such as columns without any name."""
        twice = [name for name in fields if present.count(name) > 1]
        if twice:
            raise refuse(
                "duplicated_column",
                self.path,
                f"{present.count(twice[0])} columns are called {quote_name(twice[0])}.",
                "Rename or remove all but one of them.",
                line=1,
                column=twice[0],
            )

    def _require_size(self, size: int) -> None:
        """Refuse what would take more memory than a text file may have bytes."""
        if size > LARGEST:
            raise refuse(
                "too_large",
                self.path,
                f"The file takes {size} bytes once unpacked; {LARGEST} are the limit.",
                "Split the file into several ones.",
            )


@contextmanager
def explain_damage(path: str) -> Iterator[None]:
    """Refuse a Parquet file whose bytes make its reader fail, however it fails.

    Raises
    ------
    UnreadableExportError
        For what pyarrow raises of lengths, indexes and names that make no sense.
    """
    try:
        yield
    except (pa.ArrowException, OSError, LookupError, ValueError, OverflowError) as error:
        detail = shorten(str(error).partition("\n")[0])
        reason = f"The Parquet file is damaged ({detail})."
        remedy = "Copy or download it again, or write it again."
        raise refuse("damaged_parquet", path, reason, remedy) from error


def open_parquet(path: str, head: bytes) -> ParquetSheet:
    """Read the schema of a Parquet file.

    Parameters
    ----------
    path : str
        The file.
    head : bytes
        Its beginning.

    Raises
    ------
    UnreadableExportError
        When it is not a Parquet file, or a damaged one.
    """
    if not head.startswith(PARQUET):
        reason = "The file is called Parquet but is something else."
        remedy = "Write it again as Parquet, or give it the suffix of what it is."
        raise refuse("not_parquet", path, reason, remedy)
    with explain_damage(path):
        schema = pq.read_schema(path)
        columns = clean_header(schema.names)
        return ParquetSheet(path, columns, dict(zip(columns, schema.names, strict=True)))


def _is_number(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
    return any(test(kind) for test in tests)
