"""Rank the chosen checkpoints of a study, and tell how much their choice flatters them."""

import logging
from collections.abc import Mapping
from functools import partial

from capmap.artifacts import read_parquet
from capmap.checkpoints import rankings
from capmap.checkpoints.curves import trace_curves
from capmap.checkpoints.plan import Settings, plan_selection
from capmap.checkpoints.selection import choose_checkpoints, measure_optimism
from capmap.errors import ValidationError
from capmap.leaderboard.records import write_records
from capmap.normalization import Rules
from capmap.normalization.rules import DatasetRule, MetricRule
from capmap.prose.checkpoints import describe_checkpoints
from capmap.prose.paragraphs import write_paragraphs
from capmap.rng import make_stream

logger = logging.getLogger(__name__)


def rank_checkpoints(
    *,
    evaluations: str,
    checkpoints_table: list[str],
    selected: list[str],
    checkpoint_rankings: list[str],
    curves: list[str],
    text: list[str],
    settings: Settings,
    metric: str,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    n_resamples: int,
    confidence_level: float,
    seed: int,
    study: str,
) -> None:
    """Write the tables of a study's checkpoints and the paragraph about them.

    Parameters
    ----------
    evaluations : str
        All values, Parquet, of `validate_checkpoints`.
    checkpoints_table : list of str
        Where to write all checkpoints and which are chosen.
    selected : list of str
        Where to write what the choice of each training is worth.
    checkpoint_rankings : list of str
        Where to write the rankings.
    curves : list of str
        Where to write the metrics over the steps.
    text : list of str
        Where to write the paragraphs.
    settings : mapping
        The configured ``checkpoints``.
    metric : str
        The study's metric, or empty.
    metrics, datasets : mapping
        Rules of directions and metrics, as `validate_checkpoints` had them.
    n_resamples, confidence_level : int, float
        Of the intervals over datasets.
    seed : int
        Seed of the study's random streams.
    study : str
        Name of the study, part of the names of its random streams.

    Raises
    ------
    ValidationError
        If the settings do not fit the values.
    """
    values = read_parquet(evaluations).rename(columns={"value": "score"})
    plan, problems = plan_selection(
        values, settings, metric=metric, rules=Rules(metrics, datasets, {}, {})
    )
    if errors := [problem for problem in problems if problem.severity == "error"]:
        raise ValidationError("\n".join(map(str, errors)))
    listed = choose_checkpoints(values, plan)
    chosen = measure_optimism(values, listed, plan)
    ranked = rankings.rank_checkpoints(values, listed, chosen, settings.get("rankings", []), plan)
    traced = trace_curves(
        values,
        plan,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "checkpoint_curves"),
    )
    write_records(listed, checkpoints_table)
    write_records(chosen, selected)
    write_records(ranked, checkpoint_rankings)
    write_records(traced, curves)
    paragraphs = describe_checkpoints(chosen, ranked, split=plan.split, report=plan.report)
    write_paragraphs(paragraphs, text)
    logger.info("%d trainings, %d rankings", len(chosen), len(settings.get("rankings", [])))


if __name__ == "__main__":
    from job import run_job

    run_job(rank_checkpoints, snakemake)  # type: ignore[name-defined]
