"""What is known of each model and dataset: results, quality and attributes."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.spatial.distance import cdist
from scipy.stats import norm

from capmap.attributes import read_dataset_attributes, read_model_attributes
from capmap.capabilities.gaps import choose_results, find_limits, list_components, scale_scores
from capmap.errors import ValidationError
from capmap.exports.cells import SEPARATOR
from capmap.ranking.aggregation import FloatArray, compute_spearman_rho, round_significant
from capmap.renaming import rename_column
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import list_names

FEWEST = 4
NEAREST = "model place nearest map_distance untried predicted low high"
SATURATED = 0.1
MODELS = "model results kept component mean_gap architecture parameters date dropped"
DATASETS = (
    "dataset results kept component best_model best_score worst_score std saturation headroom type "
    "family dropped"
)


def describe_models(gaps: pd.DataFrame, attributes: pd.DataFrame) -> pd.DataFrame:
    """Describe the results of each model, and what else is known of it.

    Parameters
    ----------
    gaps : pandas.DataFrame
        Of `tabulate_gaps`.
    attributes : pandas.DataFrame
        Columns ``model``, ``architecture``, ``parameters`` and ``date``, at most a row per model.

    Returns
    -------
    pandas.DataFrame
        A row per model, by name: ``model``; ``results``, its number of cells; ``kept``, those that
        are kept; ``component`` (`list_components`); ``mean_gap``, from 0 to 1, over cells that are
        kept; ``architecture``; ``parameters``; ``date``; and ``dropped``: "", "few results" or "no
        dataset left" (datasets were dropped that all of its results are on). Component and mean
        gap are missing for a model that is dropped.

    Raises
    ------
    ValidationError
        If there are attributes, but none of a model that has results.
    """
    reasons = {"few results of the model": "few results"}
    table = _count_cells(gaps, "model", reasons, other="no dataset left")
    results, names = choose_results(gaps), table["model"]
    components = dict(zip(results.models, list_components(results)[0].tolist(), strict=True))
    known = attributes.set_index("model")
    _require_match(known, names, kind="model")
    known = known.reindex(names)
    table = table.assign(
        component=names.map(components).astype("Int64"),
        mean_gap=names.map(gaps.groupby("model")["gap"].mean()),
        **{name: known[name].to_numpy() for name in ("architecture", "parameters", "date")},
    )
    return table[MODELS.split()]


def describe_datasets(
    gaps: pd.DataFrame, bounds: pd.DataFrame, attributes: pd.DataFrame
) -> pd.DataFrame:
    """Describe the results of each dataset, how well it separates models, and its attributes.

    Parameters
    ----------
    gaps : pandas.DataFrame
        Of `tabulate_gaps`.
    bounds : pandas.DataFrame
        Columns ``dataset``, ``metric``, ``direction``, ``low`` and ``high``, a row per dataset.
    attributes : pandas.DataFrame
        Columns ``dataset`` and ``type``, at most a row per dataset. What is not known
        of a dataset by its name is that of the part of its name before " / ".

    Returns
    -------
    pandas.DataFrame
        A row per dataset, by name: ``dataset``; ``results``, its number of cells; ``kept``, those
        that are kept; ``component`` (`list_components`); ``best_model``, the first by name of those
        with gap 0; the raw scores ``best_score`` and ``worst_score``; ``std``, the sample standard
        deviation of raw scores; ``saturation``, the share of models with a gap of at most 0.1;
        ``headroom``, from the best score to the best that the metric allows, in the metric's unit,
        NaN where that is not known; ``type``; ``family``, the part of the name before " / "; and
        ``dropped``: "", "few results", "tied" (all models that are left have the same score) or "no
        model left" (models were dropped that all of its results are of). All but the number of
        results is about cells that are kept, and missing where none is.

    Raises
    ------
    ValidationError
        If there are attributes, but none of a dataset that has results.
    """
    reasons = {"few results on the dataset": "few results", "tied": "tied"}
    table = _count_cells(gaps, "dataset", reasons, other="no model left")
    results, names = choose_results(gaps), table["dataset"]
    components = dict(zip(results.datasets, list_components(results)[1].tolist(), strict=True))
    measures = _measure_datasets(gaps).reindex(names)
    known = attributes.set_index("dataset")["type"].astype(object)
    families = names.map(lambda name: name.split(SEPARATOR)[0])
    _require_match(known, pd.concat([names, families]), kind="dataset")
    own, shared = (known.reindex(part).to_numpy() for part in (names, families))
    table = table.assign(
        component=names.map(components).astype("Int64"),
        **{name: measures[name].to_numpy() for name in measures.columns},
        headroom=_measure_headroom(measures["best_score"], bounds),
        type=np.where(pd.notna(own), own, shared),
        family=families,
    )
    return table[DATASETS.split()]


def _count_cells(
    gaps: pd.DataFrame, kind: str, reasons: Mapping[str, str], *, other: str
) -> pd.DataFrame:
    """Number of cells, and of those that are kept; and why all of them are dropped, where so."""
    groups = gaps.groupby(kind, sort=True)["gap"]
    counts = {"results": groups.size().astype("int64"), "kept": groups.count().astype("int64")}
    table = pd.DataFrame(counts).reset_index()
    words: npt.NDArray[np.object_] = np.full(len(table), other, dtype=object)
    for reason, word in reasons.items():
        words[table[kind].isin(gaps.loc[gaps["dropped"] == reason, kind]).to_numpy()] = word
    return table.assign(dropped=np.where(table["kept"] > 0, "", words))


def _measure_datasets(gaps: pd.DataFrame) -> pd.DataFrame:
    """What is measured from the cells that are kept, by dataset."""
    kept = gaps[gaps["gap"].notna()].sort_values(["dataset", "gap", "model"])
    is_near = round_significant(kept["gap"]) <= SATURATED
    groups = kept.assign(is_near=is_near).groupby("dataset", sort=True)
    measures = {
        "best_model": groups["model"].first(),
        "std": groups["score"].std(),
        "saturation": groups["is_near"].mean(),
    }
    ends = scale_scores(gaps).set_index("dataset").add_suffix("_score")
    return pd.DataFrame(measures).join(ends)


def _require_match(
    known: "pd.DataFrame | pd.Series[str]", names: "pd.Series[str]", *, kind: str
) -> None:
    if len(known) and not known.index.isin(names).any():
        raise ValidationError(
            f"attributes: none of the {kind}s in the file has results. It has "
            f"{list_names(known.index.tolist())}; the study has "
            f"{list_names(sorted(set(names)))}. Call the column of "
            f"these names {kind}, or correct the names."
        )


def _measure_headroom(best: "pd.Series[float]", bounds: pd.DataFrame) -> FloatArray:
    """Distance of the best scores to the natural bound on their side; NaN if it is not there."""
    limits = find_limits(bounds).loc[best.index]
    is_max = (limits["best"] > limits["worst"]).to_numpy()
    reach = (limits["best"] - best).to_numpy() * np.where(is_max, 1, -1)
    return round_significant(np.where(np.isfinite(reach) & (reach >= 0), reach, np.nan))


def describe_results(
    gaps: pd.DataFrame,
    bounds: pd.DataFrame,
    model_file: Sequence[str],
    dataset_file: Sequence[str],
    *,
    model_attributes: Mapping[str, str],
    dataset_attributes: Mapping[str, str],
    renamed: Mapping[str, str],
) -> dict[str, pd.DataFrame]:
    """Describe what is known of each model and of each dataset.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    bounds : pandas.DataFrame
        Bounds of the datasets.
    model_file, dataset_file : sequence of str
        The table of attributes, or none.
    model_attributes, dataset_attributes
        As in the setting `attributes`.
    renamed : mapping of str to str
        New names of models and datasets by those of the exports; tables may have either.

    Returns
    -------
    dict
        The tables ``models`` and ``datasets``.
    """
    columns = {name: model_attributes[name] for name in ("architecture", "parameters", "date")}
    of_models = read_model_attributes(next(iter(model_file), ""), **columns)
    of_datasets = read_dataset_attributes(
        next(iter(dataset_file), ""), type=dataset_attributes["type"]
    )
    return {
        "models": describe_models(gaps, rename_column(of_models, "model", renamed)),
        "datasets": describe_datasets(gaps, bounds, rename_column(of_datasets, "dataset", renamed)),
    }


def correlate_centrality(positions: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Correlate the distance to the center with the mean gap, over models.

    Parameters
    ----------
    positions : pandas.DataFrame
        Columns ``kind``, ``name`` and ``centrality``.
    models : pandas.DataFrame
        Columns ``model`` and ``mean_gap``, missing for a model that is dropped.

    Returns
    -------
    pandas.DataFrame
        One row: ``statistic`` ("spearman_rho"), ``estimate`` from −1 to 1 (NaN where either does
        not vary), ``low`` and ``high`` of its 90% interval (NaN below 4 models), ``confidence`` and
        ``models``.

    Notes
    -----
    The interval is Fisher's with the variance (1 + ρ² / 2) / (n − 3) of Bonett and Wright (2000),
    doi:10.1007/BF02294183. It takes positions for known.

    Examples
    --------
    >>> positions = pd.DataFrame({"kind": "model", "name": ["A", "B"], "centrality": [1.0, 2.0]})
    >>> models = pd.DataFrame({"model": ["B", "A"], "mean_gap": [0.9, 0.1]})
    >>> correlate_centrality(positions, models)["estimate"].tolist()
    [1.0]
    """
    places = positions[positions["kind"] == "model"].set_index("name")["centrality"]
    gaps = models.set_index("model")["mean_gap"].dropna()
    estimate = compute_spearman_rho(places.loc[gaps.index], gaps)
    low = high = math.nan
    if len(gaps) >= FEWEST and abs(estimate) < 1:
        half = norm.ppf((1 + PREDICTION_LEVEL) / 2)
        half *= math.sqrt((1 + estimate**2 / 2) / (len(gaps) - 3))
        low, high = np.tanh(np.arctanh(estimate) + np.array([-half, half])).tolist()
    row = {"estimate": estimate, "low": low, "high": high, "confidence": PREDICTION_LEVEL}
    return pd.DataFrame([{"statistic": "spearman_rho", **row, "models": len(gaps)}])


def list_nearest(positions: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """List what each model is near, and where it is predicted best without a result.

    Parameters
    ----------
    positions : pandas.DataFrame
        Columns ``kind``, ``name``, ``component`` and ``x1`` ….
    predictions : pandas.DataFrame
        Columns ``model``, ``dataset``, ``observed``, ``predicted``, ``low`` and ``high``.

    Returns
    -------
    pandas.DataFrame
        Up to three rows per model, by name: ``model``; ``place``, from 1; ``nearest``, the dataset
        of its component with that place by distance, and ``map_distance``; and ``untried``, the
        dataset without a result of the model with that place by predicted gap, with ``predicted``,
        ``low`` and ``high``.
    """
    models, datasets = (
        positions[positions["kind"] == kind].set_index("name") for kind in ("model", "dataset")
    )
    points, others = (own.loc[:, "x1":].to_numpy(dtype=float) for own in (models, datasets))
    apart = cdist(points, others)
    is_near = models["component"].to_numpy()[:, None] == datasets["component"].to_numpy()
    rows, columns = np.nonzero(is_near)
    near = pd.DataFrame(
        {
            "model": models.index[rows],
            "nearest": datasets.index[columns],
            "map_distance": apart[rows, columns],
        }
    ).sort_values(["model", "map_distance", "nearest"])
    untried = predictions[predictions["observed"].isna() & predictions["predicted"].notna()]
    untried = untried.rename(columns={"dataset": "untried"})
    untried = untried.sort_values(["model", "predicted", "untried"])
    near, untried = (
        own.assign(place=own.groupby("model").cumcount() + 1).query("place <= 3")
        for own in (near, untried)
    )
    return near.merge(untried, on=["model", "place"], how="outer")[NEAREST.split()]


def describe_positions(
    positions: pd.DataFrame, models: pd.DataFrame, predictions: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Make the tables ``nearest`` and ``centrality`` of a study."""
    return {
        "nearest": list_nearest(positions, predictions),
        "centrality": correlate_centrality(positions, models),
    }
