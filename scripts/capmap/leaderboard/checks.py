"""What can be wrong with submissions of a leaderboard, and with evaluations of checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from capmap.benchmarks import Benchmark, complete_rules, read_benchmark
from capmap.exports import Exports
from capmap.exports.cells import SEPARATOR
from capmap.exports.doubts import find_alike
from capmap.exports.reading import check_digests, read_evaluations, read_step
from capmap.exports.submissions import BACKBONE, METHOD, NAME, read_submissions
from capmap.exports.submissions import ROLES as COLUMNS
from capmap.leaderboard.trainings import (
    TRAINING,
    Plan,
    choose_checkpoints,
    gather_runs,
    plan_selection,
    tell,
)
from capmap.metrics import canonical_name, find_metric
from capmap.normalization import Rules, convert_scores, find_transform, select_runs
from capmap.problems import Problem, RowCheck, Severity, ask_nearest
from capmap.validation import Policies, Validation, validate_runs
from capmap.validation.contradictions import rename_runs
from capmap.validation.rows import reject_rows, resolve_duplicates
from capmap.wording import list_metrics, list_names, quote_name

METHODS = ("frozen", "full_ft")
# The plausible range of converted scores without frozen references.
USUAL = (0.5, 1.0)
ENTRY = [NAME, BACKBONE, "method"]
CELL = [*ENTRY, "dataset"]
UNKNOWN_METHOD = RowCheck(
    "unknown_method",
    "method",
    "There is no method {method}.",
    f"{{_hint}}Write {' or '.join(METHODS)}.",
)
MIXED = RowCheck(
    "mixed_entries",
    "model",
    "The model {model} has runs of several values of {_part}.",
    "Write columns: {{model: [backbone, frozen_or_full_ft, submission]}}.",
)
MISSING_SEEDS = RowCheck(
    "missing_seeds",
    "dataset",
    "The backbone {backbone} ({method}) has runs with {_count} different seeds on this dataset, "
    "where {_wanted} are needed.",
    "Add runs with further seeds, or leave the dataset out.",
)
UNKNOWN_DATASET = RowCheck(
    "unknown_dataset",
    "dataset",
    "The benchmark has no dataset {dataset}.",
    "{_hint}The datasets are {_known}.",
)
UNDESCRIBED = RowCheck(
    "undescribed_model",
    BACKBONE,
    "The benchmark does not know the backbone {backbone}, and the submission does not describe it.",
    "{_hint}Describe it under 'New model info' in the file additional_info.json.",
)
NO_DIMENSION = RowCheck(
    "no_dimension",
    BACKBONE,
    "The backbone {backbone} ({method}) has all datasets of no dimension, so nothing ranks it.",
    "Add runs on the other datasets of a dimension.",
    "warning",
)
NOT_CONVERTED = RowCheck(
    "not_converted",
    "raw",
    "The scores of {submission} on {dataset} look like raw {metric}, while the benchmark stores "
    "converted ones.",
    "Convert them; or where all submissions hold raw errors, write datasets: {{{dataset}: "
    "{{transform: {_transform}}}}}.",
)
IMPOSSIBLE = RowCheck(
    "out_of_range",
    "raw",
    "The score is outside the range [{_low:g}, {_high:g}] of {metric}.",
    "Correct it, or remove the runs of the dataset; a percentage is written as a fraction or with "
    "a percent sign.",
)
ORDER = ["model", "training", "step", "checkpoint", "dataset", "metric", "split"]
EVALUATIONS = [
    *("model", "training", "checkpoint", "step", "dataset", "metric", "split", "seed", "value"),
    *("source", "line"),
]
NO_TRAINING = RowCheck(
    "empty_training",
    "training",
    "The name of the training is empty.",
    "Write it, or leave the row out with where.",
)
NO_STEP = RowCheck(
    "no_step",
    "checkpoint",
    "The checkpoint {checkpoint} has no number that could be its step.",
    "Write the step, or a name with a step or an epoch such as step=1200.",
)
MIXED_STEPS = RowCheck(
    "mixed_steps",
    "checkpoint",
    "The training {training} has checkpoints that count steps and others that count epochs, such "
    "as {checkpoint}.",
    "Name all its checkpoints by the same count.",
)


def check_submissions(
    *, folders: Sequence[str], files: Sequence[str], benchmark: Sequence[str], **settings: Any
) -> tuple[Exports, Validation, dict[str, Any]]:
    """Read all submissions, and find everything that is wrong with them."""
    datasets, renamed = settings["datasets"], settings["renamed"]
    definition = read_benchmark(benchmark[0]) if benchmark else None
    fixed = definition.datasets if definition else {}
    rules = Rules.choose(
        settings, settings["references"], complete_rules(datasets, definition, fixed)
    )
    options = settings["submission"]
    read, listed = read_submissions(
        folders,
        files=files,
        columns=settings["columns"],
        metrics=list_metrics(rules.datasets, renamed),
        decimal=settings["decimal"],
        strict=options.get("strict", False),
    )
    faults = check_rows(read.runs, definition, listed, **options)
    own = read.runs[read.runs["dataset"].isin(list(fixed))] if definition else read.runs
    submitted, misnamed = rename_runs(own, renamed, fixed=fixed)
    runs, doubted = screen_scores(submitted, rules, definition)
    present = complete_rules(datasets, definition, set(runs["dataset"]))
    result = validate_runs(
        runs,
        [
            *(*read.problems, *faults, *misnamed, *doubted),
            *check_digests(files, settings["checksums"], names=settings["names"]),
        ],
        rules=replace(rules, datasets=present),
        policies=Policies.choose(settings),
        named=settings["named"],
    )
    # What the definition of the benchmark says of its metrics is no news.
    told = {dataset.metric for dataset in fixed.values()}
    kept = [
        problem
        for problem in result.problems
        if problem.code != "overruled_direction" or problem.value not in told
    ]
    return read, replace(result, problems=kept), {"submissions": {"submissions": listed}}


def check_rows(
    runs: pd.DataFrame,
    benchmark: Benchmark | None,
    listed: Sequence[Mapping[str, Any]],
    *,
    seeds_per_cell: int = 5,
    strict: bool = False,
) -> list[Problem]:
    """Find what is wrong with the rows of submissions, apart from scores.

    `listed` says which models each submission describes. A cell is a backbone, a method and a
    dataset of a submission. Of what stands in several rows the first is named.
    """
    unknown = runs[~runs["method"].isin(METHODS)].drop_duplicates([NAME, "method"])
    problems = UNKNOWN_METHOD.report(_suggest(unknown, "method", METHODS), column=METHOD)
    seeded = runs.assign(seed=runs["seed"].mask(runs["seed"] == ""))
    counts = seeded.groupby(CELL)["seed"].transform("nunique")
    lacking = seeded.assign(_count=counts, _wanted=seeds_per_cell)[counts < seeds_per_cell]
    problems += MISSING_SEEDS.report(lacking.drop_duplicates(CELL))
    for part in ENTRY:
        counts = runs.groupby("model")[part].transform("nunique")
        mixed = runs[counts > 1].drop_duplicates("model")
        problems += MIXED.report(mixed.assign(_part=part))
    if benchmark is None:
        return problems
    known = sorted(benchmark.datasets)
    unknown = runs[~runs["dataset"].isin(known)].drop_duplicates([NAME, "dataset"])
    unknown = _suggest(unknown, "dataset", known).assign(_known=list_names(known))
    problems += UNKNOWN_DATASET.report(unknown)
    told = {(record["name"], model["key"]) for record in listed for model in record["models"]}
    told |= {(record["name"], key) for record in listed for key in benchmark.models}
    firsts = runs.drop_duplicates([NAME, BACKBONE])
    pairs = zip(firsts[NAME], firsts[BACKBONE], strict=True)
    unknown = firsts[np.array([pair not in told for pair in pairs], dtype=bool)]
    problems += UNDESCRIBED.report(_suggest(unknown, BACKBONE, benchmark.models))
    check = NO_DIMENSION._replace(severity="error") if strict else NO_DIMENSION
    return problems + check.report(_find_incomplete(runs, benchmark.dimensions))


def _suggest(rows: pd.DataFrame, column: str, known: Sequence[str] | Mapping[str, Any]) -> Any:
    """Add the nearest known name to rows of unknown ones."""
    return rows.assign(_hint=[ask_nearest(name, known) for name in rows[column]])


def _find_incomplete(runs: pd.DataFrame, dimensions: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Find the first rows of entries that have all datasets of no dimension."""
    present = runs.groupby(ENTRY)["dataset"].agg(set)
    complete = [
        entry for entry, own in present.items() if any(map(own.issuperset, dimensions.values()))
    ]
    firsts = runs.drop_duplicates(ENTRY).set_index(ENTRY, drop=False)
    return firsts.drop(index=complete) if dimensions else firsts.iloc[:0]


def screen_scores(
    runs: pd.DataFrame, rules: Rules, benchmark: Benchmark | None
) -> tuple[pd.DataFrame, list[Problem]]:
    """Leave out scores that are impossible, or not on the scale that the benchmark stores.

    Where the benchmark stores converted errors and the study does not convert them itself, the
    scores of an entry on a dataset are taken for errors when their median is nearer to the
    plausible range after the conversion: the reference bounds, or else 0.5 to 1. An error that
    happens to be as near to it as its conversion is not recognized.
    """
    known = benchmark.datasets if benchmark else {}
    problems, doubted = list[Problem](), set[Any]()
    for dataset, own in runs[np.isfinite(runs["score"])].groupby("dataset", sort=True):
        name, metric = str(dataset), str(own["metric"].iloc[0])
        stored = (known[name].model_dump()["transform"] or {}) if name in known else {}
        if "transform" in rules.of_dataset(name):
            stored = {}
        wrong = _find_raw(own, rules, name, stored) if stored else own.iloc[:0]
        shown = wrong.drop_duplicates(NAME).assign(_transform=str(dict(stored)))
        low, high = _find_range(name, metric, rules, stored)
        others = own.drop(index=wrong.index)
        outside = others[(others["score"] < low) | (others["score"] > high)]
        problems += NOT_CONVERTED.report(shown, column=COLUMNS["score"])
        problems += IMPOSSIBLE.report(outside.assign(_low=low, _high=high), column=COLUMNS["score"])
        doubted |= {*wrong.index, *outside.index}
    return runs.drop(index=list(doubted)), problems


def _find_raw(
    own: pd.DataFrame, rules: Rules, dataset: str, stored: Mapping[str, Mapping[str, float]]
) -> pd.DataFrame:
    """Find the runs on a dataset of entries whose median is a better score once converted."""
    frozen = rules.references.get(dataset)
    low, high = (frozen.low, frozen.high) if frozen else USUAL
    medians = own.groupby(ENTRY)["score"].transform("median").to_numpy(dtype=np.float64)
    converted = convert_scores(medians, stored)
    before, after = (
        np.maximum(low - values, values - high).clip(min=0) for values in (medians, converted)
    )
    return own[(after < before) & (converted >= 0) & (converted <= 1)]


def _find_range(
    dataset: str, metric: str, rules: Rules, stored: Mapping[str, Mapping[str, float]]
) -> tuple[float, float]:
    """Find what scores on a dataset can be by their nature, unless the study gives its bounds."""
    natural = find_transform(stored) or find_metric(metric)
    given = {*rules.of_dataset(dataset), *rules.of_metric(metric)} & {"low", "high"}
    if natural is None or (given and not stored):
        return -np.inf, np.inf
    low, high = natural.low, natural.high
    return -np.inf if low is None else low, np.inf if high is None else high


def check_checkpoints(
    exports: Sequence[str], *, names: Sequence[str], checkpoints: Mapping[str, Any], **settings: Any
) -> tuple[Exports, Validation, dict[str, Any]]:
    """Read values of checkpoints, choose one per training, and find everything that is wrong."""
    rules, renamed = Rules.choose(settings, settings["references"]), settings["renamed"]
    read, columns = read_evaluations(
        exports,
        dataset_metrics=list_metrics(settings["datasets"], renamed),
        **{name: settings[name] for name in ("columns", "where", "metric", "decimal")},
    )
    table, misnamed = rename_runs(read.runs, renamed)
    policies = Policies.choose(settings)
    sound = reject_rows(table, read.problems, policy=policies.invalid)
    values, faults = check_evaluations(sound.runs, columns, policies)
    plan, doubts = plan_selection(values, checkpoints, metric=settings["metric"], rules=rules)
    listed = choose_checkpoints(values, plan)
    compared = gather_runs(values, listed, plan)
    if values.empty:
        doubts = []  # the files are at fault, and not the settings
    elif plan.metrics:
        selected, _ = select_runs(values, datasets=policies.select.get("datasets", "all"))
        doubts += _find_gaps(listed, compared, plan, {*selected["dataset"]})
    # The rules of metrics that checkpoints are chosen, but not compared by, say nothing of runs.
    used = {*map(canonical_name, compared["metric"].unique())}
    read_only = {*map(canonical_name, values["metric"].unique())} - used
    kept = {
        name: rule for name, rule in rules.metrics.items() if canonical_name(name) not in read_only
    }
    result = validate_runs(
        compared,
        [
            *check_digests(exports, settings["checksums"], names=names),
            *(*sound.faults, *sound.others, *misnamed, *faults, *doubts),
        ],
        rules=replace(rules, metrics=kept),
        policies=policies,
        named=settings["named"],
    )
    evaluations = values.sort_values(ORDER, ignore_index=True).rename(columns={"score": "value"})
    return read, result, {"evaluations": evaluations[EVALUATIONS]}


def check_evaluations(
    table: pd.DataFrame, columns: Mapping[str, Sequence[str]], policies: Policies
) -> tuple[pd.DataFrame, list[Problem]]:
    """Find the steps of checkpoints, keep one row of each value, and find what is wrong.

    A training is known by its name and its model, so trainings of two models may share a name.
    Rows without training or step are left out.
    """
    # Without a column of models the reader has found rows without a training.
    nameless = table[(table["training"] == "") & bool(columns["model"])]
    table = table[table["training"] != ""]
    steps = table["checkpoint"].map({name: read_step(name) for name in {*table["checkpoint"]}})
    lost = table[steps.isna()].drop_duplicates("checkpoint")
    table, steps = table[steps.notna()].copy(), steps.dropna()
    table["step"] = pd.Series([step for step, _ in steps], index=table.index, dtype="int64")
    kinds = table.assign(kind=pd.Series([kind for _, kind in steps], table.index, dtype="str"))
    kinds = kinds.drop_duplicates([*TRAINING, "kind"])
    found = {
        NO_TRAINING: nameless,
        NO_STEP: lost,
        MIXED_STEPS: kinds[kinds.duplicated(TRAINING)],
    }
    problems = [
        problem
        for check, rows in found.items()
        for problem in check.report(rows, column=SEPARATOR.join(columns[check.column]))
    ]
    problems += [*find_alike(table, "split"), *find_alike(table, "metric")]
    for _, own in table.drop_duplicates(TRAINING).groupby("model"):
        problems += find_alike(own, "training")
    # A value is a run of its training, checkpoint and split.
    place = table["training"].str.cat(table[["checkpoint", "split"]], sep=SEPARATOR)
    unique = resolve_duplicates(table.assign(seed=place), policy=policies.duplicates)
    kept = unique.runs.assign(seed=table.loc[unique.runs.index, "seed"])
    return kept, [*problems, *unique.problems]


def _find_gaps(
    listed: pd.DataFrame, compared: pd.DataFrame, plan: Plan, datasets: set[str]
) -> list[Problem]:
    """Find checkpoints that cannot be chosen, and what has no value to compare."""
    problems, split = [], quote_name(plan.report)
    unseen = sorted(datasets - {*compared["dataset"]})
    if 0 < len(unseen) < len(datasets):
        names = list_names(unseen)
        problems.append(tell("not_compared", unseen[0], "warning", names=names, split=split))
    reported = {*compared[TRAINING].itertuples(index=False, name=None)}
    for training, rows in listed.groupby(TRAINING):
        name, lacking = str(training[1]), rows.loc[rows["selection"].isna(), "checkpoint"]
        if len(lacking):
            first = quote_name(lacking.iloc[0])
            severity: Severity = "error" if len(lacking) == len(rows) else "warning"
            counts = {"lacking": len(lacking), "total": len(rows)}
            problems.append(tell("no_candidate", name, severity, checkpoint=first, **counts))
        if len(lacking) < len(rows) and training not in reported:
            first = quote_name(rows.loc[rows["chosen"], "checkpoint"].iloc[0])
            problems.append(tell("no_report_value", name, checkpoint=first, split=split))
    return problems
