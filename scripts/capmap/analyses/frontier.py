"""Which models no other one beats in score at the same cost or less: the Pareto front."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.attributes import read_attributes
from capmap.ranking import choose_ranked
from capmap.ranking.aggregation import round_significant
from capmap.wording import rename_column

COLUMNS = ["model", "cost", "score", "ci_low", "ci_high", "on_front", "datasets"]
READ = ("architecture", "parameters", "cost", "date")


def trace_frontier(
    ranking: pd.DataFrame,
    model_file: Sequence[str],
    *,
    model_attributes: Mapping[str, str],
    renamed: Mapping[str, str],
    against: str,
) -> pd.DataFrame:
    """Find the ranked models that no other beats in score at the same cost or less, cheapest first.

    The table of attributes may call models as the exports do or by their new names. Of dates the
    earlier costs less, and the cost is the year with its decimals. Models whose cost is not known
    have no place on the front.
    """
    ranked = choose_ranked(ranking)
    columns = {name: model_attributes[name] for name in READ}
    known = read_attributes(next(iter(model_file), ""), "model", columns)
    costs = rename_column(known, "model", renamed).set_index("model")[against].dropna()
    if against == "date":
        days = pd.to_datetime(costs).dt
        costs = days.year + (days.day_of_year - 1) / (365 + days.is_leap_year)
    table = ranked.assign(cost=ranked["model"].map(costs).astype(float))
    table = table.sort_values(["cost", "score", "model"], ascending=[True, False, True])
    return table.assign(on_front=find_front(table))[COLUMNS].reset_index(drop=True)


def find_front(table: pd.DataFrame) -> "pd.Series[bool]":
    """Whether no other model costs no more, scores no less, and is better in one of both.

    Costs ascend; scores are compared to 12 digits, as ranks are.
    """
    scores = pd.Series(round_significant(table["score"]), table.index)
    best = scores.groupby(table["cost"]).transform("max")
    cheaper = scores.groupby(table["cost"]).max().cummax().shift()
    return scores.eq(best) & ~scores.le(table["cost"].map(cheaper))


def find_facts(frontier: pd.DataFrame) -> dict[str, Any]:
    """Which models are on the front, and of how many the cost is known."""
    priced = int(frontier["cost"].notna().sum())
    front = frontier.loc[frontier["on_front"].astype(bool), "model"].tolist()
    return {"priced": priced, "lacking": len(frontier) - priced, "front": front}


ANALYSIS = Analysis(
    question="Which models are worth their cost?",
    position=70,
    needs="frontier/against",
    tables={
        "frontier": Table(
            "Score and cost of each model, and whether it is on the Pareto front.",
            " ".join(COLUMNS),
        )
    },
    figures={
        "frontier": Figure(
            "Score of each model with its interval against its cost, and the Pareto front.",
            draw="capmap.figures.scatter:draw_frontier",
        )
    },
    steps={"trace_frontier": Step(trace_frontier, paths=["model_file"])},
    find_facts=find_facts,
    meanings={
        "cost": "Cost of the model, as its attributes say.",
        "on_front": "Whether no other model scores as high at the same cost or less.",
    },
)
