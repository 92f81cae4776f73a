"""Runs as the reader of a layout hands them over."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from capmap.exports.cells import Cells, Filters, make_texts, repeat_text
from capmap.exports.numbers import Kind, Numbers
from capmap.problems import Problem

NAMES = ("model", "dataset", "metric", "seed")
RUN_COLUMNS = (*NAMES, "score", "raw", "source", "line", "column")


@dataclass(frozen=True)
class Part:
    """The runs of one file.

    Parameters
    ----------
    runs : DataFrame
        As in `Exports`.
    problems : list of Problem
        What is wrong with the file.
    columns : list of str
        All columns of the file.
    rows, rows_filtered, rows_empty_score, percent_signs, decimal_commas : int
        As in `Exports`.
    filter_values : dict of str to set of str
        What stands in each column of `where`.
    unmeasured : set of str
        Datasets of which neither the file nor the configuration tells the metric; their rows are
        not among the runs.
    """

    runs: pd.DataFrame
    problems: list[Problem]
    columns: list[str]
    rows: int
    rows_filtered: int
    rows_empty_score: int
    percent_signs: int
    decimal_commas: int
    filter_values: dict[str, set[str]]
    unmeasured: set[str]


@dataclass(frozen=True)
class Metrics:
    """The configured names of metrics.

    Parameters
    ----------
    every : str
        The metric of all datasets, which wins over what files say; empty if there is none.
    by_dataset : mapping of str to str
        The metrics of some datasets, which win over both.
    """

    every: str = ""
    by_dataset: Mapping[str, str] = field(default_factory=dict)

    def name(self, datasets: pa.Array, texts: pa.Array | None = None) -> pa.Array:
        """Tell the metric of each run.

        Parameters
        ----------
        datasets : pyarrow array of large_string, shape (n,)
            The dataset of each run.
        texts : pyarrow array of large_string, shape (n,), optional
            What the file's column of metrics says, if it has one.

        Returns
        -------
        pyarrow array of large_string, shape (n,)
            Null where nothing tells the metric.
        """
        encoded = datasets.dictionary_encode()
        configured = [
            self.by_dataset.get(dataset) or self.every or None
            for dataset in encoded.dictionary.to_pylist()
        ]
        chosen = make_texts(configured).take(encoded.indices)
        return chosen if texts is None else pc.coalesce(chosen, texts)


def make_runs(
    columns: Mapping[str, pa.Array],
    numbers: Numbers,
    *,
    source: str,
    lines: npt.NDArray[np.int64],
) -> pd.DataFrame:
    """Make the table of runs, without cells that have no score, name or metric.

    Parameters
    ----------
    columns : mapping of str to pyarrow array, shape (n,)
        model, dataset, metric (null where unknown), seed, raw, column, and columns to keep.
    numbers : Numbers
        The scores.
    source : str
        The file.
    lines : ndarray of int64, shape (n,)
        The line of each cell.
    """
    usable = numbers.kinds != Kind.EMPTY
    for role in ("model", "dataset", "metric"):
        empty = pc.equal(columns[role], "").fill_null(fill_value=True)
        usable = usable & ~empty.to_numpy(zero_copy_only=False)
    table = pa.table(
        {
            **columns,
            "score": pa.array(numbers.values),
            "source": repeat_text(source, len(lines)),
            "line": pa.array(lines),
        }
    )
    kept = [name for name in columns if name not in RUN_COLUMNS]
    table = table.select([*RUN_COLUMNS, *kept])
    runs: pd.DataFrame = (table if usable.all() else table.filter(pa.array(usable))).to_pandas()
    return runs


def list_filter_values(cells: Cells, where: Filters) -> dict[str, set[str]]:
    """List what stands in the columns of `where`."""
    return {name: set(cells.columns[name].unique().to_pylist()) for name in where}
