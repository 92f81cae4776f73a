"""Leave one domain out: the checkpoint that the other domains choose, on the domain left out."""

from collections.abc import Mapping, Sequence

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
    tables = [pd.DataFrame(columns=list(LEFT_OUT)).astype(LEFT_OUT)]
    for domain, inside in sorted(by_domain.items()):
        others = shares.columns.difference(inside)
        within, reported = shares.columns.intersection(inside), raw.columns.intersection(inside)
        if others.empty or within.empty or reported.empty:
            continue
        scores = pd.DataFrame(
            {
                "selection": shares[others].mean(axis=1, skipna=False),
                "own": shares[within].mean(axis=1, skipna=False),
            }
        ).dropna()
        tests = raw[reported].dropna()
        scores = scores[scores.index.isin(tests.index)]
        several = scores[scores.groupby("model")["own"].transform("size") > 1]
        for name in reported:
            is_min = plan.directions.get((name, plan.primary[name])) == "min"
            table = _compare(several.assign(report=tests.loc[several.index, name]), is_min=is_min)
            tables.append(table.assign(left_out=domain, dataset=name))
    table = pd.concat(tables, ignore_index=True).assign(stamp=plan.stamp)
    ordered = table.sort_values(["model", "left_out", "dataset"], ignore_index=True)
    return ordered[list(LEFT_OUT)].astype(LEFT_OUT)


def _pivot(
    values: pd.DataFrame, metrics: Mapping[str, str], split: str, plan: Plan | None = None
) -> pd.DataFrame:
    """Values of each checkpoint on each dataset, normalized where there is a plan."""
    rows = values[(values["dataset"].map(metrics) == values["metric"]) & (values["split"] == split)]
    if plan:
        rows = rows.assign(score=normalize_values(rows, plan.directions))
    return rows.pivot_table("score", CHECKPOINT, "dataset")


def _compare(scores: pd.DataFrame, *, is_min: bool) -> pd.DataFrame:
    """What each model has on a dataset: chosen by the others, by the domain itself, and at best."""
    reports = scores["report"].groupby("model")
    table = _choose(scores, "selection")
    table["own"], table["candidates"] = _choose(scores, "own")["report"], reports.size()
    table["oracle"] = reports.min() if is_min else reports.max()
    table["regret"] = (table["oracle"] - table["report"]).abs()
    return table.reset_index()


def _choose(scores: pd.DataFrame, name: str) -> pd.DataFrame:
    """The best checkpoint of each model, its index, the earliest where several are equal."""
    rows = scores.reset_index()
    order = rows.assign(key=round_significant(-rows[name].to_numpy(np.float64)))
    order = order.sort_values(["model", "key", "step", "training", "checkpoint"])
    return order.drop_duplicates("model").drop(columns="key").set_index("model")
