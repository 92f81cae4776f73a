"""What the runs say about each dataset, as far as bounds need it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Evidence:
    """A dataset's runs in short.

    Parameters
    ----------
    dataset, metric : str
        Names.
    source : str
        The file of its first run.
    line : int
        The line of its first run.
    lowest, highest : float
        Extreme scores of any run.
    means : mapping
        Mean score of each model of interest that has runs here.
    """

    dataset: str
    metric: str
    source: str
    line: int
    lowest: float
    highest: float
    means: Mapping[str, float]


def gather_evidence(runs: pd.DataFrame, *, models: Collection[str]) -> Iterator[Evidence]:
    """Summarize the runs of each dataset, by dataset.

    Parameters
    ----------
    runs : DataFrame
        model, dataset, metric, score, source and line.
    models : collection of str
        Models whose means are wanted.

    Yields
    ------
    Evidence
        A summary that is the same, except for the place, whatever the order of the rows.
    """
    by_dataset = runs.groupby("dataset", sort=True, observed=True)
    extremes = by_dataset["score"].agg(["min", "max"])
    firsts = by_dataset[["metric", "source", "line"]].first()
    means = _average_models(runs[runs["model"].isin(list(models))])
    for dataset, first, (low, high) in zip(
        extremes.index,
        firsts.itertuples(index=False, name=None),
        extremes.itertuples(index=False, name=None),
        strict=True,
    ):
        metric, source, line = first
        yield Evidence(
            dataset=dataset,
            metric=metric,
            source=source,
            line=int(line),
            lowest=float(low),
            highest=float(high),
            means=means.get(dataset, {}),
        )


def _average_models(runs: pd.DataFrame) -> dict[str, dict[str, float]]:
    ordered = runs.sort_values("score")  # sums of floats depend on their order
    table = ordered.groupby(["dataset", "model"], as_index=False)["score"].mean()
    means: dict[str, dict[str, float]] = {}
    for row in table.itertuples(index=False):
        means.setdefault(row.dataset, {})[row.model] = float(row.score)
    return means
