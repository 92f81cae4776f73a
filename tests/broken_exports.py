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


def make_one_column(megabytes: float) -> bytes:
    """Make a table of one column: names, line by line."""
    line = b"somebody forgot the delimiters of this table\n"
    return line * max(2, int(megabytes * 1e6 / len(line)))


def _place(value: Any, folder: Path) -> Any:
    if isinstance(value, dict):
        return {key: _place(item, folder) for key, item in value.items()}
    return value.replace("{folder}", str(folder)) if isinstance(value, str) else value


def _table(rows: str = GOOD, *, header: str = HEADER) -> bytes:
    return (header + rows).encode()


def _parquet(rows: str = GOOD) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa_csv.read_csv(io.BytesIO(_table(rows))), sink)
    return sink.getvalue()


def _single(metric: str, *scores: str) -> bytes:
    """Make a table of one dataset with a model per score."""
    return _table("".join(f"M{n},D,{metric},{score},1\n" for n, score in enumerate(scores)))


def _change(old: str, new: str) -> bytes:
    assert GOOD.count(old) == 1
    return _table(GOOD.replace(old, new))


def _file(name: str, content: bytes, *fragments: str, **rest: Any) -> BrokenExport:
    return BrokenExport(name, content, fragments, **rest)


BOUNDED = {"normalization": {"low": 0, "high": 1}}

FILES = (
    _file("empty_file", b"", "empty_file/runs.csv: The file is empty."),
    _file("only_a_header", _table(""), "only_a_header/runs.csv, line 1: The file has a header"),
    _file("binary_file", b"PK\x03\x04" + bytes(100), "binary_file/runs.csv", "an Excel workbook"),
    _file("zeros", _table() + bytes(9), "zeros/runs.csv, line 10", "not text but binary"),
    _file(
        "wrong_encoding",
        _change("B,E,accuracy,0.51,1", "Bé,E,accuracy,0.51,1").decode().encode("latin-1"),
        "wrong_encoding/runs.csv, line 8",
        "Save it again as UTF-8",
    ),
    _file("utf_16", _table().decode().encode("utf-16"), "utf_16/runs.csv, line 1", "UTF-16"),
    _file(
        "truncated_gzip",
        gzip.compress(_table(GOOD * 100), mtime=0)[:-20],
        "truncated_gzip/runs.csv.gz: The gzip file ends too early.",
        file="runs.csv.gz",
    ),
    _file(
        "damaged_gzip",
        gzip.compress(_table(), mtime=0)[:-8] + bytes(8),
        "damaged_gzip/runs.csv.gz: The gzip file is damaged",
        file="runs.csv.gz",
    ),
    _file(
        "truncated_parquet",
        _parquet()[:-30],
        "truncated_parquet/runs.parquet: The Parquet file is damaged",
        file="runs.parquet",
    ),
    _file(
        "not_parquet",
        _table(),
        "not_parquet/runs.parquet: The file is called Parquet",
        file="runs.parquet",
    ),
    _file(
        "invalid_json",
        b'{"model": "A", "dataset": "D", "metric": "f1", "score": 0.5}\n{"model": "A", "data\n',
        "invalid_json/runs.jsonl, line 2",
        "is not JSON",
        file="runs.jsonl",
    ),
    _file(
        "unclosed_quote",
        _change("B,D,accuracy,0.61,1", '"B,D,accuracy,0.61,1'),
        "unclosed_quote/runs.csv, line 6",
        "never closed",
    ),
    _file(
        "ragged_rows",
        _change("B,D,accuracy,0.61,1", "B,D,accuracy,0,61,1"),
        "ragged_rows/runs.csv, line 6",
        "The row has 6 cells where the header has 5.",
    ),
    _file(
        "one_column",
        make_one_column(0.01),
        "one_column/runs.csv, line 1, column 'model': There is no column 'model'",
        "The columns are 'somebody forgot the delimiters of this table'.",
    ),
)

COLUMNS = (
    _file(
        "missing_column",
        _table(header=HEADER.replace("score", "scores")),
        "missing_column/runs.csv, line 1, column 'score': There is no column 'score'",
        "Did you mean 'scores'?",
    ),
    _file(
        "missing_seed_column",
        _table(),
        "missing_seed_column/runs.csv, line 1, column 'Seed'",
        "Did you mean 'seed'?",
        options={"columns": {"seed": "Seed"}},
    ),
    _file(
        "duplicated_column",
        _table(header=HEADER.replace("seed", "score")),
        "duplicated_column/runs.csv, line 1, column 'score': 2 columns are called 'score'.",
    ),
    _file(
        "no_metric",
        _table(header=HEADER.replace("metric", "measure")),
        "tell the metric of 'D', 'E'.",
    ),
    _file(
        "unmatched_filter",
        _table(),
        "column 'metric', value 'acuracy': No row has this value",
        "Did you mean 'accuracy'?",
        options={"where": {"metric": "acuracy"}},
    ),
    _file(
        "matrix_read_as_long",
        b"model,D,E\nA,0.5,0.6\nB,0.7,0.8\n",
        "matrix_read_as_long/runs.csv, line 1, column 'dataset'",
        "set `format: matrix`",
    ),
    _file(
        "long_read_as_matrix",
        _table(),
        "long_read_as_matrix/runs.csv, line 1",
        "Set `format: long`",
        options={"format": "matrix", "metric": "accuracy"},
    ),
    _file(
        "words_in_a_matrix",
        b"model,license,D\nA,MIT,0.6\nB,BSD,0.8\n",
        "words_in_a_matrix/runs.csv, line 2, column 'license', value 'MIT'",
        options={"format": "matrix", "metric": "accuracy"},
    ),
)

CELLS = (
    _file(
        "not_a_number",
        _change("A,D,accuracy,0.82,2", "A,D,accuracy,high,2"),
        "not_a_number/runs.csv, line 3, column 'score', value 'high'",
    ),
    _file(
        "ten_thousand_words",
        _table(GOOD + "".join(f"B,E,accuracy,word,{n}\n" for n in range(3, 10_003))),
        "10000 errors (10000 not_a_number)",
        "ten_thousand_words/runs.csv, line 10, column 'score', value 'word'",
        "... and 9980 more.",
    ),
    _file(
        "nan_score",
        _change("A,E,accuracy,0.71,1", "A,E,accuracy,NaN,1"),
        "nan_score/runs.csv, line 4, column 'score', value 'NaN'",
    ),
    _file(
        "infinite_score",
        _change("A,E,accuracy,0.71,1", "A,E,accuracy,-Infinity,1"),
        "infinite_score/runs.csv, line 4, column 'score', value '-Infinity'",
    ),
    _file(
        "two_decimal_marks",
        _change("A,E,accuracy,0.71,1", 'A,E,accuracy,"0,71",1'),
        "two_decimal_marks/runs.csv, line 4, column 'score', value '0,71'",
    ),
    _file(
        "empty_model",
        _change("A,E,accuracy,0.71,1", " ,E,accuracy,0.71,1"),
        "empty_model/runs.csv, line 4, column 'model': The model has no name.",
    ),
    _file(
        "conflicting_duplicates",
        _change("B,E,accuracy,0.52,2", "B,E,accuracy,0.52,1"),
        "conflicting_duplicates/runs.csv, line 9, column 'score', value '0.52'",
        "differs from '0.51' at line 8",
    ),
    _file(
        "duplicates_without_seeds",
        _table(header=HEADER.replace("seed", "repetition")),
        "duplicates_without_seeds/runs.csv, line 3, column 'score', value '0.82'",
        "differs from '0.81' at line 2",
        "columns: {seed: COLUMN}",
    ),
    _file(
        "nothing_but_quarantine",
        _single("accuracy", "NaN", "inf"),
        "nothing_but_quarantine/runs.csv, line 2, column 'score', value 'NaN'",
        "The exports hold no run that can be used.",
        options={"invalid": "quarantine"},
    ),
)

MEANING = (
    _file(
        "mixed_metrics",
        _change("B,D,accuracy,0.61,1", "B,D,f1,0.61,1"),
        "mixed_metrics/runs.csv, line 6, value 'D'",
        "'accuracy' at line 2 of",
    ),
    _file(
        "unknown_metric",
        _table(GOOD.replace("accuracy", "acurracy")),
        "unknown_metric/runs.csv, line 2, value 'acurracy'",
        "the nearest known metric is 'accuracy'",
        "metrics: {acurracy: {direction: max, low: NUMBER, high: NUMBER}}",
    ),
    _file(
        "unbounded_metric",
        _single("RMSE", "2.5", "3.5"),
        "unbounded_metric/runs.csv, line 2, value 'RMSE'",
        "metrics: {RMSE: {high: NUMBER}}",
    ),
    _file(
        "inverted_bounds",
        _table(),
        "inverted_bounds/runs.csv, line 2, value 'D'",
        "low 1.0 (metric) and high 0.0 (metric)",
        options={"metrics": {"accuracy": {"low": 1, "high": 0}}},
    ),
    _file(
        "percentages",
        _table(GOOD.replace("0.", "")),
        "percentages/runs.csv, line 2, column 'score', value '81'",
        "metrics: {accuracy: {low: 0, high: 100}}",
    ),
    _file(
        "one_percentage",
        _change("B,E,accuracy,0.51,1", "B,E,accuracy,51,1"),
        "one_percentage/runs.csv, line 8, column 'score', value '51'",
        'with a percent sign ("51%")',
    ),
    _file(
        "converted_errors",
        _single("RMSE", "0.948", "0.951", "0.957"),
        "converted_errors/runs.csv, line 2, value 'D'",
        "datasets: {D: {direction: max}} if they were converted",
        options=BOUNDED,
    ),
    _file(
        "negated_errors",
        _single("RMSE", "-0.4", "-0.5"),
        "negated_errors/runs.csv, line 2, value 'D'",
        "look like negated errors",
        options={"normalization": {"low": -1, "high": 0}},
    ),
    _file(
        "incomplete_cells",
        _table(GOOD.replace("B,E", "B,D").replace("0.5", "0.6").replace("2,2", "2,3")),
        "incomplete_cells/runs.csv, line 6, value 'B'",
        "The model 'B' has no run for 1 dataset: 'E'.",
    ),
    _file(
        "nothing_complete",
        _table("A,D,accuracy,0.5,1\nB,E,accuracy,0.6,1\n"),
        "nothing_complete/runs.csv, line 2, value 'A'",
        "incomplete: drop_models leaves nothing",
        options={"incomplete": "drop_models"},
    ),
)

CONFIGURED = (
    _file(
        "misspelt_metric_rule",
        _table(),
        "value 'acc_uracies': metrics names the metric",
        "Did you mean 'accuracy'?",
        options={"metrics": {"acc_uracies": {"low": 0}}},
    ),
    _file(
        "two_rules_for_a_metric",
        _table(),
        "metrics: has rules for 'ACCURACY' and 'Accuracy'",
        options={"metrics": {"Accuracy": {"low": 0}, "ACCURACY": {"low": 0.1}}},
    ),
    _file(
        "misspelt_dataset_rule",
        _table(),
        "value 'd': datasets names the dataset 'd', which is not in the data.",
        "Did you mean 'D'?",
        options={"datasets": {"d": {"low": 0}}},
    ),
    _file(
        "misspelt_selection",
        _table(),
        "value 'a': select.models names the model 'a', which is not in the data.",
        options={"select": {"models": {"exclude": ["a"]}}},
    ),
    _file(
        "unknown_reference_model",
        _table(),
        "unknown_reference_model/runs.csv, line 2, value 'Human'",
        "is a bound, but is not among the runs",
        options={"normalization": {"high": {"model": "Human"}}},
    ),
    _file(
        "reference_model_with_a_gap",
        _table(GOOD + "Human,D,accuracy,0.99,1\n"),
        "reference_model_with_a_gap/runs.csv, line 4, value 'Human'",
        "has no run here (1 dataset: 'E')",
        options={"normalization": {"high": {"model": "Human"}}, "incomplete": "keep"},
    ),
    _file(
        "references_for_another_direction",
        _table(),
        "references_for_another_direction/runs.csv, line 2, value 'D'",
        "with direction min, the study has 'accuracy' with max",
        options={"normalization": {"references": "{folder}/bounds.csv"}},
        extra={"bounds.csv": b"dataset,metric,direction,low,high\nD,accuracy,min,0,1\n"},
    ),
    _file(
        "broken_references",
        _table(),
        "broken_references/bounds.csv cannot be read: Line 2 has the lower bound",
        options={"normalization": {"references": "{folder}/bounds.csv"}},
        extra={"bounds.csv": b"dataset,low,high\nD,2,1\n"},
    ),
)

CATALOG = FILES + COLUMNS + CELLS + MEANING + CONFIGURED
