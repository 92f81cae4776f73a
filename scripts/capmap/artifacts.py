"""Tables and records that the workflow keeps, as CSV, Parquet and JSON, written atomically.

Every write goes to a temporary file in the same folder and is moved into place, so a reader sees
the old bytes or the new ones and never half of them.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.analyses.columns import TEXT_COLUMNS
from capmap.errors import CapmapError

MOST = 2**62
# Spreadsheets take full-width signs for the others.
SIGNS = r"[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]"
FORMULA = re.compile(rf"^'*{SIGNS}")
ESCAPED_FORMULA = re.compile(rf"^'+{SIGNS}")
GROUP_ROWS = 1 << 20
INDEX = "index.csv"
COLUMNS = ["file", "sha256", "reason"]


@contextmanager
def replace_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file, to be written piece by piece, that takes the place of `path` at the end.

    Nothing is put in place, and nothing left over, when an error ends the block.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.tmp")
    try:
        with open(fresh, "wb") as stream:
            yield stream
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically, making its folder where needed."""
    with replace_file(path) as stream:
        stream.write(content)


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text atomically; line ends stay as they are."""
    write_bytes(path, text.encode())


def digest_file(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with open(path, "rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def pack_names(names: pd.Series) -> pd.Series:
    """Keep each name once and its number in every row, so that it sorts and groups as text does.

    Examples
    --------
    >>> pack_names(pd.Series(["b", "a", "b"])).cat.codes.tolist()
    [1, 0, 1]
    """
    packed = names.astype("category")
    # Without a row the categories would be no texts.
    texts = packed.cat.categories.astype("str").sort_values()
    return packed.cat.set_categories(texts)


def unpack_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Write the names of packed columns out."""
    packed = table.columns[table.dtypes == "category"]
    return table.astype(dict.fromkeys(packed, "str"))


def number_rows(table: pd.DataFrame, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number rows by some columns of names: equal and in order as the names are.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["b", "a", "b"], "seed": ["0", "1", "0"]})
    >>> number_rows(table, ["model", "seed"]).tolist()
    [2, 1, 2]
    """
    numbers, size = np.zeros(len(table), dtype=np.int64), 1
    for name in names:
        packed = pack_names(table[name]).cat
        if size * len(packed.categories) > MOST:
            distinct, numbers = np.unique(numbers, return_inverse=True)
            size = len(distinct)
        size *= len(packed.categories)
        numbers = numbers * len(packed.categories) + packed.codes.to_numpy()
    return numbers


def sort_rows(table: pd.DataFrame, names: Sequence[str], number: str) -> pd.DataFrame:
    """Sort rows by some columns of names, then by one of numbers, and count them anew."""
    places = number_rows(table, names)
    if not (places[1:] > places[:-1]).all():
        table = table.take(np.lexsort((table[number], places)))
    return table.reset_index(drop=True)


def render_csv(table: pd.DataFrame) -> str:
    """Write a table as CSV text: header, no index, shortest exact numbers, Unix line ends.

    Notes
    -----
    Names come from other people's files. Text that a spreadsheet would run as a formula (it starts
    with ``=``, ``+``, ``-``, ``@``, their full-width forms, tab or return) gets an apostrophe in
    front, headers included; `read_table` takes it off again, so names survive exactly.
    """
    safe = table.rename(columns=lambda name: _defuse(str(name)))
    for position in range(table.shape[1]):
        column = table.iloc[:, position]
        if not pd.api.types.is_numeric_dtype(column.dtype):
            values = column.tolist()
            # Names repeat, so each is looked at once.
            defused = {text: _defuse(text) for text in {*filter(_is_text, values)}}
            cells = [defused[value] if _is_text(value) else value for value in values]
            safe.isetitem(position, pd.array(cells, dtype="object"))
    text = safe.to_csv(index=False, lineterminator="\n")
    if "\r" in text:
        # The csv module quotes only the line ends that it writes itself.
        text = safe.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text


def read_table(
    path: str | Path | IO[bytes], *, names: Sequence[str] = TEXT_COLUMNS
) -> pd.DataFrame:
    """Read a table that `render_csv` wrote; only empty cells are missing.

    `names` are columns of names, where ``007`` stays as it is; give ``["model"]`` for a table whose
    other columns are called after datasets.
    """
    table = pd.read_csv(
        path,
        dtype=dict.fromkeys(names, "str"),
        keep_default_na=False,
        na_values=[""],
    )
    table.columns = pd.Index([_arm(name) for name in table.columns])
    for position in range(table.shape[1]):
        column = table.iloc[:, position]
        if not pd.api.types.is_numeric_dtype(column.dtype):
            armed = column.map(_arm, na_action="ignore")
            table.isetitem(position, armed.astype(column.dtype).array)
    return table


def write_parquet(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as a Parquet file, group by group, as packed columns grow when written out.

    Its bytes depend on the values only, not on what is packed.
    """
    found = pa.Schema.from_pandas(table, preserve_index=False).remove_metadata()
    schema = pa.schema([field.with_type(_unpack_type(field.type)) for field in found])
    options = {"compression": "zstd", "write_page_checksum": True}
    with replace_file(path) as stream, pq.ParquetWriter(stream, schema, **options) as writer:
        for start in range(0, max(len(table), 1), GROUP_ROWS):
            group = pa.Table.from_pandas(table[start : start + GROUP_ROWS], preserve_index=False)
            writer.write_table(group.cast(schema), row_group_size=GROUP_ROWS)


def _unpack_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def read_parquet(
    path: str | Path, *, where: Mapping[str, str] | None = None, packed: bool = False
) -> pd.DataFrame:
    """Read the rows of a Parquet file that have some values; refuse a damaged file.

    Where it is `packed`, columns of texts are as `pack_names` makes them.
    """
    filters = [(column, "==", value) for column, value in where.items()] if where else None
    read = partial(pq.read_table, path, filters=filters, page_checksum_verification=True)
    with _explain_damage(path):
        if not packed:
            table: pd.DataFrame = read().to_pandas()
            return table
        columns = {}
        for field in pq.read_schema(path):
            is_text = field.type in (pa.string(), pa.large_string())
            texts = [field.name] if is_text else []
            column = read(columns=[field.name], read_dictionary=texts).column(0)
            values = column.unify_dictionaries().to_pandas()
            columns[field.name] = pack_names(values) if is_text else values
    return pd.DataFrame(columns)


@contextmanager
def _explain_damage(path: str | Path) -> Iterator[None]:
    try:
        yield
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, LookupError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise CapmapError(
            f"{path} is damaged. Remove it, and run the same command again."
        ) from error


def write_json(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write a mapping as indented JSON, in its own order, with a final line end."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object."""
    content: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    return content


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _defuse(text: str) -> str:
    return f"'{text}" if FORMULA.match(text) else text


def _arm(value: Any) -> Any:
    return value[1:] if isinstance(value, str) and ESCAPED_FORMULA.match(value) else value


def write_index(folder: str | Path, absent: Mapping[str, str] | None = None) -> None:
    """List the files of a folder with their SHA-256; of what is not there or empty, the reason."""
    files = sorted(path for path in Path(folder).glob("*") if path.name != INDEX)
    reasons = dict(absent or {})
    rows = [(path.name, digest_file(path), reasons.pop(path.name, "")) for path in files]
    rows += [(name, "", reason) for name, reason in reasons.items()]
    write_text(Path(folder, INDEX), render_csv(pd.DataFrame(rows, columns=COLUMNS)))


def read_index(folder: str | Path) -> pd.DataFrame:
    """Read what a folder holds, and why other things are not there; refuse one that was edited."""
    index = read_table(Path(folder, INDEX), names=COLUMNS).fillna("")
    for name, digest in index.loc[index["sha256"] != "", ["file", "sha256"]].to_numpy():
        path = Path(folder, name)
        if not path.is_file() or digest_file(path) != digest:
            fault = "was edited" if path.is_file() else "is no longer there"
            raise CapmapError(
                f"{path} {fault}. Make the folder again: remove {folder}, and run the same command."
            )
    return index


def read_reasons(folder: str | Path) -> dict[str, str]:
    """Read why things of a folder are not there or empty, by file or name."""
    index = read_table(Path(folder, INDEX), names=COLUMNS).fillna("")
    told = index[index["reason"] != ""]
    return dict(zip(told["file"], told["reason"], strict=True))
