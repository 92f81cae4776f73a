"""Export files with a fault, and how they are made."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

HEADER = "model,dataset,metric,score,seed\n"
GOOD = """\
A,D,accuracy,0.81,1
A,D,accuracy,0.82,2
A,E,accuracy,0.71,1
A,E,accuracy,0.72,2
B,D,accuracy,0.61,1
B,D,accuracy,0.62,2
B,E,accuracy,0.51,1
B,E,accuracy,0.52,2
"""


@dataclass(frozen=True)
class BrokenExport:
    """An export with one fault.

    Parameters
    ----------
    name : str
        What is wrong, fit to be a study's name and a folder.
    content : bytes
        The export.
    fragments : tuple of str
        What the message has to contain. The export's folder is called after `name`, so a fragment
        can begin with ``name/runs.csv``.
    options : mapping
        Further settings of the study.
    file : str
        The export's file name.
    extra : mapping of str to bytes
        Further files beside it; a setting refers to one as ``{folder}/file``.
    """

    name: str
    content: bytes
    fragments: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    file: str = "runs.csv"
    extra: Mapping[str, bytes] = field(default_factory=dict)

    def settings(self, folder: Path) -> dict[str, Any]:
        """Write the files into a folder and return the settings of a study that reads them."""
        for name, content in {self.file: self.content, **self.extra}.items():
            (folder / name).write_bytes(content)
        return {"exports": str(folder / self.file), **_place(dict(self.options), folder)}


def make_one_column(megabytes: float) -> bytes:
    """Make a table of one column: names, line by line."""
    line = b"somebody forgot the delimiters of this table\n"
    return line * max(2, int(megabytes * 1e6 / len(line)))


def _place(value: Any, folder: Path) -> Any:
    if isinstance(value, dict):
        return {key: _place(item, folder) for key, item in value.items()}
    return value.replace("{folder}", str(folder)) if isinstance(value, str) else value


def make_table(rows: str = GOOD, *, header: str = HEADER) -> bytes:
    return (header + rows).encode()


def make_parquet(rows: str = GOOD) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa_csv.read_csv(io.BytesIO(make_table(rows))), sink)
    return sink.getvalue()


def make_dataset(metric: str, *scores: str) -> bytes:
    """Make a table of one dataset with a model per score."""
    return make_table("".join(f"M{n},D,{metric},{score},1\n" for n, score in enumerate(scores)))


def change_row(old: str, new: str) -> bytes:
    assert GOOD.count(old) == 1
    return make_table(GOOD.replace(old, new))


def describe(name: str, content: bytes, *fragments: str, **rest: Any) -> BrokenExport:
    return BrokenExport(name, content, fragments, **rest)
