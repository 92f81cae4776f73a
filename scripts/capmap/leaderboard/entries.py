"""What the entries of a leaderboard are, and their scores and ranks by dimension and dataset."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from capmap.artifacts import read_json
from capmap.benchmarks import Benchmark, complete_rules, read_benchmark
from capmap.exports import Exports
from capmap.exports.reading import check_digests
from capmap.exports.submissions import BACKBONE, METHOD, NAME, read_submissions
from capmap.exports.submissions import ROLES as COLUMNS
from capmap.metrics import find_metric
from capmap.normalization import Rules, convert_scores, find_transform
from capmap.normalization.bounds import find_limits
from capmap.problems import Problem, RowCheck, ask_nearest
from capmap.ranking.aggregation import rank_competitors, summarize_cells
from capmap.ranking.estimates import join_estimates
from capmap.ranking.rank_sets import rank_models
from capmap.ranking.resampling import STATISTICS
from capmap.settings.choices import Statistic
from capmap.validation import Policies, Validation, validate_runs
from capmap.validation.contradictions import rename_runs
from capmap.wording import ALL, list_metrics, list_names

ABOUT = ["model", "method", "name", "backbone", "size", "submission"]
PARTS = ("method", "backbone", "submission")
DESCRIBED = ("paper", "code", "license", "hpo_trials", "information", "comments")
COUNTS = ("models", "runs", "datasets")
ORDER = ["method", "name", "model", "dataset"]
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


def rank_entries(
    exported: pd.DataFrame,
    runs: pd.DataFrame,
    ranking: pd.DataFrame,
    bounds: pd.DataFrame,
    replicates: Sequence[str],
    descriptions: Sequence[str],
    benchmark: Sequence[str],
    *,
    dimension_datasets: Mapping[str, list[str]],
    confidence_level: float,
) -> dict[str, pd.DataFrame]:
    """Rank the entries by method and dimension, and the best of each backbone.

    Of `exported` and normalized runs, with estimates and `replicates` of each dimension; on all
    datasets they are those of the study, by what the `ranking` says ranks its models.
    """
    about, _ = _describe(exported, descriptions, benchmark)
    cells, (unit, statistic) = summarize_cells(runs), ranking[["unit", "statistic"]].iloc[0]
    common = {"unit": unit, "statistic": statistic}
    wanted = {ALL: sorted(set(cells["dataset"])), **dimension_datasets}
    ranked = {}
    for name, members in wanted.items():
        kind = ("study", "") if name == ALL else ("dimension", name)
        ranked[name] = rank_dimension(
            join_estimates(replicates, {"kind": kind[0], "group": kind[1], **common}),
            cells[cells["dataset"].isin(members)],
            about,
            expected=len(set(members)),
            statistic=statistic,
            confidence_level=confidence_level,
            limits=find_limits(bounds, runs),
        ).assign(dimension=name)
    dimensions = pd.concat(ranked.values(), ignore_index=True)
    return {
        "entries": ranked[ALL],
        "dimensions": dimensions.sort_values("method", kind="stable", ignore_index=True),
        "best": choose_best(ranked[ALL], statistic=statistic),
    }


def rank_dimension(
    estimates: pd.DataFrame,
    cells: pd.DataFrame,
    about: pd.DataFrame,
    *,
    expected: int,
    statistic: Statistic = "iqm",
    confidence_level: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> pd.DataFrame:
    """Rank the entries of one dimension within each method.

    Only entries with all the `expected` datasets are ranked, so no other moves a rank. By method;
    within one the ranked entries by rank, then the others, ties by name.

    ``bootstrap_mean`` is the mean of the replicates and ``bootstrap_sem`` their standard deviation
    (n − 1) divided by the root of their number: the numerical error of ``bootstrap_mean``, which
    shrinks with more replicates and does not say how sure a score is.
    """
    means = {model: own.mean() for model, own in cells.groupby("model")["mean"]}
    draws = [own if len(own) > 1 else np.full(2, np.nan) for own in estimates["replicates"]]
    table = estimates.assign(
        mean=estimates["model"].map(means),
        bootstrap_mean=[own.mean() for own in draws],
        bootstrap_sem=[own.std(ddof=1) / np.sqrt(len(own)) for own in draws],
        expected=expected,
        complete=estimates["datasets"] == expected,
        ranked=estimates["datasets"] == expected,
    ).merge(about, on="model", validate="one_to_one")
    parts = [own for _, own in table.groupby("method")] or [table]
    ranking = pd.concat(
        rank_models(own, statistic, confidence_level=confidence_level, limits=limits)
        for own in parts
    )
    ranking = ranking.sort_values(["method", "rank", "name", "model"], ignore_index=True)
    ranking = ranking.drop(columns=statistic, errors="ignore")
    return ranking.rename(columns={"estimate": statistic})


def choose_best(entries: pd.DataFrame, *, statistic: Statistic = "iqm") -> pd.DataFrame:
    """Choose the best complete entry of each backbone within each method, and rank these anew.

    Of entries whose score is equal to 12 significant digits the one whose submission comes first by
    name is chosen, then the one whose model does. ``submissions`` says how many submissions have
    an entry of this backbone and method. The interval does not know that the best was chosen.
    """
    keys = ["method", "backbone"]
    offered = entries.groupby(keys)["submission"].nunique().rename("submissions").reset_index()
    ranked = entries[entries["complete"]]
    first = ranked[_rank_within(ranked, keys, statistic) == 1]
    table = first.sort_values(["submission", "model"]).drop_duplicates(keys)
    table = table.drop(columns="rank").merge(offered, on=keys, how="left", validate="one_to_one")
    table["rank"] = _rank_within(table, ["method"], statistic)
    return table.sort_values(["method", "rank", "name", "backbone"], ignore_index=True)


def _rank_within(table: pd.DataFrame, keys: list[str], statistic: Statistic) -> "pd.Series[int]":
    """Competition ranks by a statistic among the rows that share the keys."""
    best = STATISTICS[statistic].best
    scores = table.groupby(keys)[statistic]
    return scores.transform(lambda own: rank_competitors(own, best=best)).astype("int64")


def summarize_entries(
    exported: pd.DataFrame,
    ranking: pd.DataFrame,
    replicates: Sequence[str],
    descriptions: Sequence[str],
    benchmark: Sequence[str],
) -> dict[str, pd.DataFrame]:
    """Summarize raw and normalized scores per dataset, and the submissions."""
    about, records = _describe(exported, descriptions, benchmark)
    cells = join_estimates(replicates, {"kind": "dataset"})
    return {
        "raw": summarize_raw(exported, about),
        "normalized": rank_cells(cells, about, statistic=ranking["statistic"].iloc[0]),
        "submissions": summarize_submissions(exported, records),
    }


def rank_cells(
    cells: pd.DataFrame, about: pd.DataFrame, *, statistic: Statistic = "iqm"
) -> pd.DataFrame:
    """Rank the entries on each dataset within each method, by estimates on single datasets."""
    cells = cells.rename(columns={"group": "dataset", "runs": "seeds", "estimate": statistic})
    table = cells.merge(about, on="model", validate="many_to_one")
    table["rank"] = _rank_within(table, ["method", "dataset"], statistic)
    return table.sort_values(ORDER, ignore_index=True)


def summarize_raw(runs: pd.DataFrame, about: pd.DataFrame) -> pd.DataFrame:
    """Average the submitted scores of each cell in the units of their metric."""
    metrics = runs.drop_duplicates(["model", "dataset"])[["model", "dataset", "metric"]]
    cells = summarize_cells(runs).rename(columns={"n": "seeds"})
    table = cells.merge(metrics, on=["model", "dataset"], validate="one_to_one")
    table = table.merge(about, on="model", validate="many_to_one")
    return table.sort_values(ORDER, ignore_index=True)


def _describe(
    exported: pd.DataFrame, descriptions: Sequence[str], benchmark: Sequence[str]
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """What each model is, and what the submissions say of themselves."""
    records = [record for path in descriptions for record in read_json(path)["submissions"]]
    models = {
        key: vars(model) for path in benchmark for key, model in read_benchmark(path).models.items()
    }
    return describe_entries(exported, submissions=records, models=models), records


def describe_entries(
    runs: pd.DataFrame,
    *,
    submissions: Sequence[Mapping[str, Any]],
    models: Mapping[str, Mapping[str, str]],
) -> pd.DataFrame:
    """Say of each model what it is: method, display name, backbone, size and submission.

    A part that the runs of a model do not agree on describes runs, and is left empty; the backbone
    is then the model itself. The benchmark's display name and size (`models`) win over those of the
    entry's own submission, and these over those of the first other submission by name. Without
    any, the name is the backbone.
    """
    groups = runs.groupby("model", sort=True)
    table = groups.size().index.to_frame(index=False)
    for part in PARTS:
        table[part] = ""
        if part in runs:
            is_one = groups[part].nunique(dropna=False).to_numpy() == 1
            table[part] = groups[part].first().where(is_one).fillna("").to_numpy()
    table["backbone"] = table["backbone"].where(table["backbone"] != "", table["model"])
    described: dict[str, dict[str, Mapping[str, str]]] = {}
    for record in sorted(submissions, key=lambda record: str(record["name"])):
        for model in record.get("models", []):
            described.setdefault(model["key"], {})[record["name"]] = model
    names, sizes = [], []
    for backbone, own in zip(table["backbone"], table["submission"], strict=True):
        found = described.get(backbone, {})
        records = [models.get(backbone, {}), found.get(own, {}), *found.values()]
        names.append(_find_first(records, "name") or backbone)
        sizes.append(_find_first(records, "size"))
    return table.assign(name=names, size=sizes)[ABOUT].astype("str")


def _find_first(records: Iterable[Mapping[str, str]], field: str) -> str:
    """First text that stands in a field; empty where there is none."""
    return next((record[field] for record in records if record.get(field)), "")


def summarize_submissions(
    runs: pd.DataFrame, submissions: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """List the submissions by name, with their backbones, runs and datasets and their own words."""
    rows = []
    for record in sorted(submissions, key=lambda record: str(record["name"])):
        own = runs[runs["submission"] == record["name"]]
        counts = (own["backbone"].nunique(), len(own), own["dataset"].nunique())
        words = (str(record.get(name) or "") for name in DESCRIBED)
        rows.append((record["name"], *counts, *words))
    table = pd.DataFrame(rows, columns=["submission", *COUNTS, *DESCRIBED]).astype("str")
    return table.astype(dict.fromkeys(COUNTS, "int64"))


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
