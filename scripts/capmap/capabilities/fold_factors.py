"""Cross-validation of embeddings, and of the factors once for all numbers of dimensions."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from capmap.artifacts import read_parquet
from capmap.capabilities.crossvalidation import FACTORS, crossvalidate_study
from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.factors import Moments, Pairs, gather_attributes
from capmap.capabilities.gaps import Results, choose_results
from capmap.capabilities.halves import Fitting, fit_map
from capmap.capabilities.stacking import fit_stack_factors, gather_members, predict_stack
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream


def make_stack_stream(seed: int, study: str) -> np.random.Generator:
    """Make the random generator of each stack of a cross-validation."""
    return make_stream(seed, study, "capabilities", "stack")


def crossvalidate_factors(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    n_splits: int,
    held_out: int,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Predict the hidden results by the factors alone.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    models, datasets : pandas.DataFrame
        From `capmap.capabilities.quality.describe_results`, for their attributes.
    study : str
        Name of the study, part of the names of its random streams.
    n_splits, held_out
        As in the setting `capabilities`.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The files ``factors``, as those of other methods, and ``factor_fits``: what
        `fit_stack_factors` returns in each of the fits, by the numbers ``fit`` and ``part``.
    """
    results = choose_results(gaps)
    attributes = gather_attributes(results, models, datasets)
    found: list[list[Moments]] = []

    def fit(known: Results, rows: IntArray, columns: IntArray) -> dict[str, FloatArray]:
        pairs, rng = Pairs(rows, columns), make_stack_stream(seed, study)
        found.append(fit_stack_factors(known, pairs, attributes, rng=rng))
        return {FACTORS: gather_members(known, pairs, [], [], found[-1][-1]).gaps[:, 0]}

    table = crossvalidate_study(
        results,
        fit,
        datasets,
        study=study,
        n_splits=n_splits,
        held_out=held_out,
        seed=seed,
    )
    fits = [
        pd.DataFrame({"fit": number, "part": part, **moments._asdict()})
        for number, own in enumerate(found)
        for part, moments in enumerate(own)
    ]
    empty = pd.DataFrame(columns=["fit", "part", *Moments._fields])
    return {"factors": table, "factor_fits": pd.concat(fits or [empty], ignore_index=True)}


def restore_factors(tables: Sequence[pd.DataFrame]) -> Iterator[list[Moments]]:
    """The factors of one fit after the other, from tables ``factor_fits``."""
    for table in tables:
        for _, own in table.groupby("fit", sort=True):
            yield [
                Moments(part["mean"].to_numpy(), part["variance"].to_numpy())
                for _, part in own.groupby("part", sort=True)
            ]


def crossvalidate_embedding(
    gaps: pd.DataFrame,
    datasets: pd.DataFrame,
    factor_fits: Sequence[str],
    *,
    study: str,
    method: str,
    dimension: int,
    n_splits: int,
    held_out: int,
    n_starts: int,
    seed: int,
) -> pd.DataFrame:
    """Predict the hidden results by one method in one dimension.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    datasets : pandas.DataFrame
        Columns ``dataset`` and ``family``.
    factor_fits : sequence of str
        Fits of `crossvalidate_factors`, Parquet; none for a method without factors.
    study : str
        Name of the study, part of the names of its random streams.
    method : str
        One of `METHODS`.
    dimension : int
        Number of coordinates.
    n_splits, held_out
        As in the setting `capabilities`.
    n_starts : int
        Number of starts of a method with a penalty; others have one.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    pandas.DataFrame
        As `crossvalidate_study`.
    """
    results = choose_results(gaps)
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    fitting = Fitting(METHODS[method], starts)
    fits = restore_factors([*map(read_parquet, factor_fits)])

    def fit(known: Results, rows: IntArray, columns: IntArray) -> dict[str, FloatArray]:
        if len(fitting.methods) == 1:
            return {method: fit_map(known, fitting)(rows, columns)}
        pairs, rng = Pairs(rows, columns), make_stack_stream(seed, study)
        return {method: predict_stack(known, pairs, fitting, next(fits), rng=rng)}

    return crossvalidate_study(
        results,
        fit,
        datasets,
        study=study,
        n_splits=n_splits,
        held_out=held_out,
        seed=seed,
        dimension=dimension,
    )
