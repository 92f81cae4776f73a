"""Choose results of models and datasets as if they were new, by several policies."""

import logging
from functools import partial

from capmap.artifacts import read_table
from capmap.capabilities.choice_replay import (
    measure_savings,
    replay_datasets,
    replay_models,
    tabulate_curves,
)
from capmap.capabilities.choices import prefer_offsets
from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts
from capmap.capabilities.gaps import choose_results
from capmap.rng import make_stream
from capmap.settings.choices import FitMethod
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def replay_choices(
    *,
    gaps: str,
    dataset_replay: list[str],
    dataset_savings: list[str],
    model_replay: list[str],
    study: str,
    method: FitMethod,
    dimension: int,
    n_starts: int,
    confidence_level: float,
    seed: int,
) -> None:
    """Write how far each policy gets with how many results.

    Parameters
    ----------
    gaps : str
        Gaps of all cells, CSV.
    dataset_replay : list of str
        Where to write errors by the number of results of a model.
    dataset_savings : list of str
        Where to write how many results policies need to get as far as random choice.
    model_replay : list of str
        Where to write regrets by the number of models tried on a dataset.
    study : str
        Name of the study, part of the names of its random streams.
    method : {"ensemble", "l2", "cosine", "poincare"}
        What is fitted; of an ensemble, the methods of `prefer_offsets`.
    dimension : int
        Number of coordinates.
    n_starts : int
        Number of random starts, for methods that average fits.
    confidence_level : float
        Of the intervals of errors, savings and regrets, between 0 and 1.
    seed : int
        Seed of the study's random streams.
    """
    results = choose_results(read_table(gaps))
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    fit = partial(fit_starts, methods=prefer_offsets(METHODS[method]), starts=starts)
    make_rng = partial(make_stream, seed, study, "capabilities", "choices")
    errors = replay_datasets(results, fit=fit, make_rng=partial(make_rng, "model"))
    regrets = replay_models(results, fit=fit)
    tabulate = partial(tabulate_curves, confidence_level=confidence_level)
    savings = measure_savings(errors, confidence_level=confidence_level, rng=make_rng("savings"))
    write_table(savings, dataset_savings)
    write_table(tabulate(errors, choices="results", value="error", things="models"), dataset_replay)
    write_table(tabulate(regrets, choices="tried", value="regret", things="datasets"), model_replay)
    logger.info("%d models, %d datasets", len(errors.candidates), len(regrets.candidates))


if __name__ == "__main__":
    from job import run_job

    run_job(replay_choices, snakemake)  # type: ignore[name-defined]
