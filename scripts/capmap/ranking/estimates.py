"""Models estimated with their intervals and ranked, on all datasets and on some."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from capmap.artifacts import read_parquet
from capmap.errors import ValidationError
from capmap.normalization import drop_incomplete
from capmap.problems import require_known
from capmap.ranking import COLUMNS
from capmap.ranking.aggregation import FloatArray, IntArray, arrange_runs, summarize_cells
from capmap.ranking.clusters import ItemErrors
from capmap.ranking.dependence import INDEPENDENT, Dependence, Scope, measure_dependence
from capmap.ranking.holes import Effects, find_ranked, fit_effects
from capmap.ranking.rank_sets import rank_models
from capmap.ranking.resampling import (
    STATISTICS,
    DatasetPool,
    Strata,
    draw_datasets,
    draw_resamples,
    evaluate_runs,
    evaluate_statistic,
    iterate_blocks,
    stratify_runs,
)
from capmap.ranking.standard_errors import (
    Filling,
    Interval,
    StandardError,
    WeighItems,
    bound_estimate,
    measure_error,
    percentile_interval,
)
from capmap.rng import make_stream
from capmap.settings.choices import Cut, Incomplete, IntervalMethod, Statistic, Unit
from capmap.wording import write_key

NO_ERROR = StandardError(np.nan, np.nan)
UNKNOWN = (np.nan, np.nan)
ESTIMATES = [
    *("model", "statistic", "estimate", "ci_low", "ci_high", "boot_low", "boot_high"),
    *("standard_error", "freedom", "parts_freedom", "own_freedom"),
    *("runs", "datasets", "filled", "missing", "ranked", "replicates", "parts"),
]
Read = Callable[[Mapping[str, str]], pd.DataFrame]


@dataclass(frozen=True)
class Group:
    """The runs of a group of datasets, as far as the rule for empty cells keeps them.

    Parameters
    ----------
    name : str
        Name of the group.
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, a row per run, at least one.
    effects : Effects or None
        What gives models scores on the datasets that they lack.
    """

    name: str
    runs: pd.DataFrame
    effects: Effects | None


def choose_groups(
    runs: pd.DataFrame,
    definitions: Mapping[str, Mapping[str, Any]],
    *,
    incomplete: Incomplete,
    min_datasets: str | float,
) -> list[Group]:
    """Choose the runs of each group of datasets, by name; all groups with a fault are named.

    ``drop_models`` leaves out models that lack one of the group's datasets, ``drop_datasets``
    leaves out datasets that one of the models with any run in the group lacks, and ``adjust`` ranks
    each model that has enough of the datasets with the scores that are expected on the others as
    well. Models without any run in the group are left out; with ``error``, the others have all.
    """
    if runs.empty:
        return []
    policy: Incomplete = "drop_models" if incomplete == "error" else incomplete
    groups, faults = [], []
    for name, definition in sorted(definitions.items()):
        try:
            groups.append(_choose_group(name, runs, definition["datasets"], policy, min_datasets))
        except ValidationError as error:
            faults.append(str(error))
    if faults:
        raise ValidationError("\n".join(faults))
    return groups


def _choose_group(
    name: str,
    runs: pd.DataFrame,
    datasets: list[str],
    policy: Incomplete,
    min_datasets: str | float,
) -> Group:
    wanted, option = sorted(set(datasets)), f"groups.{write_key(name)}"
    require_known(wanted, set(runs["dataset"]), option=f"{option}.datasets", kind="dataset")
    kept, _ = drop_incomplete(runs[runs["dataset"].isin(wanted)], policy=policy)
    if policy == "adjust":
        kept = kept[kept["model"].isin(find_ranked(kept, min_datasets))]
    if kept.empty:
        raise ValidationError(
            f"{option}: the rule incomplete: {policy} leaves no model of the group. Set another "
            "rule or min_datasets, or choose other datasets."
        )
    effects = None
    if policy == "adjust":
        try:
            effects = fit_effects(summarize_cells(kept))
        except ValidationError as error:
            raise ValidationError(f"{option}: {error}") from error
    return Group(name, kept, effects)


@dataclass(frozen=True)
class Options:
    """How to bootstrap.

    Parameters
    ----------
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float
        Between 0 and 1.
    interval : {"percentile", "calibrated"}
        Kind of interval.
    unit : {"runs", "seeds", "items", "runs_and_datasets"}
        What is drawn: runs within each dataset; seeds, each with its runs on all datasets, or
        items (calibrated intervals only); or datasets and runs within each drawn one.
    cut : {"exact", "whole"}
        How the interquartile mean cuts its tails.
    dependence : Dependence
        What datasets, seeds and models have in common.
    """

    n_resamples: int = 10_000
    confidence_level: float = 0.95
    interval: IntervalMethod = "calibrated"
    unit: Unit = "runs"
    cut: Cut = "exact"
    dependence: Dependence = INDEPENDENT

    @property
    def needs_seeds(self) -> bool:
        """Whether it matters which runs have the same seed."""
        return self.unit in ("seeds", "items") or self.dependence.needs_seeds


@dataclass(frozen=True)
class Estimate:
    """A statistic of a model and how sure it is.

    Parameters
    ----------
    statistic : {"iqm", "mean", "median", "optimality_gap"}
        Which one.
    estimate : float
        Its value for the runs themselves.
    low, high : float
        Ends of the interval; NaN when there is none.
    boot : tuple of float
        Ends of the percentile interval of the bootstrap; NaN when there is none.
    error : StandardError, optional
        Whatever the kind of interval; None when there is no interval.
    replicates : numpy.ndarray, shape (n_resamples,)
        Replicates; empty when there is no interval, or seeds or items are drawn.
    """

    statistic: Statistic
    estimate: float
    low: float
    high: float
    boot: Interval
    error: StandardError | None
    replicates: FloatArray


def bootstrap_model(
    strata: Strata,
    *,
    statistics: Sequence[Statistic],
    options: Options,
    rng: np.random.Generator,
    pool: DatasetPool | None = None,
    effects: Effects | None = None,
    items: WeighItems | None = None,
) -> list[Estimate]:
    """Estimate statistics of one model with intervals, all from the same resamples.

    Which models have an interval says `measure_error`. Datasets with a single run contribute
    nothing to the spread of a bootstrap.

    Examples
    --------
    >>> from capmap.rng import make_stream
    >>> [iqm] = bootstrap_model(
    ...     stratify_runs([0.8, 0.9, 0.4, 0.4], ["A", "A", "B", "B"]),
    ...     statistics=["iqm"],
    ...     options=Options(n_resamples=100, interval="percentile"),
    ...     rng=make_stream(0, "docs"),
    ... )
    >>> round(iqm.estimate, 3), round(iqm.low, 3), round(iqm.high, 3)
    (0.6, 0.6, 0.65)
    """
    filling = None
    if effects is not None and len(strata.names) < len(effects.datasets):
        strata, filling = _fill_datasets(strata, effects, options.cut)
    unit, common = options.unit, options.dependence
    errors = {
        name: measure_error(
            name, strata, unit=unit, filling=filling, dependence=common, items=items
        )
        for name in statistics
    }
    known = [name for name, error in errors.items() if error is not None]
    is_drawn = known and unit not in ("seeds", "items")
    n_resamples = options.n_resamples if is_drawn else 0
    replicates = {name: np.empty(n_resamples if name in known else 0) for name in statistics}
    for block in iterate_blocks(n_resamples, runs=len(strata.scores)):
        width = block.stop - block.start
        times = None
        if pool is not None:
            times = draw_datasets(strata.names, pool=pool, n_resamples=width, rng=rng)
        resamples = draw_resamples(strata, n_resamples=width, rng=rng, times=times)
        for name in known:
            replicates[name][block] = evaluate_statistic(name, strata, resamples)
    found, level = [], options.confidence_level
    for name, error in errors.items():
        estimate, own, interval = evaluate_runs(name, strata), replicates[name], UNKNOWN
        boot = percentile_interval(own, confidence_level=level) if len(own) else UNKNOWN
        if options.interval == "percentile":
            interval = boot
        elif error is not None:
            interval = bound_estimate(estimate, error, confidence_level=level)
        found.append(Estimate(name, estimate, *interval, boot, error, own))
    return found


@dataclass(frozen=True)
class Part:
    """Runs on which models are ranked, and how.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed`` and ``score`` (normalized, finite), a row per run,
        ``resolution`` where it is known, and ``ranked`` where some models are not.
    statistics : sequence of {"iqm", "mean", "median", "optimality_gap"}
        What to estimate.
    options : Options
        How to bootstrap.
    make_rng : callable
        Makes a random generator: ``make_rng()`` draws datasets, ``make_rng(model)`` a model's runs.
    effects : Effects, optional
        Of the datasets, for models that lack some.
    items : ItemErrors, optional
        Errors of cells on other items.
    kind, group : str
        "study", "group", "dimension" or "dataset", and its name, empty for the study.
    """

    runs: pd.DataFrame
    statistics: Sequence[Statistic]
    options: Options
    make_rng: Callable[..., np.random.Generator]
    effects: Effects | None = None
    items: ItemErrors | None = None
    kind: str = "study"
    group: str = ""


def estimate_models(
    parts: Iterable[Part], *, models: Collection[str] | None = None
) -> pd.DataFrame:
    """Estimate models, some or all of a study, with intervals: a row per part, model and statistic.

    Datasets and seeds are drawn from those of all models. Replicates are kept where intervals are
    their percentiles.
    """
    tables = [_estimate_part(part, models) for part in parts]
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def _estimate_part(part: Part, models: Collection[str] | None) -> pd.DataFrame:
    runs, options, items = part.runs, part.options, part.items
    rows = []
    datasets = sorted(runs["dataset"].unique())
    seeds = sorted(runs["seed"].unique()) if options.needs_seeds else []
    over_datasets = options.unit == "runs_and_datasets"
    chosen = runs if models is None else runs[runs["model"].isin(models)]
    for model, own in chosen.groupby("model", sort=True, observed=True):
        units = {}
        if "resolution" in own:
            units = dict(zip(own["dataset"], own["resolution"], strict=True))
        strata = stratify_runs(
            own["score"],
            own["dataset"].tolist(),
            seeds=own["seed"].tolist() if options.needs_seeds else None,
            resolutions=units,
            cut=options.cut,
        )
        is_ranked = "ranked" not in own or bool(own["ranked"].iloc[0])
        expected = part.effects if is_ranked else None
        count = len(strata.names)
        filled = len(expected.datasets) - count if expected else 0
        places, size = _place_parts(own, (datasets, seeds), options, expected)
        for found in bootstrap_model(
            strata,
            statistics=part.statistics,
            options=options,
            rng=part.make_rng(str(model)),
            pool=DatasetPool(datasets, part.make_rng()) if over_datasets else None,
            effects=expected,
            items=partial(items.weigh, str(model), strata.names) if items else None,
        ):
            error = found.error or NO_ERROR
            parts = np.empty(0) if error.parts is None else error.parts
            if len(parts) and options.unit != "items":
                parts = np.zeros(size)
                parts[places] = error.parts
            is_kept = options.interval == "percentile"
            rows.append(
                (
                    *(model, found.statistic, found.estimate, found.low, found.high, *found.boot),
                    *(error.value, error.freedom, error.parts_freedom, error.own_freedom),
                    *(len(own), count, filled, len(datasets) - count - filled),
                    *(is_ranked, found.replicates if is_kept else np.empty(0), parts),
                )
            )
    table = pd.DataFrame(rows, columns=ESTIMATES)
    return table.assign(unit=options.unit, kind=part.kind, group=part.group)


def _place_parts(
    own: pd.DataFrame,
    known: tuple[list[str], list[str]],
    options: Options,
    effects: Effects | None,
) -> tuple[IntArray, int]:
    """Places of the parts of a model's error among those of all models, and how many these are."""

    def place(names: Iterable[str], among: list[str]) -> IntArray:
        ordered = np.array(sorted(names), dtype=object)
        return np.searchsorted(np.array(among, dtype=object), ordered)

    datasets = place(own["dataset"].unique() if effects is None else effects.datasets, known[0])
    if options.unit == "runs_and_datasets":
        return datasets, len(known[0])
    if not options.needs_seeds:
        return np.empty(0, dtype=np.intp), 0
    seeds = place(own["seed"].unique(), known[1])
    if options.unit == "seeds":
        return seeds, len(known[1])
    cells = place(own["dataset"].unique(), known[0])[:, None] * len(known[1]) + seeds
    return cells.ravel(), len(known[0]) * len(known[1])


def _fill_datasets(strata: Strata, effects: Effects, cut: Cut) -> tuple[Strata, Filling]:
    """Put expected scores beside the runs, as many on each dataset as is usual for the model."""
    names, means = strata.names, np.bincount(strata.datasets, strata.scores) / strata.draws
    expected = effects.fill(dict(zip(names, means.tolist(), strict=True)))
    times = round(float(np.median(strata.draws)))
    more = [name for name in expected for _ in range(times)]
    filled = stratify_runs(
        np.concatenate([strata.scores, np.repeat(list(expected.values()), times)]),
        [*np.array(names, dtype=object)[strata.datasets], *more],
        seeds=[*strata.seeds.tolist(), *[0] * len(more)],
        resolutions=dict(zip(names, strata.resolutions.tolist(), strict=True)),
        cut=cut,
    )
    is_filled = np.array([name in expected for name in sorted(effects.datasets)])
    return filled, Filling(is_filled, effects.predict_variance(expected), effects.freedom)


def list_parts(
    runs: pd.DataFrame,
    scope: Scope,
    *,
    study: str,
    settings: Mapping[str, Any],
    groups: Sequence[Group] = (),
    dimensions: Mapping[str, Sequence[str]] | None = None,
    items: ItemErrors | None = None,
) -> Iterator[Part]:
    """List the sets of runs of a study on which models are ranked.

    On single datasets, which a leaderboard with dimensions has, only runs are drawn.
    """
    known = Dependence.read(scope["dependence"])
    options = Options(
        n_resamples=settings["replicates"],
        confidence_level=settings["confidence"],
        interval=settings["interval"],
        unit=scope["unit"],
        cut=scope["iqm"],
        dependence=known,
    )

    # Only the study's own intervals stand beside those of the bootstrap.
    plain = options if options.interval == "percentile" else replace(options, n_resamples=0)

    def adapt(own: pd.DataFrame) -> Options:
        if options.unit != "runs_and_datasets":
            return plain
        matrix = arrange_runs(own, by_seed=known.seed_variance > 0)
        return replace(plain, dependence=measure_dependence(matrix, paired=known.paired))

    stream = partial(make_stream, settings["seed"], study)
    statistics, rank_by = sorted(STATISTICS), [scope["rank_by"]]
    effects = Effects(**scope["effects"]) if scope["effects"] else None

    def draw(*model: str) -> np.random.Generator:
        return stream(*(("bootstrap", *model) if model else ("datasets",)))

    yield Part(runs, statistics, options, draw, effects, items)
    if options.unit != "runs_and_datasets":
        other = replace(options, unit="runs_and_datasets", interval="calibrated")
        yield Part(runs, ["mean"], other, draw, effects)
    for group in groups:
        draw_group = partial(stream, "groups", group.name)
        own = group.runs, statistics, adapt(group.runs), draw_group
        yield Part(*own, group.effects, items, kind="group", group=group.name)
    if dimensions is None:
        return
    for name, members in dimensions.items():
        inside = runs[runs["dataset"].isin(members)]
        draw_inside = partial(stream, "leaderboard", name)
        own = inside, rank_by, adapt(inside), draw_inside
        yield Part(*own, items=items, kind="dimension", group=name)
    alone = replace(plain, unit="runs")
    for dataset, cells in runs.groupby("dataset", sort=True, observed=True):
        draw_cell = partial(stream, "leaderboard_cells", str(dataset))
        yield Part(cells, rank_by, alone, draw_cell, kind="dataset", group=str(dataset))


def rank_study(
    read: Read, scope: Scope, *, groups: Collection[str] = (), confidence_level: float
) -> pd.DataFrame:
    """Rank the models of a study on all datasets and on groups of them.

    `read` gives the rows of `estimate_models` whose columns have some values. The headline's
    ranking comes first, then that over datasets, that by other statistics, and those of each group.
    """
    unit, rank_by, limits = scope["unit"], scope["rank_by"], read_limits(scope)
    others = [name for name in STATISTICS if name != rank_by]
    wanted = [("", unit, rank_by)]
    if unit != "runs_and_datasets":
        wanted.append(("", "runs_and_datasets", "mean"))
    wanted += [("", unit, name) for name in others]
    wanted += [(group, unit, name) for group in sorted(groups) for name in (rank_by, *others)]
    rankings = []
    # One at a time: the replicates of all together could be too much at once.
    for group, over, statistic in dict.fromkeys(wanted):
        kind = "group" if group else "study"
        models = read({"kind": kind, "group": group, "unit": over, "statistic": statistic})
        if len(models):
            rankings.append(
                rank_models(models, statistic, confidence_level=confidence_level, limits=limits)
            )
    return pd.concat(rankings, ignore_index=True).rename(columns={"estimate": "score"})[COLUMNS]


def join_estimates(paths: Sequence[str], where: Mapping[str, str]) -> pd.DataFrame:
    """Read the rows of all shards whose columns have these values; a shard may have no model."""
    tables = [read_parquet(path, where=where) for path in paths]
    filled = [table for table in tables if len(table)]
    return pd.concat(filled or tables, ignore_index=True)


def read_limits(scope: Scope) -> tuple[float, float]:
    """What normalized scores can be, on these datasets and on others like them."""
    low, high = scope["limits"]
    return -np.inf if low is None else low, np.inf if high is None else high
