"""Leave one domain out: the checkpoint that the other domains choose, on the domain left out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from capmap.checkpoints.plan import Plan
from capmap.checkpoints.selection import CHECKPOINT, normalize_values
from capmap.problems import Problem, ask_nearest
from capmap.ranking.aggregation import round_significant
from capmap.wording import list_names, quote_name

LEFT_OUT = {
    "model": "str",
    "left_out": "str",
    "dataset": "str",
    "training": "str",
    "checkpoint": "str",
    "step": "int64",
    "selection": "float64",
    "report": "float64",
    "own": "float64",
    "oracle": "float64",
    "regret": "float64",
    "candidates": "int64",
    "stamp": "str",
}

Domains = Mapping[str, Sequence[str]]


def check_domains(domains: Domains, values: pd.DataFrame) -> list[Problem]:
    """Find datasets of configured domains that are not there, or in two of them."""
    present = sorted(values["dataset"].unique())
    problems, seen = [], dict[str, str]()
    for domain, names in domains.items():
        for name in names:
            reason = ""
            if name not in present:
                reason = f"There is no dataset {quote_name(name)}."
                remedy = f"{ask_nearest(name, present)}The datasets are {list_names(present)}."
            elif name in seen:
                reason = f"The dataset {quote_name(name)} is in {quote_name(seen[name])} too."
                remedy = "Name it in one domain."
            if reason:
                column = f"checkpoints.domains.{domain}"
                problems.append(
                    Problem(
                        code="bad_domain", column=column, value=name, reason=reason, remedy=remedy
                    )
                )
            seen[name] = domain
    return problems


def leave_domains_out(values: pd.DataFrame, plan: Plan, *, domains: Domains) -> pd.DataFrame:
    """Choose a checkpoint of each model without each domain, and compare it there.

    Parameters
    ----------
    values : pandas.DataFrame
        As `capmap.checkpoints.selection.average_values` takes them.
    plan : Plan
        By what checkpoints are chosen, and where and by which metrics they are compared.
    domains : mapping of str to sequence of str
        Datasets of each domain; one that is in none is a domain of its own.

    Returns
    -------
    pandas.DataFrame
        The columns of `LEFT_OUT`, by model, domain and dataset: the checkpoint with the best mean
        over the datasets of the other domains on the selection split (``selection``), its raw value
        on a dataset of the domain on the report split (``report``), that of the checkpoint that the
        domain itself would choose (``own``), the best of any of the ``candidates`` (``oracle``),
        and by how much the chosen one falls short of that (``regret``, 0 or more).

    Notes
    -----
    Candidates are all checkpoints of all trainings of the model with all datasets of the selection
    and of the domain's report, whose values are normalized as in the choice of checkpoints: 0 for
    the worst and 1 for the best value of any checkpoint of the study on a dataset. Of equal ones,
    to 12 digits, the earliest step is chosen, then the first training by name. Models with one
    candidate have no choice, and studies with one domain nothing to choose by.

    This is model selection by leave-one-domain-out cross-validation; ``own`` and ``oracle``
    look at the domain that is left out.

    References
    ----------
    Gulrajani, I. and Lopez-Paz, D. (2021). In search of lost domain generalization. ICLR.
    """
    shares = _pivot(values, plan.metrics, plan.split, plan)
    raw = _pivot(values, plan.primary, plan.report)
    home = {name: domain for domain, names in domains.items() for name in names}
    by_domain: dict[str, list[str]] = {}
    for name in map(str, sorted({*shares.columns, *raw.columns})):
        by_domain.setdefault(home.get(name, name), []).append(name)
    rows: list[dict[str, Any]] = []
    for domain, inside in sorted(by_domain.items()):
        others = shares.columns.difference(inside)
        within, reported = shares.columns.intersection(inside), raw.columns.intersection(inside)
        if others.empty or within.empty or reported.empty:
            continue
        table = pd.concat([shares, raw[reported].add_prefix("= ")], axis=1, join="inner").dropna()
        scores = pd.DataFrame(
            {"others": table[others].mean(axis=1), "own": table[within].mean(axis=1)}
        )
        for model, own in scores.groupby("model"):
            if len(own) > 1:
                found = {name: _choose(own[name]) for name in ("others", "own")}
                tests = raw.loc[own.index, reported]
                rows += _compare(str(model), domain, found, own["others"], tests, plan)
    order = pd.DataFrame(rows, columns=list(LEFT_OUT)).astype(LEFT_OUT)
    return order.sort_values(["model", "left_out", "dataset"], ignore_index=True)


def _pivot(
    values: pd.DataFrame, metrics: Mapping[str, str], split: str, plan: Plan | None = None
) -> pd.DataFrame:
    """Values of each checkpoint on each dataset, normalized where there is a plan."""
    rows = values[(values["dataset"].map(metrics) == values["metric"]) & (values["split"] == split)]
    if plan:
        rows = rows.assign(score=normalize_values(rows, plan.directions))
    return rows.pivot_table("score", CHECKPOINT, "dataset")


def _choose(scores: "pd.Series[float]") -> tuple[Any, ...]:
    """Key of the best checkpoint, the earliest where several are equal."""
    table = scores.reset_index().assign(key=round_significant(-scores.to_numpy(np.float64)))
    best = table.sort_values(["key", "step", "training", "checkpoint"]).iloc[0]
    return tuple(best[CHECKPOINT])


def _compare(
    model: str,
    domain: str,
    found: Mapping[str, tuple[Any, ...]],
    scores: "pd.Series[float]",
    tests: pd.DataFrame,
    plan: Plan,
) -> list[dict[str, Any]]:
    """Rows of a model and a domain, one per dataset of the domain."""
    chosen = found["others"]
    rows = []
    for dataset, column in tests.items():
        name = str(dataset)
        is_min = plan.directions.get((name, plan.primary[name])) == "min"
        report, best = float(column[chosen]), float(column.min() if is_min else column.max())
        rows.append(
            {
                **dict(zip(CHECKPOINT, chosen, strict=True)),
                **{"model": model, "left_out": domain, "dataset": name, "stamp": plan.stamp},
                "selection": scores[chosen],
                "report": report,
                "own": column[found["own"]],
                "oracle": best,
                "regret": abs(best - report),
                "candidates": len(scores),
            }
        )
    return rows
