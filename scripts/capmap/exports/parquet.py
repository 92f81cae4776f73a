"""Parquet files."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.exports.cells import Cells
from capmap.exports.columns import clean_header
from capmap.exports.faults import UnreadableExportError
from capmap.exports.files import PARQUET
from capmap.problems import Problem
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
        try:
            table = pq.ParquetFile(self.path).read([self.fields[name] for name in names])
        except (pa.ArrowException, OSError) as error:
            raise UnreadableExportError(_explain_damage(self.path, error)) from error
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
            raise UnreadableExportError(
                Problem(
                    code="nested_column",
                    source=self.path,
                    reason=reason,
                    remedy=remedy,
                    line=1,
                    column=name,
                )
            ) from error
        return texts.fill_null("")


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
        raise UnreadableExportError(
            Problem(code="not_parquet", source=path, reason=reason, remedy=remedy)
        )
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableExportError(_explain_damage(path, error)) from error
    columns = clean_header(schema.names)
    return ParquetSheet(path, columns, dict(zip(columns, schema.names, strict=True)))


def _is_number(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def _explain_damage(path: str, error: Exception) -> Problem:
    detail = str(error).splitlines()[0]
    return Problem(
        code="damaged_parquet",
        source=path,
        reason=f"The Parquet file is damaged ({detail}).",
        remedy="Copy or download it again, or write it again.",
    )
