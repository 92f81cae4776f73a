"""Files that somebody might give to capmap, made by hypothesis: good, odd and damaged ones."""

import csv
import gzip
import io
import json
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

T = TypeVar("T")
OTHER_ENCODINGS = ("utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32")
MAGIC = (b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"\x93NUMPY", b"\x80\x04", b"\xef\xbb\xbf", b"\0")
WANTED = ["model", "dataset", "metric", "score", "seed"]
GOOD = {
    "model": ["A", "A", "B", "B"],
    "dataset": ["D", "E", "D", "E"],
    "metric": ["accuracy"] * 4,
    "score": ["0.5", "0.25", "91%", "1"],
    "seed": ["1", "1", "1", "2"],
    "image": ["a.jpg", "b.jpg", "c.jpg", "d.jpg"],
    "label": ["0", "1", "1", "3"],
    "1": ["0", "1", "2", "3"],
    "2": ["3", "2", "1", "0"],
}
NAMES = st.sampled_from(
    [
        *("A", "B", "model", "score", "image", "label", "labels", "seed", "1", "2", "class_1"),
        *("", " ", "../../x", "/etc/passwd", "a\nb", "-rf", "$(id)", "{wildcard}", "=1+1"),
        *("<script>x</script>", "$x_1$", "\\input{x}", "é", "\u200b", "\ufeff", "😀", "x" * 300),
        *('"', '"a', "a,b", "a;b", "\x03", "\r", "NaN", "null", "Unnamed: 0", "🇨🇭\u202e"),
    ]
)
TEXTS = st.one_of(NAMES, st.text(max_size=6))
NUMERALS = st.one_of(
    st.sampled_from(
        [
            *(
                "0.5",
                "0,91",
                "91%",
                "1.234,5",
                "1,234",
                "NaN",
                "",
                "inf",
                "-0",
                "\u22123e-4",
                "1e400",
            ),
            *("1e-400", "0x10", "1_000", "٣", "9" * 400, "1e999999999", ".", "%", "+", "1 234"),
        ]
    ),
    st.floats().map(repr),
    st.integers(-(2**70), 2**70).map(str),
    st.floats(0, 1, width=16).map(str),
    TEXTS,
)
OTHER_BYTES = st.builds(bytes.__add__, st.sampled_from([b"", *MAGIC]), st.binary(max_size=60))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 2**65), st.floats(), NUMERALS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=2)),
    max_leaves=4,
)
IDS = st.one_of(st.integers(-1, 5), st.sampled_from(["a", "", 1.0, 1.5, True, None, [1], 2**80]))
TYPES: list[pa.DataType] = [
    *(pa.string(), pa.large_string(), pa.float16(), pa.float32(), pa.float64(), pa.int64()),
    *(pa.uint8(), pa.bool_(), pa.date32(), pa.timestamp("ns"), pa.timestamp("s", "UTC")),
    *(pa.duration("ns"), pa.binary(), pa.list_(pa.int8()), pa.decimal128(9, 2), pa.null()),
    *(pa.dictionary(pa.int8(), pa.string()), pa.struct({"a": pa.int8()}), pa.time64("us")),
    *(pa.dictionary(pa.int8(), pa.float64()), pa.map_(pa.string(), pa.int8()), pa.binary(2)),
]


def mostly(usual: T, *others: T) -> st.SearchStrategy[T]:
    """The usual choice, in one case of eight another one."""
    return st.sampled_from([usual] * 7 * len(others) + [*others])


class GeneratedFile(NamedTuple):
    """A file: its name, without any folder, and what is in it."""

    name: str
    content: bytes


@st.composite
def delimited(draw: st.DrawFn, *, header: list[str] = WANTED) -> GeneratedFile:
    """A table of text, perhaps with a wrong header, odd quotes or rows of several widths."""
    columns = _vary(draw, header)
    rows = _draw_rows(draw, columns)
    if draw(mostly(False, True)):
        rows.append(draw(st.lists(TEXTS, max_size=7)))
    text = io.StringIO()
    csv.writer(
        text,
        delimiter=draw(mostly(*",;\t|")),
        lineterminator=draw(mostly("\n", "\r\n", "\r", "\n\n")),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
    ).writerows([columns, *rows])
    encoding = draw(mostly("utf-8", *OTHER_ENCODINGS))
    suffix = draw(mostly("csv", "CSV", "tsv", "txt", "", "csv.gz", "parquet"))
    return GeneratedFile(f"a.{suffix}", text.getvalue().encode(encoding, "replace"))


@st.composite
def json_lines(draw: st.DrawFn) -> GeneratedFile:
    """Objects, one per line, perhaps with nested values, lone surrogates or no object at all."""
    keys = _vary(draw, WANTED)
    records: list[Any] = [dict(zip(keys, row, strict=True)) for row in _draw_rows(draw, keys)]
    for record in records:
        if draw(mostly(False, True)):
            record[draw(st.sampled_from(keys))] = draw(VALUES)
    records += draw(st.lists(VALUES, max_size=1)) if draw(mostly(False, True)) else []
    lines = [json.dumps(record, ensure_ascii=draw(st.booleans())) for record in records]
    if draw(mostly(False, True)):
        lines.append(draw(st.sampled_from(["", "{}", "[", '{"a": "\\ud800"}', "1e", "{" * 9])))
    text = draw(mostly("\n", "\r\n", "\n\n")).join(lines)
    suffix = draw(mostly("jsonl", "ndjson", "json", "jsonl.gz"))
    return GeneratedFile(
        f"a.{suffix}", text.encode(draw(mostly("utf-8", *OTHER_ENCODINGS)), "replace")
    )


@st.composite
def parquet(draw: st.DrawFn, *, header: list[str] = WANTED) -> GeneratedFile:
    """A Parquet file of columns of any type."""
    names = _vary(draw, header)
    rows = _draw_rows(draw, names)
    columns = [_draw_column(draw, [row[place] for row in rows]) for place in range(len(names))]
    sink = io.BytesIO()
    compression = draw(st.sampled_from(["snappy", "zstd", "none"]))
    pq.write_table(pa.Table.from_arrays(columns, names=names), sink, compression=compression)
    return GeneratedFile("a.parquet", sink.getvalue())


@st.composite
def arrays(draw: st.DrawFn) -> GeneratedFile:
    """An array or an archive of arrays, perhaps with pickled objects or of odd shape."""
    kind = draw(mostly("f4", "f2", "f8", ">f4", "i4", "?", "U3", "O", "c8", "M8[s]"))
    shape = draw(mostly((3, 2), (2, 3), (0, 2), (2, 0), (4,), (2, 1, 2), ()))
    array = np.zeros(shape, kind)
    array = np.asfortranarray(array) if draw(st.booleans()) else array
    sink = io.BytesIO()
    if draw(st.booleans()):
        np.save(sink, array)
        return GeneratedFile("a.npy", sink.getvalue())
    members: dict[str, Any] = {draw(st.sampled_from(["scores", "arr_0", "ids", "b"])): array}
    if draw(st.booleans()):
        ids = np.array(draw(st.lists(TEXTS, max_size=4)), draw(st.sampled_from(["U", "O"])))
        members["ids"] = ids
    (np.savez if draw(st.booleans()) else np.savez_compressed)(sink, **members)
    return GeneratedFile("a.npz", sink.getvalue())


@st.composite
def labels(draw: st.DrawFn) -> GeneratedFile:
    """Labels, names of classes or ids of images, as JSON or as lines."""
    entry = st.one_of(IDS, st.lists(IDS, max_size=3))
    content = draw(
        st.one_of(
            st.lists(entry, max_size=4), st.dictionaries(TEXTS, entry, max_size=4), entry, VALUES
        )
    )
    if draw(st.booleans()):
        return GeneratedFile("a.json", json.dumps(content).encode())
    lines = draw(st.lists(st.one_of(NUMERALS, st.sampled_from(["1;2", "0", ";", "3"])), max_size=5))
    return GeneratedFile("a.txt", "\n".join(lines).encode("utf-8", "replace"))


@st.composite
def damaged(draw: st.DrawFn, files: st.SearchStrategy[GeneratedFile]) -> GeneratedFile:
    """A file as it is, packed, cut off, with bytes changed, or other bytes altogether."""
    name, content = draw(files)
    content = gzip.compress(content, 1, mtime=0) if draw(mostly(False, True)) else content
    change = draw(mostly("none", "cut", "flip", "insert", "other"))
    place = draw(st.integers(0, max(0, len(content) - 1)))
    if change == "cut":
        content = content[:place]
    elif change == "flip" and content:
        mask = draw(st.integers(1, 255))
        content = content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :]
    elif change == "insert":
        content = content[:place] + draw(st.binary(max_size=8)) + content[place:]
    elif change == "other":
        content = draw(OTHER_BYTES)
    return GeneratedFile(name, content)


def _vary(draw: st.DrawFn, names: list[str]) -> list[str]:
    """Names as they are, in another order, without some of them or with others."""
    change = draw(mostly("none", "order", "names"))
    if change == "none":
        return names
    if change == "order":
        return draw(st.permutations(names))
    return draw(st.lists(st.one_of(st.sampled_from(names), TEXTS), min_size=1, max_size=6))


def _draw_rows(draw: st.DrawFn, columns: list[str]) -> list[list[str]]:
    """Rows that fit their columns but for some cells, or any cells at all."""
    count = draw(st.integers(0, 6))
    if draw(st.integers(0, 2)) == 0:
        cell = draw(st.sampled_from([NUMERALS, TEXTS, st.integers(-1, 4).map(str)]))
        return [[draw(cell) for _ in columns] for _ in range(count)]
    rows = [[GOOD.get(name, GOOD["score"])[row % 4] for name in columns] for row in range(count)]
    for _ in range(draw(st.integers(0, 2)) if count and columns else 0):
        row = draw(st.sampled_from(rows))
        row[draw(st.integers(0, len(columns) - 1))] = draw(NUMERALS)
    return rows


def _draw_column(draw: st.DrawFn, texts: list[str]) -> pa.Array:
    """A column of texts, of numbers, or of another type that holds other values."""
    if draw(mostly(True, False)):
        return pa.array(texts, pa.string())
    kind = draw(st.sampled_from(TYPES))
    for values in (texts, [0.5] * len(texts), [1] * len(texts)):
        try:
            return pa.array(values).cast(kind)
        except (pa.ArrowException, TypeError, ValueError):
            continue
    return pa.nulls(len(texts), kind)
