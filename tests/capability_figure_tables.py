"""Plausible tables of a map of models and datasets, for figures.

The values need not be right: a figure computes nothing from them.
"""

import numpy as np
import pandas as pd

ARCHITECTURES = ["ViT-B", "ResNet50", "Swin-B", *(f"net {letter}" for letter in "abcdefgh")]
TYPES = ["classification", "segmentation", "object detection", "change detection"]


def make_capabilities(models, datasets, *, n_parts=1, seed=5):
    """Make the tables of the map's figures.

    Parameters
    ----------
    models : sequence of str
    datasets : sequence of str
        The part before " / " is the family.
    n_parts : int
        Parts that no result connects.
    """
    rng = np.random.default_rng(seed)
    names = [*models, *datasets]
    kinds = ["model"] * len(models) + ["dataset"] * len(datasets)
    places = rng.normal(size=(len(names), 2)) * (0.25, 0.2)
    positions = pd.DataFrame({"kind": kinds, "name": names})
    described = describe_models(models, n_parts, rng)
    return {
        "map": positions.assign(x=places[:, 0], y=places[:, 1]),
        "models": described,
        "datasets": describe_datasets(datasets, n_parts, rng),
    }


def describe_models(models, n_parts, rng):
    """What is known of models, one of which was dropped."""
    names = [*models, "dropped"]
    count = len(names)
    kept = rng.integers(5, 40, count)
    days = pd.Timestamp("2019-03-01") + pd.to_timedelta(rng.integers(0, 2000, count), unit="D")
    table = pd.DataFrame(
        {
            "model": names,
            "results": kept + 1,
            "kept": kept,
            "component": pd.array(np.arange(count) % n_parts + 1, dtype="Int64"),
            "mean_gap": rng.uniform(0.05, 0.9, count),
            "architecture": rng.choice(ARCHITECTURES, count),
            "parameters": 10 ** rng.uniform(1, 3.3, count),
            "date": days.strftime("%Y-%m-%d"),
            "dropped": "",
        }
    )
    table.loc[::7, ["architecture", "date"]] = None
    table.loc[::7, "parameters"] = np.nan
    table.loc[count - 1, "component"] = pd.NA
    table.loc[count - 1, "mean_gap"] = np.nan
    table.loc[count - 1, "dropped"] = "few results of the model"
    return table


def describe_datasets(datasets, n_parts, rng):
    count = len(datasets)
    kept = rng.integers(5, 20, count)
    return pd.DataFrame(
        {
            "dataset": list(datasets),
            "results": kept,
            "kept": kept,
            "component": pd.array(np.arange(count) % n_parts + 1, dtype="Int64"),
            "type": rng.choice(TYPES, count),
            "family": [name.split(" / ")[0] for name in datasets],
            "dropped": "",
        }
    )


def remove_attributes(tables):
    """The same tables without anything that is known of models and datasets."""
    bare = {"architecture": np.nan, "parameters": np.nan, "date": np.nan}
    return {
        **tables,
        "models": tables["models"].assign(**bare),
        "datasets": tables["datasets"].assign(type=np.nan, family=np.nan),
    }
