"""The tables of metrics and of rank shifts of a whole study."""

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd

from capmap.errors import ValidationError
from capmap.multilabel.metrics import ORDER
from capmap.multilabel.published import PUBLISHED
from capmap.multilabel.rankings import SHIFTS, shift_ranks
from capmap.wording import find_nearest, list_names, quote_name


def arrange_metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """Sort metrics by model, dataset and seed, then in their usual order and by subgroup.

    Parameters
    ----------
    scores : pandas.DataFrame
        The columns of `capmap.multilabel.published.PUBLISHED`.

    Returns
    -------
    pandas.DataFrame
        The same rows and columns.
    """
    places = {name: place for place, name in enumerate(ORDER)}
    keys = ["model", "dataset", "seed", "place", "subgroup"]
    table = scores.assign(place=scores["metric"].map(places))
    return table.sort_values(keys, ignore_index=True)[list(PUBLISHED)].astype(PUBLISHED)


def shift_all_ranks(
    summary: pd.DataFrame, *, images: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """Compare ranks by top-1 accuracy and by ASMA for all pairs of datasets that have them.

    Parameters
    ----------
    summary : pandas.DataFrame
        From `capmap.multilabel.rankings.summarize_models`.
    images : mapping of str to int, optional
        Number of images of the datasets whose top-1 accuracies are rounded, as published ones are.
        By default values are exact.

    Returns
    -------
    pandas.DataFrame
        The rows of `capmap.multilabel.rankings.shift_ranks`, by ``dataset_top1`` and
        ``dataset_asma``. Where ``dataset_top1`` is in `images`, ties count the ranks that rounding
        is expected to have hidden; elsewhere ranks are plain dense ranks.

    Raises
    ------
    ValidationError
        If `images` names a dataset without top-1 accuracies.
    """
    known = images or {}
    sides = [
        sorted(set(summary.loc[summary[metric].notna(), "dataset"])) for metric in ("top1", "asma")
    ]
    _require_known(known, sides[0])
    tables = [
        shift_ranks(summary, dataset_top1=first, dataset_asma=second, images=known.get(first))
        for first, second in product(*sides)
    ]
    if not tables:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in SHIFTS.items()})
    return pd.concat(tables, ignore_index=True)


def list_datasets(scores: pd.DataFrame, first: Sequence[str] = ()) -> list[str]:
    """List the datasets, those in `first` in their order and the others by name."""
    known = set(scores["dataset"])
    return [name for name in first if name in known] + sorted(known - set(first))


def _require_known(images: Mapping[str, int], datasets: Sequence[str]) -> None:
    unknown = sorted(set(images) - set(datasets))
    if unknown:
        near = find_nearest(unknown[0], list(datasets))
        hint = f" Did you mean {quote_name(near)}?" if near else ""
        raise ValidationError(
            f"multilabel.images: there is no top-1 accuracy on {list_names(unknown)}.{hint} Name "
            "datasets with published top-1 accuracies, or leave it out."
        )
