"""Whether what models do on some datasets predicts what they do on others."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.gaps import BoolArray, Results, choose_results
from capmap.capabilities.halves import (
    HALVINGS,
    Fitting,
    MakeRng,
    list_halves,
    predict_additive,
    predict_hidden,
    summarize_errors,
    tabulate_predictions,
)
from capmap.rng import make_stream
from capmap.wording import format_count

Names = tuple[str, str, str]
Label = TypeVar("Label", bound=Hashable)

FEWEST_DATASETS = 5
MOST_TYPES = 6
FEWEST_FAMILIES = 5
DRAWS = 5
REST = ""
ONE_OTHER, ALL_OTHERS, EACH = "one other type", "all other datasets", "each type"
TESTED_SHARE = 4
TRANSFER = [
    *("kind", "trained_on", "tested_on", "models", "datasets", "train_results", "predictions"),
    *("mse", "mse_low", "mse_high", "mse_alone", "mse_additive", "mse_all", "pearson"),
    *("difference", "difference_low", "difference_high"),
]
OTHERS = {"alone": "mse_alone", "additive": "mse_additive", "all": "mse_all"}


class Trial(NamedTuple):
    """Predictions of some datasets by a map that also knows others.

    Parameters
    ----------
    train_results : int
        Number of results of those others.
    predictions : pandas.DataFrame
        As from `tabulate_predictions`.
    """

    train_results: int
    predictions: pd.DataFrame


def measure_transfer(
    results: Results,
    *,
    types: Sequence[str],
    families: Sequence[str],
    fitting: Fitting,
    confidence_level: float,
    make_rng: MakeRng,
) -> pd.DataFrame:
    """Measure how much the results on some datasets help to predict those on others.

    Parameters
    ----------
    results : Results
        At least one.
    types, families : sequence of str
        Of each dataset; "" for a type that is not known.
    fitting : Fitting
        How maps are fitted.
    confidence_level : float
        Of the intervals, between 0 and 1.
    make_rng : callable
        Makes the random generator of the names it is given.

    Returns
    -------
    pandas.DataFrame
        Rows of three kinds: ``type``, by names of types, for each type that is trained on and each
        other one that is tested on; ``types``, one row for all of these pairs together ("one other
        type") and one for training on whatever is not of the tested type ("all other datasets");
        and ``families``, for growing numbers of families that are trained on. Columns: ``kind``,
        ``trained_on``, ``tested_on``, ``models`` and ``datasets`` (with predictions),
        ``train_results`` (of what is trained on; the mean where a row stands for several),
        ``predictions`` (results), and mean squared errors: ``mse`` of the map with its interval
        ``mse_low`` to ``mse_high``; ``mse_alone``, without what is trained on; ``mse_additive``, of
        the additive baseline; and ``mse_all``, when all other datasets are trained on; then
        Pearson's ``pearson`` of predictions and truth, and ``difference``, mse − mse_alone, with
        its interval ``difference_low`` to ``difference_high``: below 0 where training on others
        helps.

    Notes
    -----
    Of each family that is tested on, a random half of the models is hidden, then the other half;
    the variants of a family are hidden together, as each predicts the others. A map of the results
    that are not hidden and of those that are trained on predicts the hidden ones. The other
    predictions, of the same results, differ only in what is trained on, and the additive baseline
    in what is fitted.

    Types are those with at least 5 datasets, the 6 with the most datasets if there are more (then
    by name), and models are hidden three times. Only models are tested that have results on the
    type that is trained on, or on any of the families that are not tested on.

    Of the families, a random quarter is tested on, and 5, 10, 20, … up to all of the others are
    trained on; the more include the fewer, and all are tested on the same results. That is drawn
    5 times. With one family there are no such rows.

    A result that is predicted more than once counts once, with its mean squared error.

    Gaps are measured by the best and worst model of all results. A model without known results is
    predicted by the mean of the dataset; a dataset without known results is not tested. Intervals
    are over models (`estimate_mean`); those of squared errors end at 0. They do not have the
    chance in which halves and families are drawn, so one that just excludes 0 proves little.
    """
    found: dict[Names, list[Trial]] = {}
    for names, trial in (
        *_test_types(results, types, families, fitting, make_rng),
        *_test_families(results, families, fitting, make_rng),
    ):
        found.setdefault(names, []).append(trial)
    rows = [_summarize(names, own, confidence_level) for names, own in found.items()]
    return pd.DataFrame([row for row in rows if row["predictions"]], columns=TRANSFER)


def choose_types(types: Sequence[str]) -> list[str]:
    """Choose the types with enough datasets to be trained and tested on, by name.

    Examples
    --------
    >>> choose_types(["a"] * 5 + ["b"] * 4 + [""] * 9)
    ['a']
    """
    names, counts = np.unique(np.array([*types], dtype=object), return_counts=True)
    enough = [
        (-count, name)
        for name, count in zip(names.tolist(), counts.tolist(), strict=True)
        if name and count >= FEWEST_DATASETS
    ]
    return sorted(name for _, name in sorted(enough)[:MOST_TYPES])


def list_sizes(families: int) -> list[int]:
    """List how many families are trained on, up to all that there are.

    Examples
    --------
    >>> list_sizes(31), list_sizes(20), list_sizes(3)
    ([5, 10, 20, 31], [5, 10, 20], [3])
    """
    sizes = []
    size = FEWEST_FAMILIES
    while size < families:
        sizes.append(size)
        size *= 2
    return [*sizes, families]


def _test_types(
    results: Results,
    types: Sequence[str],
    families: Sequence[str],
    fitting: Fitting,
    make_rng: MakeRng,
) -> list[tuple[Names, Trial]]:
    chosen = choose_types(types)
    members = {name: np.array([own == name for own in types])[results.columns] for name in chosen}
    found: list[tuple[Names, Trial]] = []
    for tested in chosen:
        trained = {name: members[name] for name in chosen if name != tested}
        trained[REST] = ~members[tested]
        trials = _predict_tested(
            results,
            members[tested],
            trained,
            families=families,
            fitting=fitting,
            n_draws=HALVINGS,
            make_rng=partial(make_rng, "type", tested),
        )
        for name, trial in trials:
            kept = _keep_models(results, trial, trained[name])
            if name != REST:
                found.append((("type", name, tested), kept))
            found.append((("types", ALL_OTHERS if name == REST else ONE_OTHER, EACH), kept))
    return sorted(found, key=lambda pair: (pair[0][0], pair[0][1:] == (ALL_OTHERS, EACH), pair[0]))


def _test_families(
    results: Results, families: Sequence[str], fitting: Fitting, make_rng: MakeRng
) -> list[tuple[Names, Trial]]:
    names = sorted(set(families))
    tested = -(-len(names) // TESTED_SHARE)
    sizes = list_sizes(len(names) - tested) if len(names) > tested else []
    found = []
    for draw in range(DRAWS if sizes else 0):
        order = make_rng("families", str(draw)).permutation(np.array(names, dtype=object))
        place = {name: number - tested for number, name in enumerate(order)}
        places = np.array([place[family] for family in families])[results.columns]
        trials = _predict_tested(
            results,
            places < 0,
            {size: (places >= 0) & (places < size) for size in sizes},
            families=families,
            fitting=fitting,
            n_draws=1,
            make_rng=partial(make_rng, "families", str(draw)),
        )
        for size, trial in trials:
            label = format_count(size, "family", "families")
            kept = _keep_models(results, trial, places >= 0)
            found.append((("families", label, "other families"), kept))
    return found


def _predict_tested(
    results: Results,
    tested: BoolArray,
    trained: Mapping[Label, BoolArray],
    *,
    families: Sequence[str],
    fitting: Fitting,
    n_draws: int,
    make_rng: MakeRng,
) -> list[tuple[Label, Trial]]:
    """Predict each half of the tested results, for everything that may be trained on."""
    family = [families[column] for column in results.columns]
    model = [results.models[row] for row in results.rows]
    halves = list_halves(family, model, n_draws=n_draws, make_rng=make_rng)
    pairs = pd.factorize(pd.Series(list(zip(model, family, strict=True))))[0]
    parts: dict[Label, list[pd.DataFrame]] = {label: [] for label in trained}
    for half in halves:
        known = tested & half
        has_known = results.choose(known).per_dataset > 0
        hidden = tested & ~half & has_known[results.columns]
        spared = ~np.isin(pairs, pairs[hidden])
        shared = {
            "alone": predict_hidden(results, known, hidden, fitting=fitting),
            "all": predict_hidden(results, known | (~tested & spared), hidden, fitting=fitting),
        }
        for label, others in trained.items():
            train = known | (others & spared)
            is_all = np.array_equal(others, ~tested)
            own = {
                "prediction": shared["all"]
                if is_all
                else predict_hidden(results, train, hidden, fitting=fitting),
                "additive": predict_additive(results, train, hidden),
            }
            parts[label].append(tabulate_predictions(results, hidden, own | shared))
    return [
        (label, Trial(int(others.sum()), pd.concat(parts[label], ignore_index=True)))
        for label, others in trained.items()
    ]


def _keep_models(results: Results, trial: Trial, chosen: BoolArray) -> Trial:
    """Keep the predictions of models that have some of the chosen results."""
    is_there = results.choose(chosen).per_model > 0
    own = trial.predictions
    return trial._replace(predictions=own[is_there[own["model"].to_numpy(dtype=np.intp)]])


def _summarize(names: Names, trials: Sequence[Trial], confidence_level: float) -> dict[str, object]:
    found = pd.concat([trial.predictions for trial in trials], ignore_index=True)
    errors = summarize_errors(
        found, others=OTHERS, reference="alone", confidence_level=confidence_level
    )
    kind, trained_on, tested_on = names
    return {
        "kind": kind,
        "trained_on": trained_on,
        "tested_on": tested_on,
        "train_results": round(float(np.mean([trial.train_results for trial in trials]))),
        **errors,
    }


def check_transfer(
    gaps: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Predict types and families of datasets from others.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    datasets : pandas.DataFrame
        Columns ``dataset``, ``type`` and ``family``.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension, n_starts
        As in the setting `capabilities`.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    pandas.DataFrame
        The table ``transfer``.
    """
    results = choose_results(gaps)
    attributes = datasets.set_index("dataset").loc[results.datasets]
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    return measure_transfer(
        results,
        types=attributes["type"].fillna("").tolist(),
        families=attributes["family"].tolist(),
        fitting=Fitting(METHODS[method], starts),
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "transfer"),
    )
