"""Which models no other one beats in score at the same cost or less: the Pareto front."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.attributes import read_model_attributes
from capmap.comparison.score_matrix import BoolArray
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.ranking.models import Options, bootstrap_models
from capmap.ranking.table import choose_ranked
from capmap.renaming import rename_column
from capmap.rng import make_stream

COLUMNS = ["model", "cost", "score", "ci_low", "ci_high", "on_front", "p_front"]
COLUMNS += ["datasets"]
READ = ("architecture", "parameters", "cost", "date")


def trace_frontier(
    runs: pd.DataFrame,
    ranking: pd.DataFrame,
    model_file: Sequence[str],
    *,
    model_attributes: Mapping[str, str],
    renamed: Mapping[str, str],
    against: str,
    n_resamples: int,
    seed: int,
    study: str,
) -> pd.DataFrame:
    """Find the models that no other beats in score at the same cost or less.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed`` and ``score`` (normalized, finite), a row per run.
    ranking : pandas.DataFrame
        The columns of ``tables/ranking.csv``.
    model_file : sequence of str
        The table of attributes, or none.
    model_attributes : mapping
        As in the setting ``attributes``.
    renamed : mapping of str to str
        New names of models by those of the exports; the table may have either.
    against : {"parameters", "cost", "date"}
        What a model costs; of dates the earlier costs less, and the cost is the year with its
        decimals.
    n_resamples, seed
        As in the settings of the bootstrap.
    study : str
        Name of the study, part of the names of its random streams.

    Returns
    -------
    pandas.DataFrame
        The columns of `COLUMNS`, the cheapest first; those whose cost is not known have no place
        on the front. ``p_front`` is the share of bootstrap resamples in which a model is on the
        front of those with a cost; empty where no run can be drawn anew on its own (seeds are
        shared), or scores are expected from other models.
    """
    ranked = choose_ranked(ranking)
    columns = {name: model_attributes[name] for name in READ}
    known = read_model_attributes(next(iter(model_file), ""), **columns)
    known = rename_column(known, "model", renamed)
    costs = known.set_index("model")[against].dropna()
    if against == "date":
        costs = costs.map(_read_year)
    table = ranked.assign(cost=ranked["model"].map(costs).astype(float))
    table = table.sort_values(["cost", "score", "model"], ascending=[True, False, True])
    priced = table["cost"].notna().to_numpy()
    cost, score = (table.loc[priced, name].to_numpy(float) for name in ("cost", "score"))
    is_front = np.zeros(len(table), dtype=bool)
    is_front[priced] = find_front(cost, score[:, None])[:, 0]
    share = np.full(len(table), np.nan)
    statistic, unit = ranked[["statistic", "unit"]].iloc[0]
    if unit != "seeds" and not table["filled"].any() and table["ci_low"].notna().any():
        drawn = _resample(
            runs[runs["model"].isin(table.loc[priced, "model"])],
            statistic,
            Options(n_resamples, 0.95, "percentile", unit),
            partial(make_stream, seed, study, "frontier"),
        )
        scores = [drawn[model] for model in table.loc[priced, "model"]]
        if scores:
            share[priced] = find_front(cost, np.array(scores)).mean(axis=1)
    return table.assign(on_front=is_front, p_front=share)[COLUMNS].reset_index(drop=True)


def find_front(costs: npt.ArrayLike, scores: FloatArray) -> BoolArray:
    """Which models are on the Pareto front.

    Parameters
    ----------
    costs : array_like, shape (models,)
        Lower is better.
    scores : numpy.ndarray, shape (models, resamples)
        Higher is better; those of each column are compared, to 12 digits as ranks are.

    Returns
    -------
    numpy.ndarray of bool, shape (models, resamples)
        False where another model costs no more, scores no less, and is better in one of both.

    Examples
    --------
    >>> find_front([1, 2, 2, 3], np.array([[0.5], [0.6], [0.4], [0.6]]))[:, 0].tolist()
    [True, True, False, False]
    >>> find_front([1, 2], np.array([[0.3], [0.1 + 0.2]]))[:, 0].tolist()
    [True, False]
    """
    costs, scores = np.asarray(costs, float), round_significant(scores)
    front = np.zeros(scores.shape, dtype=bool)
    best = np.full(scores.shape[1], -np.inf)
    for cost in np.unique(costs):
        same = costs == cost
        top = scores[same].max(axis=0)
        front[same] = (scores[same] == top) & (top > best)
        best = np.maximum(best, top)
    return front


def _resample(runs: pd.DataFrame, statistic: Any, options: Options, make_rng: Any) -> Any:
    """Bootstrap replicates of each model's statistic."""
    found = bootstrap_models(runs, statistics=[statistic], options=options, make_rng=make_rng)
    if found.empty:
        return {}
    size = max(len(own) for own in found["replicates"])
    return {
        model: own if len(own) else np.full(size, estimate)
        for model, own, estimate in zip(
            found["model"], found["replicates"], found["estimate"], strict=True
        )
    }


def _read_year(text: str) -> float:
    day = date.fromisoformat(text)
    start = date(day.year, 1, 1)
    return day.year + (day - start).days / (date(day.year + 1, 1, 1) - start).days


def find_facts(frontier: pd.DataFrame) -> dict[str, Any]:
    """Which models are on the front, and in what share of resamples."""
    priced = frontier.dropna(subset="cost")
    front = priced[priced["on_front"].astype(bool)]
    return {
        "priced": len(priced),
        "lacking": len(frontier) - len(priced),
        "front": front[["model", "p_front"]].to_numpy().tolist(),
        "has_shares": bool(front["p_front"].notna().any()),
    }


ANALYSIS = Analysis(
    question="Which models are worth their cost?",
    position=70,
    needs="frontier/against",
    tables={
        "frontier": Table(
            "Score and cost of each model, and the share of resamples with it on the Pareto front.",
            "model cost score ci_low ci_high on_front p_front datasets",
        )
    },
    figures={
        "frontier": Figure(
            "Score of each model with its interval against its cost, and the Pareto front.",
            draw="capmap.figures.frontier:draw_frontier",
            reads=["frontier"],
            options={"against": "frontier/against"},
        )
    },
    steps={
        "trace_frontier": Step(
            trace_frontier,
            tables=["frontier"],
            reads=["runs", "ranking"],
            paths=["model_file"],
            options={
                "model_attributes": "attributes/models",
                "renamed": "figures/names",
                "against": "frontier/against",
                "n_resamples": "bootstrap/replicates",
                "seed": "bootstrap/seed",
            },
        )
    },
    find_facts=find_facts,
    meanings={
        "cost": "Cost of the model, as its attributes say.",
        "on_front": "Whether no other model scores as high at the same cost or less.",
    },
)
