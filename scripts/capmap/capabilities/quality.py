"""What is known of each model and dataset: results, quality and attributes."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from capmap.attributes import read_dataset_attributes, read_model_attributes
from capmap.capabilities.gaps import (
    choose_results,
    find_duplicates,
    find_limits,
    list_components,
    scale_scores,
)
from capmap.comparison.correlation import compute_spearman_rho
from capmap.errors import ValidationError
from capmap.exports.cells import SEPARATOR
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.renaming import rename_column
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import list_names

FEWEST = 4

SATURATED = 0.1
MODELS = (
    *("model", "results", "kept", "component", "duplicate_of", "mean_gap"),
    *("architecture", "parameters", "date", "dropped"),
)
DATASETS = (
    *("dataset", "results", "kept", "component", "duplicate_of", "best_model"),
    *("best_score", "worst_score", "std", "saturation", "headroom", "type", "family", "dropped"),
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
        are kept; ``component`` (`list_components`); ``duplicate_of``, the first model with the same
        scores (`find_duplicates`), else ""; ``mean_gap``, from 0 to 1, over cells that are kept;
        ``architecture``; ``parameters``; ``date``; and ``dropped``: "", "few results" or "no
        dataset left" (datasets were dropped that all of its results are on). Component and mean
        gap are missing for a model that is dropped.

    Raises
    ------
    ValidationError
        If there are attributes, but none of a model that has results.
    """
    table = _count_cells(gaps, "model")
    results = choose_results(gaps)
    components = dict(zip(results.models, list_components(results)[0].tolist(), strict=True))
    duplicates = find_duplicates(results, "model")
    few = gaps.loc[gaps["dropped"] == "few results of the model", "model"]
    known = attributes.set_index("model")
    _require_match(known, table["model"], kind="model")
    known = known.reindex(table["model"])
    table = table.assign(
        component=table["model"].map(components).astype("Int64"),
        duplicate_of=[duplicates.get(name, "") for name in table["model"]],
        mean_gap=table["model"].map(gaps.groupby("model")["gap"].mean()),
        **{name: known[name].to_numpy() for name in ("architecture", "parameters", "date")},
        dropped=_explain(table, "model", {"few results": few}, other="no dataset left"),
    )
    return table[list(MODELS)]


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
        that are kept; ``component`` (`list_components`); ``duplicate_of``, the first dataset with
        the same scores (`find_duplicates`), else ""; ``best_model``, the first by name of those
        with gap 0; the raw scores ``best_score`` and ``worst_score``; ``std``, the sample standard
        deviation of raw scores; ``saturation``, the share of models with a gap of at most 0.1;
        ``headroom``, from the best score to the best that the metric allows, in the metric's unit,
        NaN where that is not known; ``type``; ``family``, the part of the name before " / " where
        it is not among the attributes; and ``dropped``: "", "few results", "tied" (all models that
        are left have the same score) or "no model left" (models were dropped that all of its
        results are of). All but the number of results is about cells that are kept, and missing
        where none is.

    Raises
    ------
    ValidationError
        If there are attributes, but none of a dataset that has results.
    """
    table = _count_cells(gaps, "dataset")
    results = choose_results(gaps)
    components = dict(zip(results.datasets, list_components(results)[1].tolist(), strict=True))
    duplicates = find_duplicates(results, "dataset")
    names = table["dataset"]
    few = gaps.loc[gaps["dropped"] == "few results on the dataset", "dataset"]
    tied = gaps.loc[gaps["dropped"] == "tied", "dataset"]
    measures = _measure_datasets(gaps).reindex(names)
    table = table.assign(
        component=names.map(components).astype("Int64"),
        duplicate_of=[duplicates.get(name, "") for name in names],
        **{name: measures[name].to_numpy() for name in measures.columns},
        headroom=_measure_headroom(measures["best_score"], bounds),
        **_find_kinds(names, attributes),
        dropped=_explain(
            table, "dataset", {"few results": few, "tied": tied}, other="no model left"
        ),
    )
    return table[list(DATASETS)]


def _count_cells(gaps: pd.DataFrame, kind: str) -> pd.DataFrame:
    groups = gaps.groupby(kind, sort=True)["gap"]
    counts = {"results": groups.size().astype("int64"), "kept": groups.count().astype("int64")}
    return pd.DataFrame(counts).reset_index()


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


def _explain(
    table: pd.DataFrame, kind: str, reasons: "Mapping[str, pd.Series[str]]", *, other: str
) -> npt.NDArray[np.object_]:
    """Say why a model or dataset without kept cells is dropped."""
    words = np.full(len(table), other, dtype=object)
    for word, names in reasons.items():
        words[table[kind].isin(names).to_numpy()] = word
    words[(table["kept"] > 0).to_numpy()] = ""
    return words


def _find_kinds(names: "pd.Series[str]", attributes: pd.DataFrame) -> "dict[str, pd.Series[str]]":
    """Type of datasets, and their family: the part of the name before the separator."""
    known = attributes.set_index("dataset").astype(object)
    fronts = names.map(lambda name: name.split(SEPARATOR)[0])
    _require_match(known, pd.concat([names, fronts]), kind="dataset")
    own, shared = (known["type"].reindex(part).to_numpy() for part in (names, fronts))
    return {"type": pd.Series(own, dtype=object).where(pd.notna(own), shared), "family": fronts}


def _require_match(known: pd.DataFrame, names: "pd.Series[str]", *, kind: str) -> None:
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
    columns = ("architecture", "parameters", "date")
    of_models = read_model_attributes(
        next(iter(model_file), ""), **{name: model_attributes[name] for name in columns}
    )
    of_datasets = read_dataset_attributes(
        next(iter(dataset_file), ""),
        type=dataset_attributes["type"],
    )
    of_models = rename_column(of_models, "model", renamed)
    of_datasets = rename_column(of_datasets, "dataset", renamed)
    return {
        "models": describe_models(gaps, of_models),
        "datasets": describe_datasets(gaps, bounds, of_datasets),
    }


def correlate_centrality(
    positions: pd.DataFrame, models: pd.DataFrame, *, confidence_level: float = PREDICTION_LEVEL
) -> pd.DataFrame:
    """Correlate the distance to the center with the mean gap, over models.

    Parameters
    ----------
    positions : pandas.DataFrame
        Columns ``kind``, ``name`` and ``centrality``.
    models : pandas.DataFrame
        Columns ``model`` and ``mean_gap``, missing for a model that is dropped.
    confidence_level : float
        Of the interval, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        One row: ``statistic`` ("spearman_rho"), ``estimate`` from −1 to 1 (NaN where either does
        not vary), ``low`` and ``high`` (NaN below 4 models), ``confidence`` and ``models``.

    Notes
    -----
    The interval is Fisher's with the variance (1 + ρ² / 2) / (n − 3) of Bonett and Wright (2000),
    doi:10.1007/BF02294183. It takes positions for known.

    Examples
    --------
    >>> positions = pd.DataFrame({"kind": "model", "name": ["A", "B"], "centrality": [1.0, 2.0]})
    >>> models = pd.DataFrame({"model": ["B", "A"], "mean_gap": [0.9, 0.1]})
    >>> correlate_centrality(positions, models, confidence_level=0.9)["estimate"].tolist()
    [1.0]
    """
    places = positions[positions["kind"] == "model"].set_index("name")["centrality"]
    gaps = models.set_index("model")["mean_gap"].dropna()
    count = len(gaps)
    ranks, others = (
        side.rank(method="dense").to_numpy().astype(np.intp)[:, None]
        for side in (places.loc[gaps.index], gaps)
    )
    estimate = float(compute_spearman_rho(ranks, others)[0])
    low = high = math.nan
    if count >= FEWEST and abs(estimate) < 1:
        half = norm.ppf((1 + confidence_level) / 2)
        half *= math.sqrt((1 + estimate**2 / 2) / (count - 3))
        low, high = np.tanh(np.arctanh(estimate) + np.array([-half, half])).tolist()
    row = {"estimate": estimate, "low": low, "high": high, "confidence": confidence_level}
    return pd.DataFrame([{"statistic": "spearman_rho", **row, "models": count}])
