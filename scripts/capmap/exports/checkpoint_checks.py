"""What is wrong with values of checkpoints, row by row, before any of them is chosen."""

from collections.abc import Mapping
from typing import Literal

import pandas as pd

from capmap.exports.checkpoint_steps import read_step
from capmap.exports.checkpoints import name_columns
from capmap.problems import Problem, Severity
from capmap.wording import count_things, list_names, quote_name

TRAINING = ["model", "training"]
VALUE = [*TRAINING, "checkpoint", "dataset", "metric", "split"]
Duplicates = Literal["error", "mean", "first", "last"]


def check_evaluations(
    table: pd.DataFrame, columns: Mapping[str, list[str]], *, duplicates: Duplicates
) -> tuple[pd.DataFrame, list[Problem]]:
    """Tell the steps of checkpoints, keep one row of each value, and find what is wrong.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of `Evaluations`, with finite scores only.
    columns : mapping of str to list of str
        The columns of each role.
    duplicates : {"error", "mean", "first", "last"}
        What to keep of a value that several rows tell differently. With "error" the first row is
        kept, so that further checks have something to look at.

    Returns
    -------
    table : pandas.DataFrame
        With a column ``step`` more: one row per training, checkpoint, dataset, metric and split.
        Rows without training or step are left out.
    problems : list of Problem
        "empty_training", "no_step", "mixed_steps", "repeated_step", "several_seeds",
        "conflicting_value" and "repeated_value". All but the last are errors; rows in conflict are
        warnings where a policy settles them.

    Notes
    -----
    A training is known by its name and its model, so trainings of two models may share a name.
    """
    problems = _find_unnamed(table, columns)
    table = table[table["training"] != ""].copy()
    found = {name: read_step(name) for name in table["checkpoint"].unique()}
    problems += _find_unnumbered(table[table["checkpoint"].map(found).isna()], columns)
    table = table[table["checkpoint"].map(found).notna()].copy()
    steps = [found[name] or (0, "") for name in table["checkpoint"]]
    table["step"] = pd.Series([step for step, _ in steps], index=table.index, dtype="int64")
    kinds = pd.Series([kind for _, kind in steps], index=table.index, dtype="str")
    problems += _find_mixed_steps(table.assign(kind=kinds), columns)
    problems += _find_repeated_steps(table, columns)
    problems += _find_several_seeds(table, columns)
    table, conflicts = _resolve_conflicts(table, duplicates)
    return table, problems + conflicts


def _blame(
    row: "pd.Series", code: str, reason: str, remedy: str, *, column: str = "", value: str = ""
) -> Problem:
    return Problem(
        code=code,
        source=row["source"],
        line=int(row["line"]),
        column=column,
        value=value,
        reason=reason,
        remedy=remedy,
    )


def _find_unnamed(table: pd.DataFrame, columns: Mapping[str, list[str]]) -> list[Problem]:
    """Find rows without a training; without a column of models the reader has found them."""
    if not columns["model"]:
        return []
    return [
        _blame(
            row,
            "empty_training",
            "The name of the training is empty.",
            "Write it, or leave the row out with where.",
            column=name_columns(columns, "training"),
        )
        for _, row in table[table["training"] == ""].iterrows()
    ]


def _find_unnumbered(rows: pd.DataFrame, columns: Mapping[str, list[str]]) -> list[Problem]:
    """Find names of checkpoints that tell no step, each at its first row."""
    counts = rows["checkpoint"].value_counts().to_dict()
    return [
        _blame(
            row,
            "no_step",
            f"The checkpoint {quote_name(row['checkpoint'])} has no number that could be its step"
            f" ({count_things(counts[row['checkpoint']], 'row')}).",
            "Write the step, or a name with a step or an epoch such as step=1200.",
            column=name_columns(columns, "checkpoint"),
            value=row["checkpoint"],
        )
        for _, row in rows.drop_duplicates("checkpoint").iterrows()
    ]


def _find_mixed_steps(table: pd.DataFrame, columns: Mapping[str, list[str]]) -> list[Problem]:
    """Find trainings some of whose checkpoints count steps and others epochs."""
    firsts = table.drop_duplicates([*TRAINING, "kind"])
    second = firsts[firsts.duplicated(TRAINING)]
    return [
        _blame(
            row,
            "mixed_steps",
            f"The training {quote_name(row['training'])} has checkpoints that count steps and "
            f"others that count epochs, such as {quote_name(row['checkpoint'])}.",
            "Name all its checkpoints by the same count.",
            column=name_columns(columns, "checkpoint"),
            value=row["checkpoint"],
        )
        for _, row in second.iterrows()
    ]


def _find_repeated_steps(table: pd.DataFrame, columns: Mapping[str, list[str]]) -> list[Problem]:
    """Find checkpoints of one training that have one step but two names."""
    firsts = table.drop_duplicates([*TRAINING, "checkpoint"])
    names = firsts.groupby([*TRAINING, "step"], sort=False)["checkpoint"]
    rivals = firsts.assign(first=names.transform("first"))
    rivals = rivals[rivals["first"] != rivals["checkpoint"]]
    return [
        _blame(
            row,
            "repeated_step",
            f"The checkpoints {list_names([row['first'], row['checkpoint']])} of the training "
            f"{quote_name(row['training'])} both have step {row['step']}.",
            "Leave one of them out with where, or number them differently.",
            column=name_columns(columns, "checkpoint"),
            value=row["checkpoint"],
        )
        for _, row in rivals.iterrows()
    ]


def _find_several_seeds(table: pd.DataFrame, columns: Mapping[str, list[str]]) -> list[Problem]:
    """Find trainings with several seeds, which are several trainings."""
    firsts = table.drop_duplicates([*TRAINING, "seed"])
    several = firsts[firsts.duplicated(TRAINING)].drop_duplicates(TRAINING)
    both = ", ".join([*columns["training"], *columns["seed"]])
    return [
        _blame(
            row,
            "several_seeds",
            f"The training {quote_name(row['training'])} has several seeds.",
            f"If each seed is a training, write columns: {{training: [{both}]}}.",
            column=name_columns(columns, "seed"),
            value=row["seed"],
        )
        for _, row in several.iterrows()
    ]


def _resolve_conflicts(
    table: pd.DataFrame, policy: Duplicates
) -> tuple[pd.DataFrame, list[Problem]]:
    """Keep one row of each value; equal rows count once."""
    stays: Literal["first", "last"] = "last" if policy == "last" else "first"
    is_repeat = table.duplicated([*VALUE, "score"], keep=stays)
    problems = _tell_repeats(table[is_repeat])
    distinct = table[~is_repeat]
    is_rival = distinct.duplicated(VALUE, keep=stays)
    kept = distinct[~is_rival].copy()
    values = distinct.groupby(VALUE, sort=False)["score"]
    problems += [
        _explain_conflict(row, values.get_group(key), policy)
        for key, row in _list_rivals(distinct[is_rival])
    ]
    if policy == "mean" and is_rival.any():
        ordered = distinct.sort_values([*VALUE, "score"])  # sums of floats depend on their order
        means = ordered.groupby(VALUE)["score"].mean()
        kept["score"] = means.loc[pd.MultiIndex.from_frame(kept[VALUE])].to_numpy()
    return kept, problems


def _list_rivals(rivals: pd.DataFrame) -> list[tuple[tuple[str, ...], "pd.Series"]]:
    return [(tuple(row[name] for name in VALUE), row) for _, row in rivals.iterrows()]


def _tell_repeats(repeats: pd.DataFrame) -> list[Problem]:
    if repeats.empty:
        return []
    problem = Problem(
        severity="warning",
        code="repeated_value",
        source=repeats["source"].iloc[0],
        line=int(repeats["line"].iloc[0]),
        reason=f"{count_things(len(repeats), 'row')} told a value that another row tells too.",
        remedy="They count once; nothing needs to be done.",
    )
    return [problem]


def _explain_conflict(row: "pd.Series", values: "pd.Series[float]", policy: Duplicates) -> Problem:
    severity: Severity = "error" if policy == "error" else "warning"
    split = f" on the split {quote_name(row['split'])}" if row["split"] else ""
    remedies = {
        "error": "Remove the wrong row, or set duplicates to mean, first or last.",
        "mean": "The mean of the values is used.",
        "first": "The first of the values is used.",
        "last": "The last of the values is used.",
    }
    listed = ", ".join(f"{value:g}" for value in values.tolist()[:3])
    return Problem(
        severity=severity,
        code="conflicting_value",
        source=row["source"],
        line=int(row["line"]),
        column=row["column"],
        value=row["raw"],
        reason=f"The checkpoint {quote_name(row['checkpoint'])} of the training "
        f"{quote_name(row['training'])} has several values of {quote_name(row['metric'])} on "
        f"{quote_name(row['dataset'])}{split}: {listed}.",
        remedy=remedies[policy],
    )
