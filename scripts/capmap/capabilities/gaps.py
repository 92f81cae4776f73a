"""Gaps to the best model of each dataset, of the results that are enough to place by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from capmap.attributes import read_attributes
from capmap.errors import ValidationError
from capmap.exports.cells import SEPARATOR
from capmap.metrics import find_metric
from capmap.ranking.aggregation import FloatArray, IntArray, round_significant, summarize_cells
from capmap.rng import combine_keys, hash_names
from capmap.wording import list_names, rename_column

BoolArray = npt.NDArray[np.bool_]

COLUMNS = ["model", "dataset", "score", "normalized", "absolute_gap", "gap", "dropped"]
FEWEST = 2
SHARE, PERCENT = (0.0, 1.0), 100.0
MODELS = "model results kept component mean_gap architecture parameters date"
DATASETS = "dataset results kept component type family"


@dataclass(frozen=True)
class Results:
    """The filled cells of models × datasets.

    Parameters
    ----------
    models, datasets : list of str
        By name.
    rows, columns : ndarray of int, shape (results,)
        Places of each result's model and dataset in these lists, in order of rows, then columns.
    scores : ndarray, shape (results,)
        Higher is better.
    gaps : ndarray, shape (results,)
        Distance to the best model of the dataset, divided by that of the worst one.
    """

    models: list[str]
    datasets: list[str]
    rows: IntArray
    columns: IntArray
    scores: FloatArray
    gaps: FloatArray

    @property
    def per_model(self) -> IntArray:
        """Number of results of each model."""
        return np.bincount(self.rows, minlength=len(self.models))

    @property
    def per_dataset(self) -> IntArray:
        """Number of results of each dataset."""
        return np.bincount(self.columns, minlength=len(self.datasets))

    def choose(self, chosen: BoolArray | IntArray) -> "Results":
        """Some of the results, by a mask or by places in order; all names stay."""
        return replace(
            self,
            rows=self.rows[chosen],
            columns=self.columns[chosen],
            scores=self.scores[chosen],
            gaps=self.gaps[chosen],
        )


def order_by_names(results: Results, rng: np.random.Generator) -> IntArray:
    """Places of the results in random order.

    Each has a number from the random generator and the names of its model and its dataset, so that
    other results come in between and move nothing else.
    """
    root = rng.integers(2**64, size=1, dtype=np.uint64)
    models = combine_keys(root, hash_names(results.models))[results.rows]
    return np.argsort(combine_keys(models, hash_names(results.datasets)[results.columns]))


def arrange_results(cells: pd.DataFrame) -> Results:
    """Arrange scores by the names of models and datasets, and measure their gaps.

    The order of the rows has no influence. Scores are rounded to 12 significant digits, so that
    rounding noise never is a range; the gap of a dataset whose scores are all the same is 0.
    """
    cells = cells.sort_values(["model", "dataset"], kind="stable")
    models, rows = np.unique(cells["model"].astype(object), return_inverse=True)
    datasets, columns = np.unique(cells["dataset"].astype(object), return_inverse=True)
    scores = round_significant(cells["score"].to_numpy(dtype=float))
    gaps = measure_gaps(scores, columns, *bound_scores(scores, columns, len(datasets)))
    return Results(models.tolist(), datasets.tolist(), rows, columns, scores, gaps)


def bound_scores(
    scores: FloatArray, columns: IntArray, datasets: int
) -> tuple[FloatArray, FloatArray]:
    """Find the worst and the best score of each dataset; NaN for one without scores."""
    groups = pd.Series(scores).groupby(columns)
    worst, best = (
        np.asarray(own.reindex(range(datasets)), dtype=np.float64)
        for own in (groups.min(), groups.max())
    )
    return worst, best


def measure_gaps(
    scores: FloatArray, columns: IntArray, worst: FloatArray, best: FloatArray
) -> FloatArray:
    """Measure the gap to the best model: (best − score) / (best − worst).

    0 is best and 1 worst; outside of both for a score beyond the bounds. 0 where the bounds are
    equal, NaN where there are none. Adorni et al. (2025), arXiv:2505.03299, section 3.
    """
    ranges = np.asarray((best - worst)[columns])
    flat = ranges == 0
    gaps = (best[columns] - scores) / np.where(flat, 1.0, ranges)
    return np.where(flat, 0.0, gaps)


def explain_dropped(cells: pd.DataFrame, *, min_results: int) -> npt.NDArray[np.object_]:
    """Say of each cell why it is dropped, if it is.

    Models and datasets with fewer results than `min_results` are dropped, and so on until none is
    left to drop. What is kept does not depend on the order of dropping, except that a dataset may
    be tied only once models are gone; so few results are looked for first, and ties after that.
    """
    scores = round_significant(cells["score"].to_numpy(dtype=float))
    table = cells[["model", "dataset"]].reset_index(drop=True).assign(score=scores, reason="")
    while True:
        kept = table[table["reason"] == ""]
        of_models, of_datasets = (kept.groupby(name)["score"] for name in ("model", "dataset"))
        for reason, found in (
            ("few results of the model", of_models.transform("size") < min_results),
            ("few results on the dataset", of_datasets.transform("size") < min_results),
            ("tied", of_datasets.transform("min") == of_datasets.transform("max")),
        ):
            if found.any():
                table.loc[found.index[found], "reason"] = reason
                break
        else:
            return table["reason"].to_numpy(dtype=object)


def list_components(results: Results) -> tuple[IntArray, IntArray]:
    """Number the parts of the graph of models and datasets that no result connects, from 1.

    The largest first (by results, then by name of the first model); 0 for a model or dataset
    without results.
    """
    models, datasets = len(results.models), len(results.datasets)
    nodes = models + datasets
    edges = (np.ones(len(results.rows)), (results.rows, models + results.columns))
    labels = connected_components(coo_array(edges, shape=(nodes, nodes)), directed=False)[1]
    sizes = np.bincount(labels[results.rows], minlength=labels.max(initial=-1) + 1)
    firsts = np.unique(labels, return_index=True)[1]
    order = np.lexsort((firsts, -sizes))
    numbers = np.empty(len(sizes), dtype=np.intp)
    numbers[order] = np.arange(1, len(sizes) + 1)
    numbers[sizes == 0] = 0
    return numbers[labels[:models]], numbers[labels[models:]]


def are_connected(results: Results, rows: IntArray, columns: IntArray) -> BoolArray:
    """Whether results connect the model and the dataset of each pair, by their places."""
    models, datasets = list_components(results)
    return np.asarray((models[rows] == datasets[columns]) & (models[rows] > 0))


def tabulate_gaps(runs: pd.DataFrame, bounds: pd.DataFrame, *, min_results: int) -> pd.DataFrame:
    """Measure the gap of each cell to the best model of its dataset.

    Raw scores come from normalized ones, ``low + s (high − low)`` where higher is better and
    ``high − s (high − low)`` where lower is. They and absolute gaps are rounded to 12 significant
    digits, so that they read as they were written.
    """
    cells = summarize_cells(runs)[["model", "dataset", "mean"]].rename(columns={"mean": "score"})
    reasons = explain_dropped(cells, min_results=min_results)
    kept = reasons == ""
    if min(cells.loc[kept, ["model", "dataset"]].nunique()) < FEWEST:
        raise ValidationError(
            f"capabilities: less than {FEWEST} models or {FEWEST} datasets are left once those "
            f"with less than {min_results} results, and datasets whose models all tie, are "
            "dropped. Lower `capabilities: {min_results: …}`, add results of models on datasets "
            'that others have, or leave "capabilities" out of `analyses`.'
        )
    normalized = cells["score"].to_numpy(dtype=float)
    table = cells.assign(
        score=_restore_scores(cells["dataset"], normalized, bounds),
        normalized=normalized,
        absolute_gap=np.nan,
        gap=np.nan,
        dropped=reasons,
    )
    results = arrange_results(cells[kept])
    table.loc[kept, "gap"] = results.gaps
    best = scale_scores(table).set_index("dataset")["best"].loc[table["dataset"][kept]].to_numpy()
    apart = np.abs(table["score"].to_numpy()[kept] - best)
    table.loc[kept, "absolute_gap"] = round_significant(apart)
    return table[COLUMNS]


def choose_results(gaps: pd.DataFrame) -> Results:
    """Arrange the cells that are kept; scores are normalized."""
    kept = gaps.loc[gaps["gap"].notna(), ["model", "dataset", "normalized"]]
    return arrange_results(kept.rename(columns={"normalized": "score"}))


def scale_scores(gaps: pd.DataFrame) -> pd.DataFrame:
    """Find the raw scores between which gaps are measured: a gap g is best + g (worst − best).

    Examples
    --------
    >>> gaps = pd.DataFrame({"dataset": ["D", "D"], "score": [0.25, 0.75], "gap": [0.0, 1.0]})
    >>> scale_scores(gaps).to_dict("list")
    {'dataset': ['D'], 'best': [0.25], 'worst': [0.75]}
    """
    kept = gaps[gaps["gap"].notna()].sort_values(["dataset", "gap"], kind="stable")
    scores = kept.groupby("dataset", sort=True, observed=True)["score"]
    return pd.DataFrame({"best": scores.first(), "worst": scores.last()}).reset_index()


def _restore_scores(
    datasets: "pd.Series[str]", normalized: FloatArray, bounds: pd.DataFrame
) -> FloatArray:
    """Turn normalized scores into raw ones, in a form that is exact at both bounds."""
    own = bounds.set_index("dataset").loc[datasets.tolist()]
    low, high = (own[side].to_numpy(dtype=float) for side in ("low", "high"))
    is_max = (own["direction"] == "max").to_numpy(dtype=bool)
    share = np.where(is_max, normalized, 1 - normalized)
    return round_significant(low * (1 - share) + high * share)


def find_limits(bounds: pd.DataFrame) -> pd.DataFrame:
    """Find the best and the worst score that the metric of each dataset allows, infinite without.

    A metric from 0 to 1 is in percent on all datasets if one of them has a bound beyond 1 and none
    has one beyond 100.

    Examples
    --------
    >>> bounds = {"dataset": ["D"], "metric": ["rmse"], "direction": ["min"]}
    >>> find_limits(pd.DataFrame(bounds | {"low": [1.0], "high": [9.0]})).loc["D"].tolist()
    [0.0, inf]
    """
    largest = bounds.groupby("metric")["high"].max()
    rows = []
    for row in bounds.to_dict("records"):
        metric = find_metric(str(row["metric"]))
        low, high = (metric.low, metric.high) if metric else (None, None)
        if (low, high) == SHARE and 1 < largest[row["metric"]] <= PERCENT:
            high = PERCENT
        ends = (-np.inf if low is None else low, np.inf if high is None else high)
        rows.append(ends[::-1] if row["direction"] == "max" else ends)
    index = pd.Index(bounds["dataset"], name="dataset")
    return pd.DataFrame(rows, index=index, columns=["best", "worst"], dtype=float)


def open_ends(predictions: pd.DataFrame, bounds: pd.DataFrame) -> pd.DataFrame:
    """Move the open ends of intervals of scores to what the metric allows, and none beyond.

    A gap is from the best to the worst known result, so where there is no result, an interval that
    reaches 0 or 1 is open: the score may be a new best or worst. Without a bound of the metric such
    an end is infinite. Of n results in random order, a further one is beyond all with a probability
    of 2 / (n + 1). With closed ends, intervals of 90% held 69 to 83% of simulated scores that were
    not there.
    """
    limits = find_limits(bounds).loc[predictions["dataset"]]
    best, worst = (limits[name].to_numpy(dtype=float) for name in ("best", "worst"))
    least, most = np.minimum(best, worst), np.maximum(best, worst)
    # A metric whose bounds predictions are beyond is not what its name says.
    middle = predictions["predicted_score"]
    unsound = ~middle.between(least, most) & middle.notna()
    least, most = np.where(unsound, -np.inf, least), np.where(unsound, np.inf, most)
    is_new = predictions["observed"].isna()
    at_best, at_worst = is_new & (predictions["low"] <= 0), is_new & (predictions["high"] >= 1)
    opens_up = np.where(best > worst, at_best, at_worst)
    opens_down = np.where(best > worst, at_worst, at_best)
    return predictions.assign(
        score_low=np.where(opens_down, least, predictions["score_low"].clip(least, most)),
        score_high=np.where(opens_up, most, predictions["score_high"].clip(least, most)),
    )


def describe_models(gaps: pd.DataFrame, attributes: pd.DataFrame) -> pd.DataFrame:
    """Describe the results of each model, and what else is known of it."""
    table = _count_cells(gaps, "model")
    known = attributes.set_index("model")
    _require_match(known, table.index, kind="model")
    table = table.join(known[["architecture", "parameters", "date"]])
    table["mean_gap"] = gaps.groupby("model")["gap"].mean()
    return table.reset_index()[MODELS.split()]


def describe_datasets(gaps: pd.DataFrame, attributes: pd.DataFrame) -> pd.DataFrame:
    """Describe the results of each dataset, and what else is known of it.

    The family is the part of the name before " / ", whose type holds where that of the name is not
    known.
    """
    table = _count_cells(gaps, "dataset")
    known = attributes.set_index("dataset")["type"].astype(object)
    families = table.index.map(lambda name: name.split(SEPARATOR)[0])
    _require_match(known, table.index.append(families), kind="dataset")
    own, shared = (known.reindex(part).to_numpy() for part in (table.index, families))
    table = table.assign(type=np.where(pd.notna(own), own, shared), family=families)
    return table.reset_index()[DATASETS.split()]


def _count_cells(gaps: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Number of cells, and of those that are kept, and component of each model or dataset."""
    groups, results = gaps.groupby(kind, sort=True)["gap"], choose_results(gaps)
    side = ("model", "dataset").index(kind)
    names, numbers = (results.models, results.datasets)[side], list_components(results)[side]
    table = pd.DataFrame({"results": groups.size(), "kept": groups.count()}).astype("int64")
    return table.assign(component=pd.Series(numbers, names, dtype="Int64"))


def _require_match(known: "pd.DataFrame | pd.Series[str]", names: pd.Index, *, kind: str) -> None:
    if len(known) and not known.index.isin(names).any():
        raise ValidationError(
            f"attributes: none of the {kind}s in the file has results. It has "
            f"{list_names(known.index.tolist())}; the study has {list_names(sorted(set(names)))}. "
            f"Call the column of these names {kind}, or correct the names."
        )


def describe_results(
    runs: pd.DataFrame,
    bounds: pd.DataFrame,
    model_file: Sequence[str],
    dataset_file: Sequence[str],
    *,
    min_results: int,
    model_attributes: Mapping[str, str],
    dataset_attributes: Mapping[str, str],
    renamed: Mapping[str, str],
) -> dict[str, pd.DataFrame]:
    """Measure gaps, and describe what is known of each model and of each dataset.

    Tables of attributes may have names of the exports or those for readers, `renamed`.
    """
    gaps = tabulate_gaps(runs, bounds, min_results=min_results)
    columns = {name: model_attributes[name] for name in ("architecture", "parameters", "date")}
    of_models = read_attributes("".join(model_file), "model", columns)
    columns = {"type": dataset_attributes["type"]}
    of_datasets = read_attributes("".join(dataset_file), "dataset", columns)
    return {
        "gaps": gaps,
        "models": describe_models(gaps, rename_column(of_models, "model", renamed)),
        "datasets": describe_datasets(gaps, rename_column(of_datasets, "dataset", renamed)),
    }
