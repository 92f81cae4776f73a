"""The best run of each model on each dataset."""

from typing import Any

import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table


def find_best_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The highest normalized score of each cell, and its distance to the mean of the cell."""
    cells = runs.groupby(["model", "dataset"], observed=True)["score"].agg(["max", "mean"])
    table: pd.DataFrame = cells.reset_index().set_axis(
        ["model", "dataset", "score", "expected"], axis="columns"
    )
    # The runs are as they are: the interval is the difference itself.
    difference = table["score"] - table["expected"]
    return table.assign(difference=difference, ci_low=difference, ci_high=difference)


def find_facts(best_runs: pd.DataFrame) -> dict[str, Any]:
    """The cell whose best run is farthest above its mean."""
    row = best_runs.iloc[int(best_runs["difference"].argmax())]
    return {"model": row["model"], "dataset": row["dataset"], "difference": row["difference"]}


ANALYSIS = Analysis(
    question="How far is the best run above the mean?",
    position=35,
    tables={
        "best_runs": Table(
            "Best run of each model on each dataset, and the mean of its runs.",
            "model dataset score expected difference ci_low ci_high",
        ),
    },
    figures={
        "best_runs": Figure(
            "By how much the best run of each cell is above its mean.",
            draw="capmap.figures.datasets:draw_strengths",
            reads=["best_runs"],
            order="ranking",
        ),
    },
    steps={"find_best_runs": Step(find_best_runs, tables=["best_runs"], reads=["runs"])},
    find_facts=find_facts,
    meanings={
        "best_runs.score": "Highest normalized score over runs.",
        "best_runs.expected": "Mean normalized score over runs.",
        "best_runs.difference": "Best run less the mean.",
    },
)
