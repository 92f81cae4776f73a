"""The ranking, which every study has."""

from typing import Any

import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Table
from capmap.claims import claim_ranking, find_candidates
from capmap.wording import name_statistic


def find_facts(scopes: pd.DataFrame, aggregate: pd.DataFrame, iqm: pd.DataFrame) -> dict[str, Any]:
    """Who is best in each scope, and how the aggregations disagree."""
    ranked = scopes[scopes["rank"].notna()]
    return {
        "rankings": [_summarize(own) for _, own in ranked.groupby("unit", sort=False)],
        "unranked": scopes.loc[scopes["rank"].isna(), "model"].nunique(),
        **_compare_aggregations(aggregate, iqm),
    }


def _summarize(ranking: pd.DataFrame) -> dict[str, Any]:
    """The leader of a scope with its intervals, and who may be best."""
    leader = ranking.iloc[0]
    firsts = ranking[ranking["rank"] == leader["rank"]]
    claims = claim_ranking(ranking, unit=leader["unit"])
    is_sure = len(firsts) == 1 and pd.notna(leader["ci_low"])
    return {
        "unit": leader["unit"],
        "statistic": leader["statistic"],
        "models": len(ranking),
        "datasets": int(leader[["datasets", "filled", "missing"]].sum()),
        "first": firsts["model"].tolist(),
        "score": leader["score"],
        "interval": [leader["ci_low"], leader["ci_high"]] if is_sure else [],
        # The wider one allows for having chosen the leader.
        "interval_all": (
            [leader["ci_low_all"], leader["ci_high_all"]] if is_sure and len(ranking) > 1 else []
        ),
        "filled": int(firsts["datasets"].min()) if firsts["filled"].any() else 0,
        "best": next((claim.subject for claim in claims if claim.relation == "is best"), ""),
        "candidates": find_candidates(ranking),
        "without": ranking.loc[ranking["ci_low"].isna(), "model"].tolist(),
    }


def _compare_aggregations(aggregate: pd.DataFrame, iqm: pd.DataFrame) -> dict[str, Any]:
    """Who is first by each aggregation, and whose rank depends on it most."""
    columns = [name for name in aggregate.columns if name.startswith("rank_")]
    ranks = aggregate.set_index("model")[columns].rename(columns=lambda name: name[5:])
    ranks["iqm"] = iqm.set_index("model")["rank"].reindex(ranks.index)
    ranks = ranks.dropna()
    if len(ranks) < 2:
        return {"leaders": [], "moved": 0}
    leaders: dict[tuple[str, ...], list[str]] = {}
    for kind in ranks.columns:
        first = ranks.index[ranks[kind] == ranks[kind].min()]
        leaders.setdefault(tuple(sorted(first)), []).append(name_statistic(kind))
    span = (ranks.max(axis=1) - ranks.min(axis=1)).sort_index()
    mover = str(span.idxmax())
    own = ranks[ranks.index == mover].to_numpy()
    return {
        "leaders": list(leaders.items()),
        "moved": int((span > 0).sum()),
        "mover": mover,
        "mover_low": int(own.min()),
        "mover_high": int(own.max()),
    }


ANALYSIS = Analysis(
    question="Which model is best, and how sure is that?",
    position=0,
    folder="tables",
    tables={
        "iqm": Table(
            "Models by interquartile mean (IQM), with intervals and sets of ranks. Models that "
            "share a letter cannot be separated, allowing for all pairs.",
            "model iqm ci_low ci_high rank rank_low rank_high rank_low_all rank_high_all "
            "may_be_best runs datasets filled tie_group",
            best={"iqm": "max"},
            formats="csv tex",
        ),
        "scopes": Table(
            "The ranking on these datasets (over runs or seeds) and on other datasets like these "
            "(over runs and datasets).",
            "unit statistic model score ci_low ci_high ci_low_all ci_high_all rank rank_low "
            "rank_high rank_low_all rank_high_all may_be_best runs datasets filled missing "
            "tie_group",
            formats="csv tex",
        ),
        "intervals": Table(
            "Every statistic with its interval, rank and set of ranks. Of the optimality gap, less "
            "is better.",
            "statistic model estimate ci_low ci_high rank rank_low rank_high",
        ),
        "aggregate": Table(
            "Scores and ranks by each aggregation of the datasets' scores, in the order of the "
            "first.",
            "model",
            more=True,
        ),
        "scores": Table(
            "Normalized score of each model on each dataset, averaged over runs; 1 is best. A cell "
            "without runs is empty.",
            "model",
            more=True,
            formats="csv tex",
        ),
        "seeds": Table(
            "Number and spread of the runs in each cell: of scores as exported, after transforms, "
            "then of normalized ones.",
            "model dataset n mean std sem min max iqm normalized_mean normalized_std "
            "normalized_sem normalized_min normalized_max normalized_iqm",
        ),
        "shared_seeds": Table(
            "Whether runs of a seed on different datasets move together: the mean correlation of "
            "two datasets over the seeds of a model, and the p-value of a permutation test.",
            "correlation p models",
        ),
    },
    figures={
        "intervals": Figure(
            "Score of each model with its interval, best on top. Intervals that overlap do not "
            "show that models are equal.",
            draw="capmap.figures.rankings:draw_intervals",
            reads=["scopes"],
        ),
        "rank_shift": Figure(
            "Rank of each model by each aggregation; lines that cross are models whose order "
            "depends on it.",
            draw="capmap.figures.rankings:draw_rank_shift",
            reads=["aggregate", "iqm"],
        ),
        "scores": Figure(
            "Normalized score of each model on each dataset, averaged over runs; 1 is best.",
            draw="capmap.figures.datasets:draw_scores",
            reads=["scores", "seeds"],
            order="aggregate",
        ),
        "seed_spread": Figure(
            "Spread of normalized scores over the runs of a cell, per dataset.",
            draw="capmap.figures.datasets:draw_seed_spread",
            reads=["seeds"],
        ),
        "runs_per_cell": Figure(
            "Number of runs of each model on each dataset; empty cells have none.",
            draw="capmap.figures.datasets:draw_runs_per_cell",
            reads=["seeds"],
            order="aggregate",
        ),
    },
    meanings={
        "ci_high_all": "Upper end of the interval that holds for all models at once.",
        "ci_low_all": "Lower end of the interval that holds for all models at once.",
        "correlation": "Mean correlation of two datasets over the seeds of a model.",
        "filled": "Cells that were empty and filled in, as the study asks for.",
        "max": "Largest score over runs, as exported.",
        "may_be_best": "Whether the model is in the confidence set of the best one.",
        "min": "Smallest score over runs, as exported.",
        "missing": "Datasets of the study, or of the group, on which the model has no score.",
        "n": "Number of runs of the cell.",
        "normalized_iqm": "Interquartile mean of normalized scores over runs.",
        "normalized_max": "Largest normalized score over runs.",
        "normalized_mean": "Mean normalized score over runs.",
        "normalized_min": "Smallest normalized score over runs.",
        "normalized_sem": "Standard error of the mean normalized score over runs.",
        "normalized_std": "Standard deviation of normalized scores over runs.",
    },
    find_facts=find_facts,
    options={
        "confidence_level": "bootstrap/confidence",
        "interval_method": "bootstrap/interval",
        "replicates": "bootstrap/replicates",
        "rank_by": "rank_by",
        "failed": "failed",
        "incomplete": "incomplete",
        "duplicates": "duplicates",
    },
)
