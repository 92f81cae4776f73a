"""The results of a submission, ``results_and_parameters.csv``, and what can be wrong with them."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from capmap.benchmarks import Benchmark
from capmap.exports.cells import (
    Cells,
    Wish,
    check_columns,
    make_texts,
    read_seeds,
    repeat_text,
    trim,
)
from capmap.exports.files import read_bounded, refuse
from capmap.exports.numbers import Kind, parse_numbers
from capmap.exports.sheets import Sheet, open_sheet
from capmap.metrics import canonical_name
from capmap.problems import Problem, Severity, UnreadableExportError, ask_nearest, shorten
from capmap.settings.choices import Decimal
from capmap.wording import count_things, list_names, quote_name

RESULTS = "results_and_parameters.csv"
LARGEST = 1 << 27
NAME = "submission"
BACKBONE, METHOD, DATASET = "backbone", "frozen_or_full_ft", "dataset"
METRIC, SCORE, SEED = "Metric", "test metric", "Seed"
EXPERIMENT, DECODER, PARTITION = "experiment_name", "decoder", "partition name"
IDENTITY = (BACKBONE, METHOD, DATASET, METRIC, SCORE, SEED)
PARAMETERS = (
    *(EXPERIMENT, DECODER, "n_trials", "batch_size", "lr", "weight_decay", "data_percentages"),
    *("early_stop_patience", "batch_size_selection", PARTITION),
)
REQUIRED = (*IDENTITY, *PARAMETERS)
KEPT = {NAME: NAME, BACKBONE: BACKBONE, METHOD: "method", **{name: name for name in PARAMETERS}}
KEPT[PARTITION] = "partition_name"
SETTING = "a submission needs it"

METHODS = ("frozen", "full_ft")
# The method of a file that has no column for it.
ASSUMED = "full_ft"
NUMBERS = (
    *("n_trials", "batch_size", "lr", "weight_decay", "data_percentages", "early_stop_patience"),
)
OPTIONAL = frozenset({"early_stop_patience"})
# What a file may lack, unless the board is strict.
SPARED = frozenset({METHOD, DECODER, PARTITION, "data_percentages"})
VARIANTS = {DECODER: "decoders", PARTITION: "partitions", "data_percentages": "shares of the data"}
CODES = {BACKBONE: "empty_model", DATASET: "empty_dataset", METRIC: "empty_metric"}
ENTRY = [BACKBONE, METHOD]
CELL = [*ENTRY, DATASET]
WHOLE = r"[+-]?\d+"


@dataclass(frozen=True)
class SubmissionSheet:
    """A table of results with the submission's name as a further column.

    Parameters
    ----------
    sheet : Sheet
        The opened file.
    name : str
        The submission's name. A column of the file that is called ``submission`` is not read.
    method : str
        The method of all rows, where the file has no column for it.
    """

    sheet: Sheet
    name: str
    method: str = ""

    @property
    def columns(self) -> list[str]:
        """The columns of the file, needed ones that it lacks, and the name of the submission."""
        own = [column for column in self.sheet.columns if column != NAME]
        return [*own, *(column for column in REQUIRED if column not in own), NAME]

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns, trimmed except for scores; missing columns are empty.

        Raises
        ------
        UnreadableExportError
            When the file turns out to be damaged.
        """
        present = {*self.sheet.columns} - {NAME}
        cells = self.sheet.read_cells([name for name in names if name in present])
        count = len(cells.lines)
        columns, said = {}, {NAME: self.name, METHOD: self.method}
        for name in names:
            if name in present:
                texts = cells.columns[name]
                columns[name] = texts if name == SCORE else trim(texts)
            else:
                columns[name] = repeat_text(said.get(name, ""), count)
        return replace(cells, columns=columns)

    def read_rows(self) -> pd.DataFrame:
        """Read the needed columns as text, and the line of each row as ``line``."""
        cells = self.read_cells(REQUIRED)
        columns = {name: cells.columns[name].to_pylist() for name in REQUIRED}
        return pd.DataFrame({**columns, "line": cells.lines})


def open_submission(
    path: str, *, name: str, strict: bool = False
) -> tuple[SubmissionSheet, list[Problem]]:
    """Open the results of a submission.

    Parameters
    ----------
    path : str
        The file.
    name : str
        The submission's name.
    strict : bool
        Whether frozen_or_full_ft, decoder, partition name and data_percentages must be there.

    Returns
    -------
    sheet : SubmissionSheet
        Its cells can be read.
    problems : list of Problem
        Columns that are missing, and a method that is assumed.

    Raises
    ------
    UnreadableExportError
        When the file cannot be opened, is larger than 128 MiB, has a needed column twice, or lacks
        one of backbone, dataset, Metric, test metric and Seed.
    """
    try:
        read_bounded(path, limit=LARGEST)
    except UnreadableExportError as error:
        if error.problems[0].code != "too_large":
            raise
        reason = f"The table has more than {LARGEST} bytes once unpacked."
        raise refuse("too_large", path, reason, "Keep the rows of this submission only.") from error
    sheet = open_sheet(path, wanted=REQUIRED)
    spared = frozenset[str]() if strict else SPARED - {*sheet.columns}
    wishes = [Wish(SETTING, column) for column in REQUIRED if column not in spared]
    problems = check_columns(wishes, sheet.columns, path)
    fatal = {problem.column for problem in problems if problem.code == "duplicated_column"}
    if fatal | ({problem.column for problem in problems} & {*IDENTITY}):
        raise UnreadableExportError(*problems)
    if METHOD in spared:
        problems.append(
            Problem(
                severity="warning",
                code="assumed_method",
                source=path,
                column=METHOD,
                reason=f"The file has no column {METHOD}; its rows count as {ASSUMED}.",
                remedy="Add the column, with frozen or full_ft.",
            )
        )
    return SubmissionSheet(sheet, name, ASSUMED), problems


@dataclass(frozen=True)
class Demands:
    """What a submission is held against.

    Parameters
    ----------
    benchmark : Benchmark or None
        Its datasets, dimensions and models; without it names are not checked.
    metrics : mapping of str to str
        The metric of datasets, as the study or the benchmark has it.
    seeds_per_cell : int
        Seeds that each model needs on each of its datasets.
    strict : bool
        Whether every column must be there, and all datasets of at least one dimension.
    decimal : {"auto", ".", ","}
        Decimal mark of numbers.
    """

    benchmark: Benchmark | None = None
    metrics: Mapping[str, str] | None = None
    seeds_per_cell: int = 5
    strict: bool = False
    decimal: Decimal = "auto"


class Rows:
    """The rows of one submission, and what was found wrong with them so far.

    Parameters
    ----------
    table : DataFrame
        The columns of `REQUIRED` as trimmed text, and ``line``.
    source : str
        The file.
    absent : collection of str
        Columns that the file lacks, of which nothing is said.
    """

    def __init__(self, table: pd.DataFrame, source: str, absent: Collection[str] = ()) -> None:
        seeds = read_seeds(make_texts(table[SEED].to_list())).to_pylist()
        self.table = table.assign(**{SEED: pd.Series(seeds, index=table.index, dtype="object")})
        self.source = source
        self.absent = absent
        self.problems: list[Problem] = []

    def add_problem(
        self,
        row: Mapping[Hashable, Any],
        code: str,
        column: str,
        reason: str,
        remedy: str,
        *,
        severity: Severity = "error",
    ) -> None:
        """Add a problem of one row."""
        self.problems.append(
            Problem(
                severity=severity,
                code=code,
                source=self.source,
                line=int(row["line"]),
                column=column,
                value=shorten(row[column]),
                reason=reason,
                remedy=remedy,
            )
        )

    def add_value_problems(
        self, rows: pd.DataFrame, code: str, column: str, explain: Callable[[str], tuple[str, str]]
    ) -> None:
        """Add a problem per distinct value of a column, at the first of the rows that have it."""
        counts = rows[column].value_counts()
        for row in rows.drop_duplicates(column).to_dict("records"):
            reason, remedy = explain(row[column])
            more = int(counts[row[column]])
            extent = f" ({count_things(more, 'row')})." if more > 1 else "."
            self.add_problem(row, code, column, reason.removesuffix(".") + extent, remedy)


def check_rows(rows: Rows, demands: Demands, *, described: Collection[str]) -> list[Problem]:
    """Find everything that is wrong with the rows of a submission, apart from scores.

    Parameters
    ----------
    rows : Rows
        The rows.
    demands : Demands
        What is asked for.
    described : collection of str
        Backbones that the submission describes.

    Returns
    -------
    list of Problem
        Empty cells, types, methods, names, metrics, seeds, dimensions and contradictions.

    Notes
    -----
    A cell is a backbone, a method and a dataset. The same seed twice in a cell is an error even
    where the scores agree. Rows whose score cannot be used count as seeds, so that one fault is not
    given twice. Metrics are compared without case and separators. Of values that stand in several
    rows the first row is named, with their number.
    """
    _check_filled(rows)
    _check_types(rows, demands.decimal)
    _check_methods(rows)
    cells = _choose_cells(rows, demands.benchmark)
    _check_seeds(rows, cells, demands.seeds_per_cell)
    _check_metrics(rows, demands)
    if demands.benchmark:
        _check_names(rows, demands.benchmark, described)
        severity: Severity = "error" if demands.strict else "warning"
        _check_dimensions(rows, cells, demands.benchmark, severity)
    _check_variants(rows)
    return rows.problems


def _check_filled(rows: Rows) -> None:
    for column in REQUIRED:
        if column in OPTIONAL or column in rows.absent or column == SCORE:
            continue
        for row in rows.table[rows.table[column] == ""].to_dict("records"):
            rows.add_problem(
                row,
                CODES.get(column, f"empty_{column.lower().replace(' ', '_')}"),
                column,
                "The cell is empty.",
                "Fill it in, or remove the row.",
            )


def _check_types(rows: Rows, decimal: Decimal) -> None:
    table = rows.table
    filled = table[SEED] != ""
    whole = table[SEED].str.fullmatch(WHOLE).astype(bool)
    for row in table[filled & ~whole].to_dict("records"):
        reason, remedy = "The seed is no whole number.", "Write the seed of the run, such as 42."
        rows.add_problem(row, "wrong_seed", SEED, reason, remedy)
    for column in NUMBERS:
        kinds = parse_numbers(make_texts(table[column].to_list()), decimal=decimal).kinds
        for row in table[(kinds != Kind.NUMBER) & (kinds != Kind.EMPTY)].to_dict("records"):
            reason = f"The {column} is no finite number."
            rows.add_problem(row, "wrong_number", column, reason, "Write a number.")


def _check_methods(rows: Rows) -> None:
    rows.add_value_problems(
        rows.table[~rows.table[METHOD].isin(["", *METHODS])],
        "unknown_method",
        METHOD,
        lambda name: (
            f"There is no method {quote_name(name)}.",
            f"{ask_nearest(name, METHODS)}Write {' or '.join(METHODS)}.",
        ),
    )


def _choose_cells(rows: Rows, benchmark: Benchmark | None) -> pd.DataFrame:
    """Choose the rows whose backbone, method and dataset are sound."""
    table = rows.table
    sound = (table[CELL] != "").all(axis=1) & table[METHOD].isin(METHODS)
    return (
        table[sound & table[DATASET].isin(list(benchmark.datasets))] if benchmark else table[sound]
    )


def _check_seeds(rows: Rows, cells: pd.DataFrame, wanted: int) -> None:
    seeded = cells[cells[SEED] != ""]
    firsts = seeded.drop_duplicates([*CELL, SEED]).set_index([*CELL, SEED])["line"].to_dict()
    for row in seeded[seeded.duplicated([*CELL, SEED])].to_dict("records"):
        line = firsts[tuple(row[column] for column in (*CELL, SEED))]
        rows.add_problem(
            row,
            "repeated_seed",
            SEED,
            f"{_name_entry(row)} has this seed on {quote_name(row[DATASET])} at line {line} as "
            "well.",
            "Remove one of the rows, or correct the seed.",
        )
    counts = seeded.groupby(CELL)[SEED].nunique().to_dict()
    for row in seeded.drop_duplicates(CELL).to_dict("records"):
        count = int(counts[tuple(row[column] for column in CELL)])
        if count < wanted:
            rows.add_problem(
                row,
                "missing_seeds",
                DATASET,
                f"{_name_entry(row)} has {count_things(count, 'seed')} on this dataset, where "
                f"{wanted} are needed.",
                "Add runs with further seeds, or leave the dataset out.",
            )


def _check_metrics(rows: Rows, demands: Demands) -> None:
    own = demands.metrics or {}
    table = rows.table[rows.table[DATASET].isin(list(own)) & (rows.table[METRIC] != "")]
    known = {canonical_name(name): name for name in own.values()}
    for row in table.drop_duplicates([DATASET, METRIC]).to_dict("records"):
        metric, dataset = row[METRIC], row[DATASET]
        if canonical_name(metric) == canonical_name(own[dataset]):
            continue
        if canonical_name(metric) in known:
            code = "wrong_metric"
            reason = f"{quote_name(metric)} is not the metric of the dataset {quote_name(dataset)}."
            remedy = f"Evaluate it with {quote_name(own[dataset])}, or correct the cell."
        else:
            code, reason = "unknown_metric", f"There is no metric {quote_name(metric)}."
            near = ask_nearest(metric, known.values())
            remedy = f"{near}The metric of {quote_name(dataset)} is {quote_name(own[dataset])}."
        rows.add_problem(row, code, METRIC, reason, remedy)


def _check_names(rows: Rows, benchmark: Benchmark, described: Collection[str]) -> None:
    table, datasets = rows.table, list(benchmark.datasets)
    rows.add_value_problems(
        table[~table[DATASET].isin(["", *datasets])],
        "unknown_dataset",
        DATASET,
        lambda name: (
            f"The benchmark has no dataset {quote_name(name)}.",
            f"{ask_nearest(name, datasets)}The datasets are {list_names(sorted(datasets))}.",
        ),
    )
    models = [*benchmark.models, *described]
    rows.add_value_problems(
        table[~table[BACKBONE].isin(["", *models])],
        "undescribed_model",
        BACKBONE,
        lambda name: (
            f"The benchmark does not know the backbone {quote_name(name)}, and the submission does "
            "not describe it.",
            f"{ask_nearest(name, models)}Describe it under 'New model info' in the file "
            "additional_info.json.",
        ),
    )


def _check_dimensions(
    rows: Rows, cells: pd.DataFrame, benchmark: Benchmark, severity: Severity
) -> None:
    """Find models that have all datasets of no dimension."""
    present = cells.groupby(ENTRY)[DATASET].agg(set).to_dict()
    for row in cells.drop_duplicates(ENTRY).to_dict("records"):
        own = present[tuple(row[column] for column in ENTRY)]
        gaps = {
            dimension: [name for name in names if name not in own]
            for dimension, names in benchmark.dimensions.items()
        }
        if gaps and all(gaps.values()):
            nearest = min(gaps, key=lambda dimension: len(gaps[dimension]))
            rows.add_problem(
                row,
                "no_dimension",
                BACKBONE,
                f"{_name_entry(row)} has all datasets of no dimension.",
                f"Add runs on {list_names(gaps[nearest])} to complete {quote_name(nearest)}.",
                severity=severity,
            )


def _check_variants(rows: Rows) -> None:
    for column, what in VARIANTS.items():
        table = rows.table[(rows.table[[*CELL, column]] != "").all(axis=1)]
        # 100 and 100.0 are one share.
        numbers = pd.to_numeric(table[column], errors="coerce")
        value = numbers.astype("str").where(numbers.notna(), table[column])
        firsts = table[~table[CELL].assign(value=value).duplicated()]
        for row in firsts[firsts.duplicated(CELL)].to_dict("records"):
            rows.add_problem(
                row,
                f"several_{what.replace(' ', '_')}",
                column,
                f"{_name_entry(row)} has several {what} on {quote_name(row[DATASET])}.",
                "They count as one model; give the other runs a backbone key of their own if they "
                "are not.",
                severity="warning",
            )


def _name_entry(row: Mapping[Hashable, Any]) -> str:
    method = row[METHOD] if row[METHOD] in METHODS else quote_name(row[METHOD])
    return f"The backbone {quote_name(row[BACKBONE])} ({method})"
