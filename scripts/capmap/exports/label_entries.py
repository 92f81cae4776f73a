"""Where the labels of images stand in a file: JSON, tables and plain lines."""

from typing import Any, Literal, NamedTuple

import pyarrow as pa

from capmap.exports.cells import trim
from capmap.exports.classes import IMAGE, check_letters
from capmap.exports.columns import Wish, check_columns
from capmap.exports.documents import (
    JSON,
    TABLES,
    Pairs,
    has_suffix,
    read_document,
    read_lines,
    refuse,
)
from capmap.exports.faults import UnreadableExportError
from capmap.exports.files import read_bounded
from capmap.exports.sheets import open_sheet

LABEL, LABELS = "label", "labels"
SHAPES = (
    "Write a list with the labels of each image, such as [[3], [], [5, 8]], or an object such as "
    '{"a.jpg": [5, 8]}.'
)
HEADER = (
    "Name the columns `image` and `label` (a row per label) or `image` and `labels` (3;7;9). A "
    "file of one label per line needs the suffix .txt."
)

Form = Literal["ordered", "keyed", "grouped"]


class Entry(NamedTuple):
    """The labels at one place of a file.

    Parameters
    ----------
    image : str
        The image's id; empty where images are known by their order.
    labels : list or str
        Labels as JSON has them, or the text of a cell or line, which may list several.
    line : int
        The line in the file; 0 in JSON.
    column : str
        The column of a table.
    """

    image: str
    labels: list[Any] | str
    line: int = 0
    column: str = ""


class Entries(NamedTuple):
    """The entries of a file.

    Parameters
    ----------
    entries : list of Entry
        In the order of the file.
    form : {"ordered", "keyed", "grouped"}
        Whether images have no ids, have an id each, or have an id and any number of entries.
    """

    entries: list[Entry]
    form: Form


def list_entries(path: str) -> Entries:
    """List the entries of a file of labels, whose suffix tells what it is.

    Raises
    ------
    UnreadableExportError
        When the file cannot be read, has none, or is not laid out as labels are.
    """
    if has_suffix(path, JSON):
        found = _list_json(path)
    elif has_suffix(path, TABLES):
        found = _list_rows(path)
    else:
        lines = enumerate(read_lines(path), start=1)
        found = Entries([Entry("", text, line) for line, text in lines], "ordered")
    if not found.entries:
        raise refuse("no_rows", path, "The file has no images.", "Write it again, or leave it out.")
    return found


def _list_json(path: str) -> Entries:
    content = read_document(path)
    if isinstance(content, Pairs):
        keys = [key.strip() for key, _ in content]
        check_letters(keys, path)
        labels = [_wrap(value) for _, value in content]
        return Entries(list(map(Entry, keys, labels)), "keyed")
    if not isinstance(content, list):
        raise refuse("no_labels", path, "The JSON is neither a list nor an object.", SHAPES)
    return Entries([Entry("", _wrap(value)) for value in content], "ordered")


def _wrap(value: Any) -> list[Any]:
    """Put a label without brackets into a list; an object stays one label, and a wrong one."""
    is_list = isinstance(value, list) and not isinstance(value, Pairs)
    return value if is_list else [value]


def _list_rows(path: str) -> Entries:
    read_bounded(path)
    sheet = open_sheet(path, wanted={IMAGE, LABEL, LABELS})
    present = set(sheet.columns)
    if len({LABEL, LABELS} & present) != 1:
        count = "both" if LABEL in present else "neither"
        reason = f"The table has {count} of the columns `label` and `labels`."
        raise refuse("label_column", path, reason, HEADER, line=1)
    column = LABEL if LABEL in present else LABELS
    wanted = [name for name in (IMAGE, column) if name in present]
    wishes = [Wish("labels", name) for name in wanted]
    if problems := check_columns(wishes, sheet.columns, path):
        raise UnreadableExportError(*problems)
    if IMAGE not in present and len(present) > 1:
        reason = "The table has no column `image`, but others beside that of the labels."
        raise refuse("image_column", path, reason, HEADER, line=1)
    cells = sheet.read_cells(wanted)
    if cells.problems:
        raise UnreadableExportError(*cells.problems[:1])
    texts: list[str] = trim(cells.columns[column]).to_pylist()
    images = _list_images(cells.columns.get(IMAGE), len(texts))
    rows = zip(images, texts, cells.lines.tolist(), strict=True)
    form: Form = "ordered" if IMAGE not in present else "grouped" if column == LABEL else "keyed"
    return Entries([Entry(image, text, line, column) for image, text, line in rows], form)


def _list_images(column: pa.Array | None, count: int) -> list[str]:
    if column is None:
        return [""] * count
    images: list[str] = trim(column).to_pylist()
    return images
