"""Exports that must be refused, each with what has to be said about it.

One catalog serves the tests of the function and of whole runs.
"""

import gzip
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


BOUNDED = {"normalization": {"low": 0, "high": 1}}

FILES = (
    describe("empty_file", b"", "empty_file/runs.csv: The file is empty."),
    describe(
        "only_a_header", make_table(""), "only_a_header/runs.csv, line 1: The file has a header"
    ),
    describe(
        "binary_file", b"PK\x03\x04" + bytes(100), "binary_file/runs.csv", "not text but binary"
    ),
    describe("zeros", make_table() + bytes(9), "zeros/runs.csv, line 10", "not text but binary"),
    describe(
        "wrong_encoding",
        change_row("B,E,accuracy,0.51,1", "Bé,E,accuracy,0.51,1").decode().encode("latin-1"),
        "wrong_encoding/runs.csv, line 8",
        "Save it again as UTF-8",
    ),
    describe(
        "damaged_gzip",
        gzip.compress(make_table(), mtime=0)[:-8] + bytes(8),
        "damaged_gzip/runs.csv.gz: The gzip file is damaged",
        file="runs.csv.gz",
    ),
    describe(
        "truncated_parquet",
        make_parquet()[:-30],
        "truncated_parquet/runs.parquet: The Parquet file is damaged",
        file="runs.parquet",
    ),
    describe(
        "not_parquet",
        make_table(),
        "not_parquet/runs.parquet: The Parquet file is damaged, or something else",
        file="runs.parquet",
    ),
    describe(
        "invalid_json",
        b'{"model": "A", "dataset": "D", "metric": "f1", "score": 0.5}\n{"model": "A", "data\n',
        "invalid_json/runs.jsonl, line 2",
        "is not JSON",
        file="runs.jsonl",
    ),
    describe(
        "unclosed_quote",
        change_row("B,D,accuracy,0.61,1", '"B,D,accuracy,0.61,1'),
        "unclosed_quote/runs.csv, line 6",
        "never closed",
    ),
)

COLUMNS = (
    describe(
        "missing_column",
        make_table(header=HEADER.replace("score", "scores")),
        "missing_column/runs.csv, line 1, column 'score': There is no column 'score'",
        "Did you mean 'scores'?",
    ),
    describe(
        "no_metric",
        make_table(header=HEADER.replace("metric", "measure")),
        "name the metric of 'D', 'E'.",
    ),
    describe(
        "unmatched_filter",
        make_table(),
        "column 'metric', value 'acuracy': No row has this value",
        "Did you mean 'accuracy'?",
        options={"where": {"metric": "acuracy"}},
    ),
    describe(
        "scores_of_a_matrix",
        b"model,run,D\nA,1,0.6\nA,2,0.7\n",
        "There is no column 'dataset'",
        options={"format": "matrix", "metric": "accuracy", "columns": {"score": "run"}},
    ),
    describe(
        "words_in_a_matrix",
        b"model,license,D\nA,MIT,0.6\nB,BSD,0.8\n",
        "words_in_a_matrix/runs.csv, line 2, column 'license', value 'MIT'",
        options={"format": "matrix", "metric": "accuracy"},
    ),
)

CELLS = (
    describe(
        "not_a_number",
        change_row("A,D,accuracy,0.82,2", "A,D,accuracy,high,2"),
        "not_a_number/runs.csv, line 3, column 'score', value 'high'",
    ),
    describe(
        "ten_thousand_words",
        make_table(GOOD + "".join(f"B,E,accuracy,word,{n}\n" for n in range(3, 10_003))),
        "10000 errors (10000 not_a_number)",
        "ten_thousand_words/runs.csv, line 10, column 'score', value 'word'",
        "And 9999 more like this: line",
    ),
    describe(
        "nan_score",
        change_row("A,E,accuracy,0.71,1", "A,E,accuracy,NaN,1"),
        "nan_score/runs.csv, line 4, column 'score', value 'NaN'",
    ),
    describe(
        "empty_model",
        change_row("A,E,accuracy,0.71,1", " ,E,accuracy,0.71,1"),
        "empty_model/runs.csv, line 4, column 'model': The model has no name.",
    ),
    describe(
        "conflicting_duplicates",
        change_row("B,E,accuracy,0.52,2", "B,E,accuracy,0.52,1"),
        "conflicting_duplicates/runs.csv, line 9, column 'score', value '0.52'",
        "differs from '0.51' at line 8",
    ),
    describe(
        "duplicates_without_seeds",
        make_table(header=HEADER.replace("seed", "repetition")),
        "duplicates_without_seeds/runs.csv, line 3, column 'score', value '0.82'",
        "differs from '0.81' at line 2",
        "columns: {seed: COLUMN}",
    ),
)

MEANING = (
    describe(
        "mixed_metrics",
        change_row("B,D,accuracy,0.61,1", "B,D,f1,0.61,1"),
        "mixed_metrics/runs.csv, line 6, value 'D'",
        "several metrics: 'accuracy'",
    ),
    describe(
        "dataset_called_model",
        make_table(GOOD.replace(",E,", ",model,")),
        "dataset_called_model/runs.csv, line 4, value 'model'",
        "Rename the dataset in the export",
    ),
    describe(
        "unknown_metric",
        make_table(GOOD.replace("accuracy", "acurracy")),
        "unknown_metric/runs.csv, line 2, value 'acurracy'",
        "the nearest known metric is 'accuracy'",
        "metrics: {acurracy: {direction: max, low: NUMBER, high: NUMBER}}",
    ),
    describe(
        "unbounded_metric",
        make_dataset("RMSE", "2.5", "3.5"),
        "unbounded_metric/runs.csv, line 2, value 'RMSE'",
        "metrics: {RMSE: {high: NUMBER}}",
    ),
    describe(
        "inverted_bounds",
        make_table(),
        "inverted_bounds/runs.csv, line 2, value 'D'",
        "and high -1.0 (dataset)",
        options={"datasets": {"D": {"high": -1}}},
    ),
    describe(
        "percentages",
        make_table(GOOD.replace("0.", "")),
        "percentages/runs.csv, line 2, column 'score', value '81'",
        "metrics: {accuracy: {low: 0, high: 100}}",
    ),
    describe(
        "sentinel",
        change_row("B,E,accuracy,0.51,1", "B,E,accuracy,1e9,1"),
        "sentinel/runs.csv, line 8, column 'score', value '1e9'",
        "values: {'1e9': missing}",
    ),
    describe(
        "one_percentage",
        change_row("B,E,accuracy,0.51,1", "B,E,accuracy,51,1"),
        "one_percentage/runs.csv, line 8, column 'score', value '51'",
        'with a percent sign ("51%")',
    ),
    describe(
        "incomplete_cells",
        make_table(GOOD.replace("B,E", "B,D").replace("0.5", "0.6").replace("2,2", "2,3")),
        "incomplete_cells/runs.csv, line 6, value 'B'",
        "The model 'B' has no run for 1 dataset: 'E'.",
    ),
)

CONFIGURED = (
    describe(
        "misspelt_metric_rule",
        make_table(),
        "value 'acc_uracies': metrics names the metric",
        "Did you mean 'accuracy'?",
        options={"metrics": {"acc_uracies": {"low": 0}}},
    ),
    describe(
        "two_rules_for_a_metric",
        make_table(),
        "metrics: 'ACCURACY', 'Accuracy' are one name",
        options={"metrics": {"Accuracy": {"low": 0}, "ACCURACY": {"low": 0.1}}},
    ),
    describe(
        "unknown_reference_model",
        make_table(),
        "unknown_reference_model/runs.csv, line 2, value 'Human'",
        "is a bound, but has no run here",
        options={"normalization": {"high": {"model": "Human"}}},
    ),
    describe(
        "references_for_another_direction",
        make_table(),
        "references_for_another_direction/runs.csv, line 2, value 'D'",
        "with direction min, the study has 'accuracy' with max",
        options={"normalization": {"references": "{folder}/bounds.csv"}},
        extra={"bounds.csv": b"dataset,metric,direction,low,high\nD,accuracy,min,0,1\n"},
    ),
    describe(
        "broken_references",
        make_table(),
        "broken_references/bounds.csv cannot be read: Line 2 has the lower bound",
        options={"normalization": {"references": "{folder}/bounds.csv"}},
        extra={"bounds.csv": b"dataset,low,high\nD,2,1\n"},
    ),
)

CATALOG = FILES + COLUMNS + CELLS + MEANING + CONFIGURED
