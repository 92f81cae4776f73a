"""How alike two conditions of the same models, such as two studies, rank them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Step, Table
from capmap.artifacts import read_parquet
from capmap.ranking.aggregation import compute_kendall_tau, rank_competitors
from capmap.ranking.resampling import evaluate_runs, stratify_runs
from capmap.settings.choices import Cut

CELL = ["model", "dataset"]
AGREEMENT = ["condition", "kendall_tau", "models", "datasets"]
RANKS = ["condition", "model", "score", "rank", "score_other", "rank_other", "change"]
# Of the parts of a path of runs, its study.
STUDY_PART = -3


def compare_conditions(
    runs: pd.DataFrame, others: Sequence[str], *, cut: Cut
) -> dict[str, pd.DataFrame]:
    """Compare the ranking of a study with those of other studies, from files of their runs."""
    agreement, ranks = [], [pd.DataFrame(columns=RANKS)]
    for path in sorted(others):
        other = read_parquet(path)
        row, own = compare_condition(runs, other[other["ranked"]], cut)
        name = Path(path).parts[STUDY_PART]
        agreement.append((name, *row))
        ranks += [own.assign(condition=name)[RANKS]] if len(own) else []
    return {
        "conditions": pd.DataFrame(agreement, columns=AGREEMENT),
        "condition_ranks": pd.concat(ranks, ignore_index=True),
    }


def compare_condition(
    runs: pd.DataFrame, other: pd.DataFrame, cut: Cut = "exact"
) -> tuple[tuple[float, int, int], pd.DataFrame]:
    """Compare how two conditions rank the models that both have, by interquartile means.

    Compared are cells that have runs in both, so the two scores of a model rest on the same
    datasets, but those of two models need not. Kendall's tau-b is NaN for fewer than two models or
    datasets.
    """
    cells = runs[CELL].drop_duplicates().merge(other[CELL].drop_duplicates(), on=CELL)
    models, datasets = cells["model"].nunique(), cells["dataset"].nunique()
    here, there = (_score_models(side.merge(cells, on=CELL), cut) for side in (runs, other))
    ranks, others = rank_competitors(here), rank_competitors(there)
    columns = {"score": here, "rank": ranks, "score_other": there, "rank_other": others}
    table = pd.DataFrame({**columns, "change": others - ranks}).rename_axis("model").reset_index()
    tau = compute_kendall_tau(ranks, others) if min(models, datasets) > 1 else np.nan
    return (tau, models, datasets), table.sort_values(["rank", "model"], ignore_index=True)


def _score_models(runs: pd.DataFrame, cut: Cut) -> "pd.Series[float]":
    scores = {}
    for model, own in runs.groupby("model", sort=True, observed=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist(), cut=cut)
        scores[str(model)] = evaluate_runs("iqm", strata)
    return pd.Series(scores, dtype="float64")


def find_facts(conditions: pd.DataFrame, condition_ranks: pd.DataFrame) -> dict[str, Any]:
    """How well the order agrees with that of each condition, and which models move most."""
    taus = conditions.sort_values("kendall_tau", kind="stable")
    places = condition_ranks["change"].abs().fillna(0)
    movers = condition_ranks.loc[(places == places.max()) & (places > 0), "model"]
    return {
        "taus": taus[["condition", "kendall_tau"]].to_numpy().tolist(),
        "most": int(places.max()) if len(places) else 0,
        "movers": sorted({*movers}),
    }


ANALYSIS = Analysis(
    question="Does the order depend on the condition?",
    position=110,
    default=True,
    needs="conditions",
    tables={
        "conditions": Table(
            "Rank correlation with other conditions, on the datasets that both have.",
            " ".join(AGREEMENT),
        ),
        "condition_ranks": Table(
            "Score and rank of each model under both conditions, and the difference of its ranks.",
            " ".join(RANKS),
        ),
    },
    steps={"compare_conditions": Step(compare_conditions, paths=["others"])},
    find_facts=find_facts,
    meanings={
        "conditions.kendall_tau": "Kendall's rank correlation of both rankings, -1 to 1.",
        "rank_other": "Rank under the other condition.",
        "score_other": "Score under the other condition.",
    },
)
