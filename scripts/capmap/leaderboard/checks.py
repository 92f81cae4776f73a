"""What can be wrong with submissions: their rows, their scores, and how they go together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.benchmarks import Benchmark, complete_rules, read_benchmark
from capmap.exports import Exports
from capmap.exports.cells import make_texts, read_seeds
from capmap.exports.files import check_digests
from capmap.exports.numbers import Kind, parse_numbers
from capmap.exports.submissions import (
    BACKBONE,
    DATASET,
    INFORMATION,
    METHOD,
    METRIC,
    NAME,
    REQUIRED,
    RESULTS,
    SCORE,
    SEED,
    read_submissions,
)
from capmap.leaderboard.entries import find_mixes
from capmap.metrics import canonical_name, find_metric
from capmap.normalization.precedence import Rules
from capmap.normalization.rules import convert_scores, find_transform
from capmap.problems import Problem, Row, RowCheck, ask_nearest, list_rows, score_problem
from capmap.renaming import list_metrics
from capmap.settings.choices import Decimal
from capmap.validation import Policies, Validation, validate_runs
from capmap.validation.configuration import rename_runs
from capmap.wording import count_things, list_names, quote_name, write_key

FRACTION, PERCENT = 1.5, 100.0
USUAL = (0.5, 1.0)
CONVERTED = ["submission", "backbone", "method", "dataset"]

BoolArray = npt.NDArray[np.bool_]
Range = tuple[float, float]
Stored = Mapping[str, Mapping[str, float]]
METHODS = ("frozen", "full_ft")
SELECTIONS = ("hpo", "fixed")
NUMBERS = (
    *("n_trials", "batch_size", "lr", "weight_decay", "data_percentages", "early_stop_patience"),
)
CODES = {BACKBONE: "empty_model"}
# Texts of a cell that should be one; numbers such as 100 and 100.0 are.
VARIANTS = {
    "decoder": ("several_decoders", "decoders"),
    "partition name": ("several_partitions", "partitions"),
    "data_percentages": ("several_shares_of_the_data", "shares of the data"),
    "lr": ("several_learning_rates", "learning rates"),
}
ENTRY = [NAME, BACKBONE, METHOD]
CELL = [*ENTRY, DATASET]
WHO = f"The backbone {{{BACKBONE}}} ({{_method}})"
# What is an error on a strict board.
STRICT = frozenset(
    {"no_dimension", "batch_size_selection", "shared_experiment", "several_learning_rates"}
)
CHECKS = {
    check.code: check
    for check in (
        RowCheck(
            "wrong_seed", SEED, "The seed is no whole number.", "Write the run's seed, such as 42."
        ),
        RowCheck(
            "unknown_method",
            METHOD,
            f"There is no method {{{METHOD}}}{{_extent}}.",
            f"{{_hint}}Write {' or '.join(METHODS)}.",
        ),
        RowCheck(
            "batch_size_selection",
            "batch_size_selection",
            "The batch size is chosen in an unknown way{_extent}.",
            "Write HPO where the search chose it, and fixed where it did not.",
            "warning",
        ),
        RowCheck(
            "shared_experiment",
            "experiment_name",
            "The experiment {experiment_name} has runs of the backbones {_backbones}.",
            "Name an experiment after one backbone, or correct the backbone.",
            "warning",
        ),
        RowCheck(
            "repeated_seed",
            SEED,
            f"{WHO} has this seed on {{{DATASET}}} at line {{_first}} as well.",
            "Remove one of the rows, or correct the seed.",
        ),
        RowCheck(
            "missing_seeds",
            DATASET,
            f"{WHO} has {{_count}} on this dataset, where {{_wanted}} are needed.",
            "Add runs with further seeds, or leave the dataset out.",
        ),
        RowCheck(
            "wrong_metric",
            METRIC,
            f"{{{METRIC}}} is not the metric of the dataset {{{DATASET}}}.",
            "{_hint}Evaluate it with {wanted}, or correct the cell.",
        ),
        RowCheck(
            "unknown_dataset",
            DATASET,
            f"The benchmark has no dataset {{{DATASET}}}{{_extent}}.",
            "{_hint}The datasets are {_known}.",
        ),
        RowCheck(
            "undescribed_model",
            BACKBONE,
            f"The benchmark does not know the backbone {{{BACKBONE}}}, and the submission does not "
            "describe it{_extent}.",
            "{_hint}Describe it under 'New model info' in the file additional_info.json.",
        ),
        RowCheck(
            "no_dimension",
            BACKBONE,
            f"{WHO} has all datasets of no dimension.",
            "Add runs on {_missing} to complete {nearest}.",
            "warning",
        ),
    )
}


def screen_scores(
    runs: pd.DataFrame, rules: Rules, benchmark: Benchmark | None
) -> tuple[pd.DataFrame, list[Problem]]:
    """Find scores of submissions that are out of range, or not on the scale of the benchmark.

    Parameters
    ----------
    runs : DataFrame
        Of `read_submissions`. Scores that are not finite stay: the reader has reported them.
    rules : Rules
        The rules of the study, completed by the benchmark.
    benchmark : Benchmark or None
        Says of which datasets converted errors are stored.

    Returns
    -------
    runs : DataFrame
        The runs without doubt, in their order.
    problems : list of Problem
        Errors: "out_of_range" per score, "not_converted" and "converted_twice" per submission and
        dataset.

    Notes
    -----
    The range of a dataset is that of its metric by nature, widened by the numbers that the study
    gives for the dataset or the metric. Where the benchmark stores converted errors it is that of
    the conversion, and where the study converts them itself that of the error.

    Where the benchmark stores converted errors, the scores of a model on the dataset are taken for
    errors when their median is nearer to the plausible range after the conversion than before; and
    where the study converts them, for converted scores when it is nearer before. The plausible
    range is what the study gives as numbers, else the reference bounds, else 0.5 to 1. An error
    that happens to be as near to it as its conversion is not recognized. Where the other scale
    would leave [0, 1] the score is out of range and nothing else.
    """
    known = benchmark.datasets if benchmark else {}
    stored = {name: known[name].transform for name in sorted(known) if known[name].transform}
    doubted = np.zeros(len(runs), dtype=bool)
    problems = []
    for dataset, transform in stored.items():
        own = (runs["dataset"] == dataset).to_numpy(dtype=bool)
        wrong = _find_other_scale(runs, own, rules, transform)
        problems += _explain_scale(runs[own], runs[wrong], rules, transform)
        doubted |= wrong
    unsettled = {
        name: transform
        for name, transform in stored.items()
        if "transform" not in rules.of_dataset(name)
    }
    pairs = list(runs[["dataset", "metric"]].itertuples(index=False, name=None))
    ranges = {
        (dataset, metric): _find_range(dataset, metric, rules, unsettled)
        for dataset, metric in {*pairs}
    }
    low, high = np.array([ranges[pair] for pair in pairs], dtype=np.float64).reshape(-1, 2).T
    score = runs["score"].to_numpy(dtype=np.float64)
    outside = ~doubted & np.isfinite(score) & ((score < low) | (score > high))
    problems += [
        _explain_range(row, ranges[row.dataset, row.metric], unsettled.get(row.dataset, {}))
        for row in list_rows(runs[outside])
    ]
    return runs[~doubted & ~outside], problems


def _find_other_scale(
    runs: pd.DataFrame, own: BoolArray, rules: Rules, stored: Stored
) -> BoolArray:
    """Find the runs of models whose median is better explained by the other scale."""
    wrong = np.zeros(len(runs), dtype=bool)
    if not own.any():
        return wrong
    chosen = runs[own]
    medians = chosen.groupby(CONVERTED)["score"].transform("median").to_numpy(dtype=np.float64)
    dataset = str(chosen["dataset"].iloc[0])
    low, high = _find_plausible(rules, dataset)
    converted = convert_scores(medians, stored)
    before = np.maximum(low - medians, medians - high).clip(min=0)
    after = np.maximum(low - converted, converted - high).clip(min=0)
    if "transform" in rules.of_dataset(dataset):
        other, is_nearer = medians, before < after
    else:
        other, is_nearer = converted, after < before
    wrong[own] = is_nearer & (other >= 0) & (other <= 1)
    return wrong


def _find_plausible(rules: Rules, dataset: str) -> Range:
    rule = rules.of_dataset(dataset)
    low, high = rule.get("low"), rule.get("high")
    if isinstance(low, int | float) and isinstance(high, int | float):
        return float(low), float(high)
    frozen = rules.references.get(dataset)
    return (frozen.low, frozen.high) if frozen else USUAL


def _find_range(dataset: str, metric: str, rules: Rules, stored: Mapping[str, Stored]) -> Range:
    """Find the least and the largest score that runs on a dataset can have."""
    rule = rules.of_dataset(dataset)
    sources = [rule, rules.of_metric(metric)]
    natural = find_transform(stored.get(dataset)) or find_metric(metric)
    if "transform" in rule:
        sources = []
    elif dataset in stored:
        sources = [rule]
    bounds = [(source.get("low"), source.get("high")) for source in sources]
    given = [bound for pair in bounds for bound in pair if isinstance(bound, int | float)]
    low, high = (natural.low, natural.high) if natural else (None, None)
    return (
        -np.inf if low is None else min([low, *given]),
        np.inf if high is None else max([high, *given]),
    )


def _explain_scale(
    runs: pd.DataFrame, wrong: pd.DataFrame, rules: Rules, stored: Stored
) -> list[Problem]:
    """Say which submissions have the scores of some models on the other scale."""
    totals, counts = (rows.groupby("submission")["model"].nunique() for rows in (runs, wrong))
    name, options = next(iter(stored.items()))
    given = ", ".join(f"{key}: {value!r}" for key, value in options.items())
    firsts = wrong.drop_duplicates("submission")
    problems = []
    for row, submission in zip(list_rows(firsts), firsts["submission"], strict=True):
        who = f"{counts[submission]} of {count_things(int(totals[submission]), 'model')}"
        rule = f"datasets: {{{write_key(row.dataset)}: {{transform: {{{name}: {{{given}}}}}}}}}"
        code = "not_converted"
        reason = f"look like raw {row.metric}, not like {_write_formula(row.metric, stored)}"
        remedy = f"Convert them; or where all submissions hold raw errors, write {rule}."
        if "transform" in rules.of_dataset(row.dataset):
            code, reason = "converted_twice", "look converted already"
            remedy = f"Submit raw errors, or remove the transform from the study, {rule}."
        reason = f"The scores on {quote_name(row.dataset)} {reason} ({who})."
        problems.append(score_problem(row, code, reason, remedy, severity="error"))
    return problems


def _write_formula(metric: str, stored: Stored) -> str:
    name, options = next(iter(stored.items()))
    return f"1 - {metric} * {options['std']!r}" if "std" in options else name


def _explain_range(row: Row, limits: Range, stored: Stored) -> Problem:
    low, high = limits
    reason = f"The score is outside the range [{low:g}, {high:g}] of {quote_name(row.metric)}."
    remedy = "Correct it, or remove the runs of the dataset."
    if stored:
        formula = _write_formula(row.metric, stored)
        remedy = f"The benchmark stores {formula}: convert a raw error, or correct the score."
    elif high == 1 and FRACTION < row.score <= PERCENT:
        remedy = f'It looks like a percentage: write {row.score / PERCENT!r} or "{row.raw}%".'
    return score_problem(row, "out_of_range", reason, remedy, severity="error")


def check_submissions(
    *,
    folders: Sequence[str],
    files: Sequence[str],
    benchmark: Sequence[str],
    **settings: Any,
) -> tuple[Exports, Validation, dict[str, Any]]:
    """Read all submissions, and find everything that is wrong with them."""
    datasets, renamed = settings["datasets"], settings["renamed"]
    definition = read_benchmark(benchmark[0]) if benchmark else None
    fixed = definition.datasets if definition else ()
    known = complete_rules(datasets, definition, fixed)
    metrics, options = list_metrics(known, renamed), settings["submission"]
    decimal, strict = settings["decimal"], options.get("strict", False)
    read, rows, listed = read_submissions(
        folders,
        files=files,
        columns=settings["columns"],
        metrics=metrics,
        decimal=decimal,
        strict=strict,
    )
    found = [*read.problems, *check_digests(files, settings["checksums"], names=settings["names"])]
    for record in listed:
        found += check_rows(
            rows[rows[NAME] == record["name"]],
            benchmark=definition,
            described=[model["key"] for model in record["models"]],
            metrics=metrics,
            seeds_per_cell=options.get("seeds_per_cell", 5),
            strict=strict,
            decimal=decimal,
        )
    own = read.runs
    own = own[own["dataset"].isin(list(fixed))] if definition else own
    own = own.drop_duplicates([NAME, BACKBONE, "method", "dataset", "seed"])
    rules = Rules.choose(settings, settings["references"], known)
    submitted, misnamed = rename_runs(own, renamed, fixed=fixed)
    runs, doubted = screen_scores(submitted, rules, definition)
    result = validate_runs(
        runs,
        [*found, *misnamed, *doubted, *find_mixes(submitted)],
        rules=replace(rules, datasets=complete_rules(datasets, definition, set(runs["dataset"]))),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=renamed,
    )
    records = [_describe_submission(record, rows, own, read, definition) for record in listed]
    return read, _drop_told(result, definition), {"submissions": {"submissions": records}}


def check_rows(
    rows: pd.DataFrame,
    *,
    benchmark: Benchmark | None,
    described: Collection[str],
    metrics: Mapping[str, str],
    seeds_per_cell: int,
    strict: bool,
    decimal: Decimal,
) -> list[Problem]:
    """Find everything that is wrong with the rows of a submission, apart from scores.

    Parameters
    ----------
    rows : pandas.DataFrame
        Of one submission, as `Submissions` has them.
    benchmark : Benchmark or None
        Its datasets, dimensions and models; without it names are not checked.
    described : collection of str
        Backbones that the submission describes.
    metrics : mapping of str to str
        The metric of datasets.
    seeds_per_cell : int
        Seeds that each model needs on each of its datasets.
    strict : bool
        Whether what is doubtful is an error.
    decimal : {"auto", ".", ","}
        Decimal mark of numbers.

    Notes
    -----
    A cell is a backbone, a method and a dataset. Rows whose score cannot be used count as seeds, so
    that one fault is not told twice. Metrics are compared without case and separators. Of values
    that stand in several rows the first row is named, with their number.
    """
    if rows.empty:
        return []
    seeds = read_seeds(make_texts(rows[SEED].tolist())).to_pylist()
    method = rows[METHOD].where(rows[METHOD].isin(METHODS), rows[METHOD].map(repr))
    rows = rows.assign(**{SEED: seeds, "_method": method})
    sound = rows[(rows[CELL] != "").all(axis=1) & rows[METHOD].isin(METHODS)]
    if benchmark:
        sound = sound[sound[DATASET].isin(list(benchmark.datasets))]
    faults = {
        "wrong_seed": rows[(rows[SEED] != "") & ~rows[SEED].str.fullmatch(r"[+-]?\d+")],
        "unknown_method": _list_unknown(rows, METHOD, METHODS),
        "batch_size_selection": _find_selections(rows),
        "shared_experiment": _find_shared_experiments(rows),
        "repeated_seed": _find_repeated_seeds(sound),
        "missing_seeds": _find_missing_seeds(sound, seeds_per_cell),
        "wrong_metric": _find_metrics(rows, metrics),
    }
    if benchmark:
        datasets, models = sorted(benchmark.datasets), [*benchmark.models, *described]
        unknown = _list_unknown(rows, DATASET, datasets)
        faults["unknown_dataset"] = unknown.assign(_known=list_names(datasets))
        faults["undescribed_model"] = _list_unknown(rows, BACKBONE, models)
        faults["no_dimension"] = _find_incomplete(sound, benchmark.dimensions)
    checks = [*_check_cells(rows, decimal), *_check_variants(rows)]
    checks += [(CHECKS[code], found) for code, found in faults.items()]
    return [
        problem
        for check, found in checks
        for problem in (
            check._replace(severity="error") if strict and check.code in STRICT else check
        ).report(found)
    ]


def _check_cells(rows: pd.DataFrame, decimal: Decimal) -> list[tuple[RowCheck, pd.DataFrame]]:
    """Find empty cells, and parameters that are no numbers."""
    checks = []
    for column in REQUIRED:
        if column not in (SCORE, "early_stop_patience"):
            code = CODES.get(column, f"empty_{column.lower().replace(' ', '_')}")
            check = RowCheck(code, column, "The cell is empty.", "Fill it in, or remove the row.")
            checks.append((check, rows[rows[column] == ""]))
        if column in NUMBERS:
            texts = make_texts(rows[column].fillna("").tolist())
            kinds = parse_numbers(texts, decimal=decimal).kinds
            reason = f"The {column} is no finite number."
            check = RowCheck("wrong_number", column, reason, "Write a number.")
            checks.append((check, rows[(kinds != Kind.NUMBER) & (kinds != Kind.EMPTY)]))
    return checks


def _check_variants(rows: pd.DataFrame) -> list[tuple[RowCheck, pd.DataFrame]]:
    """Find cells with several decoders, partitions, shares of the data or learning rates."""
    checks = []
    for column, (code, what) in VARIANTS.items():
        reason = f"{WHO} has several {what} on {{{DATASET}}}."
        remedy = "They count as one model; give the other runs a backbone key of their own if they "
        remedy += "are not."
        if column == "lr":
            remedy = "Repeat the runs of a dataset with the learning rate that the search chose."
        texts = rows[column].fillna("")
        numbers = pd.to_numeric(texts.str.replace(",", "."), errors="coerce")
        # What should be a number and is none has a fault of its own.
        others = "" if column in NUMBERS else texts
        values = rows.assign(_value=numbers.astype("str").where(numbers.notna(), others))
        filled = values[(values[[*CELL, "_value"]] != "").all(axis=1)]
        firsts = filled.drop_duplicates([*CELL, "_value"])
        check = RowCheck(code, column, reason, remedy, "warning")
        checks.append((check, firsts[firsts.duplicated(CELL)]))
    return checks


def _list_unknown(rows: pd.DataFrame, column: str, known: Collection[str]) -> pd.DataFrame:
    """The first row of each unknown name of a column, with the nearest known one."""
    firsts = _take_firsts(rows[~rows[column].isin(["", *known])], column)
    return firsts.assign(_hint=[ask_nearest(name, known) for name in firsts[column]])


def _take_firsts(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The first row of each value of a column, and how many have it."""
    counts = rows[column].map(rows[column].value_counts())
    extent = [f" ({count_things(count, 'row')})" if count > 1 else "" for count in counts]
    return rows.assign(_extent=extent).drop_duplicates(column)


def _find_selections(rows: pd.DataFrame) -> pd.DataFrame:
    given = rows["batch_size_selection"].fillna("")
    return _take_firsts(rows[~given.str.casefold().isin(["", *SELECTIONS])], "batch_size_selection")


def _find_shared_experiments(rows: pd.DataFrame) -> pd.DataFrame:
    """The first row of the second backbone of each experiment."""
    key = ["experiment_name", BACKBONE]
    firsts = rows[(rows[key].fillna("") != "").all(axis=1)].drop_duplicates(key)
    names = firsts.groupby("experiment_name")[BACKBONE].agg(lambda own: list_names(sorted(own)))
    shared = firsts[firsts.duplicated("experiment_name")].drop_duplicates("experiment_name")
    return shared.assign(_backbones=shared["experiment_name"].map(names))


def _find_repeated_seeds(cells: pd.DataFrame) -> pd.DataFrame:
    seeded = cells[cells[SEED] != ""]
    firsts = seeded.groupby([*CELL, SEED])["line"].transform("first")
    return seeded.assign(_first=firsts)[seeded.duplicated([*CELL, SEED])]


def _find_missing_seeds(cells: pd.DataFrame, wanted: int) -> pd.DataFrame:
    seeded = cells[cells[SEED] != ""]
    counts = seeded.groupby(CELL)[SEED].transform("nunique")
    firsts = seeded.assign(count=counts).drop_duplicates(CELL)
    lacking = firsts[firsts["count"] < wanted]
    told = [count_things(count, "seed") for count in lacking["count"]]
    return lacking.assign(_count=told, _wanted=wanted)


def _find_metrics(rows: pd.DataFrame, metrics: Mapping[str, str]) -> pd.DataFrame:
    firsts = rows[rows[DATASET].isin(list(metrics)) & (rows[METRIC] != "")]
    firsts = firsts.drop_duplicates([DATASET, METRIC])
    firsts = firsts.assign(wanted=firsts[DATASET].map(metrics))
    differs = firsts[METRIC].map(canonical_name) != firsts["wanted"].map(canonical_name)
    wrong = firsts[differs]
    others = {canonical_name(name) for name in metrics.values()}
    hints = [
        "" if canonical_name(name) in others else ask_nearest(name, metrics.values())
        for name in wrong[METRIC]
    ]
    return wrong.assign(_hint=hints)


def _find_incomplete(cells: pd.DataFrame, dimensions: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Find models that have all datasets of no dimension, and the one that is nearest to it."""
    firsts = cells.drop_duplicates(ENTRY).assign(_missing="", nearest="")
    present = cells.groupby(ENTRY)[DATASET].agg(set).to_dict()
    for place, row in firsts.iterrows():
        own = present[tuple(row[ENTRY])]
        gaps = {
            dimension: [name for name in names if name not in own]
            for dimension, names in dimensions.items()
        }
        if gaps and all(gaps.values()):
            nearest = min(gaps, key=lambda dimension: len(gaps[dimension]))
            firsts.loc[place, ["_missing", "nearest"]] = list_names(gaps[nearest]), nearest
    return firsts[firsts["nearest"] != ""]


def _describe_submission(
    record: Mapping[str, Any],
    rows: pd.DataFrame,
    runs: pd.DataFrame,
    read: Exports,
    benchmark: Benchmark | None,
) -> dict[str, Any]:
    """A submission as it stands in ``submissions.json``, with all its models."""
    known = benchmark.models if benchmark else {}
    described = {model["key"]: model for model in record["models"]}
    models = []
    for key in sorted({*rows.loc[rows[NAME] == record["name"], BACKBONE]} - {""}):
        own = {"key": key, "name": key, "size": ""} | described.get(key, {})
        own |= vars(known[key]) if key in known else {}
        models.append(own | {"name": own["name"] or key})
    files = {f"{record['folder']}/{name}": name for name in (RESULTS, INFORMATION)}
    digests = {file["path"]: file["sha256"] for file in read.files}
    return {
        **record,
        "models": models,
        "runs": int((runs[NAME] == record["name"]).sum()),
        "sha256": {name: digests[path] for path, name in files.items() if path in digests},
    }


def _drop_told(result: Validation, definition: Benchmark | None) -> Validation:
    """Drop warnings of what the definition of the benchmark says."""
    defined = {dataset.metric for dataset in definition.datasets.values()} if definition else set()
    told = [
        problem
        for problem in result.problems
        if problem.code == "overruled_direction" and problem.value in defined
    ]
    return replace(result, problems=[one for one in result.problems if one not in told])
