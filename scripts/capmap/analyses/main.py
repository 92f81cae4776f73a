"""The ranking, which every study has."""

from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure, Table
from capmap.claims import claim_ranking, find_candidates
from capmap.ranking import COLUMNS, choose, compare_ranks
from capmap.ranking.dependence import Dependence
from capmap.ranking.rank_sets import BEHIND
from capmap.wording import name_statistic


def find_facts(ranking: pd.DataFrame, dependence: pd.DataFrame) -> dict[str, Any]:
    """Who is best in each scope, whether datasets are alike, and how aggregations disagree."""
    scopes = choose(ranking, unit=None)
    ranked = scopes[scopes["rank"].notna()]
    return {
        "rankings": [_summarize(own) for _, own in ranked.groupby("unit", sort=False)],
        "alike": describe_likeness(dependence),
        "unranked": scopes.loc[scopes["rank"].isna(), "model"].nunique(),
        **_compare_averages(compare_ranks(ranking)),
    }


def describe_likeness(dependence: pd.DataFrame) -> list[int]:
    """How many datasets there are and as how many they count, where they are much alike."""
    known = Dependence.read(dependence.iloc[0].to_dict())
    total = int(dependence["datasets"].iloc[0])
    return [total, round(float(known.count_effective(total)))] if known.is_alike else []


def _summarize(ranking: pd.DataFrame) -> dict[str, Any]:
    """The leader of a scope with its intervals, and who may be best."""
    leader = ranking.iloc[0]
    firsts = ranking[ranking["rank"] == leader["rank"]]
    claims = claim_ranking(ranking, unit=leader["unit"])
    is_sure = len(firsts) == 1 and pd.notna(leader["ci_low"])
    # How hard datasets are would hide differences in an interval of scores.
    is_paired = is_sure and len(ranking) > 1 and leader["unit"] == "runs_and_datasets"
    second = ranking.iloc[1] if is_paired else None
    return {
        "unit": leader["unit"],
        "statistic": leader["statistic"],
        "models": len(ranking),
        "datasets": int(leader[["datasets", "filled", "missing"]].sum()),
        "first": firsts["model"].tolist(),
        "score": leader["score"],
        "interval": [leader["ci_low"], leader["ci_high"]] if is_sure and not is_paired else [],
        "second": "" if second is None else second["model"],
        "ahead": [] if second is None else second[BEHIND].tolist(),
        "filled": int(firsts["datasets"].min()) if firsts["filled"].any() else 0,
        "best": next((claim.subject for claim in claims if claim.relation == "is best"), ""),
        "candidates": find_candidates(ranking),
        "without": ranking.loc[ranking["ci_low"].isna(), "model"].tolist(),
    }


def _compare_averages(ranks: pd.DataFrame) -> dict[str, Any]:
    """Who is first by each way to average, and how many ranks depend on it."""
    leaders: dict[tuple[str, ...], list[str]] = {}
    for kind in ranks.columns if len(ranks) > 1 else ():
        first = ranks.index[ranks[kind] == ranks[kind].min()]
        leaders.setdefault(tuple(sorted(first)), []).append(name_statistic(kind))
    moved = int((ranks.max(axis=1) > ranks.min(axis=1)).sum())
    return {"leaders": list(leaders.items()), "moved": moved}


ANALYSIS = Analysis(
    question="Which model is best, and how sure is that?",
    position=0,
    folder="tables",
    tables={
        "ranking": Table(
            "Models ranked, best first: what the headline says, then on other datasets like these "
            "(over runs and datasets), by other statistics, and in groups of datasets. Models that "
            "share a letter cannot be separated, allowing for all pairs. Of the optimality gap, "
            "less is better. Nothing is corrected for the number of groups.",
            " ".join(COLUMNS),
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
            "model dataset n mean std sem normalized_mean normalized_std",
        ),
        "dependence": Table(
            "What runs have in common. effective: share of the datasets that count, as some are "
            "alike; correlation: that of two datasets over the seeds of a model, with the p-value "
            "of a permutation test; paired: whether runs of a seed are compared between models.",
            "datasets effective expected seed_variance seed_freedom paired correlation p models",
        ),
    },
    figures={
        "intervals": Figure(
            "Score of each model with its interval, best on top; over datasets, its difference to "
            "the first model. Intervals that overlap do not show that models are equal.",
            draw="capmap.figures.forest:draw_intervals",
        ),
        "rank_shift": Figure(
            "Rank of each model by each average of scores; lines that cross are models whose order "
            "depends on it.",
            draw="capmap.figures.lines:draw_rank_shift",
        ),
        "scores": Figure(
            "Normalized score of each model on each dataset, averaged over runs; 1 is best.",
            draw="capmap.figures.datasets:draw_scores",
        ),
    },
    meanings={
        "behind": "How far the model is behind the first one.",
        "boot_high": "Upper end of the percentile interval of the bootstrap.",
        "boot_low": "Lower end of the percentile interval of the bootstrap.",
        "effective": "Share of the datasets that count.",
        "expected": "What that share would be if datasets were independent.",
        "paired": "Whether noise of a seed on a dataset is common to models.",
        "seed_freedom": "Degrees of freedom of this variance.",
        "seed_variance": "Variance over seeds of a model's mean score over datasets.",
        "correlation": "Mean correlation of two datasets over the seeds of a model.",
        "filled": "Cells that were empty and filled in, as the study asks for.",
        "missing": "Datasets of the study, or of the group, on which the model has no score.",
        "n": "Number of runs of the cell.",
    },
    find_facts=find_facts,
    options={
        "confidence_level": "bootstrap/confidence",
        "interval_method": "bootstrap/interval",
        "replicates": "bootstrap/replicates",
        "item": "columns/item",
        **{name: name for name in ("rank_by", "iqm", "failed", "incomplete", "duplicates")},
    },
)
