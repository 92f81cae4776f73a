"""Pairs of models, which a table lists once, seen from both sides."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

# What a quantity of the pair (a, b) is for the pair (b, a).
SWAPPED = {
    "model_a": "model_b",
    "ci_low": "ci_high",
    "wins": "losses",
    "p_improvement_low": "p_improvement_high",
    "p_a_better": "p_b_better",
}
NEGATED = ("mean_difference", "ci_low", "ci_high", "effect_size")
COMPLEMENTED = ("p_improvement", "p_improvement_low", "p_improvement_high")
DECISIONS = {"a better": "b better", "b better": "a better"}
NO_PAIR = "One model: there is no pair to compare."
NO_SHARED = "no dataset in common"
HATCH_NOTE = f"Hatched: {NO_SHARED}."


def mirror_pairs(pairwise: pd.DataFrame) -> pd.DataFrame:
    """List each pair in both directions.

    Parameters
    ----------
    pairwise : DataFrame
        Columns of tables/pairwise.csv; each pair once.

    Returns
    -------
    DataFrame
        The same columns; twice as many rows, in which every model has been model_a.

    Examples
    --------
    >>> pair = pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "mean_difference": [0.5]})
    >>> list(mirror_pairs(pair).itertuples(index=False, name=None))
    [('x', 'y', 0.5), ('y', 'x', -0.5)]
    """
    swaps = {**SWAPPED, **{second: first for first, second in SWAPPED.items()}}
    mirrored = pairwise.rename(columns=swaps)[list(pairwise.columns)]
    for name in pairwise.columns.intersection(list(NEGATED)):
        mirrored[name] = -mirrored[name]
    for name in pairwise.columns.intersection(list(COMPLEMENTED)):
        mirrored[name] = 1 - mirrored[name]
    if "decision" in pairwise:
        mirrored["decision"] = mirrored["decision"].replace(DECISIONS)
    return pd.concat([pairwise, mirrored], ignore_index=True)


def arrange_pairs(pairwise: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Index the pairs of some models by row and column, in both directions.

    Returns
    -------
    DataFrame
        Columns of the table; index (model_a, model_b), every pair of the models, themselves
        included, in their order; missing values where the table lacks a pair.
    """
    both = pairwise["model_a"].isin(models) & pairwise["model_b"].isin(models)
    places = pd.MultiIndex.from_product([models, models], names=["model_a", "model_b"])
    return mirror_pairs(pairwise[both]).set_index(["model_a", "model_b"]).reindex(places)


def square_pairs(values: "pd.Series[Any]", models: Sequence[str]) -> pd.DataFrame:
    """Arrange a value per pair, in the order of `arrange_pairs`, as rows against columns."""
    return pd.DataFrame(
        values.to_numpy().reshape(len(models), len(models)),
        index=pd.Index(models, name="model"),
        columns=pd.Index(models, name="against"),
    )


def face_reference(pairwise: pd.DataFrame, reference: str, models: Sequence[str]) -> pd.DataFrame:
    """Compare some models (as model_a) with the reference (as model_b).

    Returns
    -------
    DataFrame
        Index model, in the order of the models; the other columns of the table.
    """
    either = (pairwise["model_a"] == reference) | (pairwise["model_b"] == reference)
    facing = mirror_pairs(pairwise[either])
    facing = facing[facing["model_b"] == reference]
    return facing.set_index("model_a").rename_axis("model").reindex(list(models))


def list_paired(pairwise: pd.DataFrame) -> list[str]:
    """All models of a table of pairs, by name."""
    return sorted({*pairwise["model_a"], *pairwise["model_b"]})


def write_counts(table: pd.DataFrame) -> list[str]:
    """Write wins, ties and losses as ``9/1/0``; empty where a pair shares no dataset."""
    counts = table[["wins", "ties", "losses"]].astype(float)
    return [
        "" if counts.sum() == 0 or counts.isna().any() else "/".join(f"{n:.0f}" for n in counts)
        for _, counts in counts.iterrows()
    ]
