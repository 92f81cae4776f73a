"""The entries of a leaderboard with model, method and submission, and what submissions say."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from capmap.errors import ValidationError
from capmap.problems import Problem, group_problem, list_rows
from capmap.wording import list_names, quote_name

ABOUT = ["model", "method", "name", "backbone", "size", "submission"]
PARTS = ("method", "backbone", "submission")
COUNTED = {"models": "backbone", "datasets": "dataset"}
MIX_REMEDY = (
    "Make it part of the models' names: "
    "columns: {model: [backbone, frozen_or_full_ft, submission]}."
)
DESCRIBED = ("paper", "code", "license", "hpo_trials", "information", "comments")
SUBMISSION_COLUMNS = ["submission", "models", "runs", "datasets", *DESCRIBED]


def describe_entries(
    runs: pd.DataFrame,
    *,
    submissions: Sequence[Mapping[str, Any]],
    models: Mapping[str, Mapping[str, str]],
) -> pd.DataFrame:
    """Say of each model what it is: method, backbone, display name, size and submission.

    Parameters
    ----------
    runs : pandas.DataFrame
        Column ``model``; ``method``, ``backbone`` and ``submission`` where the study has them.
    submissions : sequence of mapping
        Records of the submissions: ``name``, and ``models`` with ``key``, ``name`` and ``size``;
        empty for other studies.
    models : mapping of str to mapping
        The benchmark's own ``name`` and ``size`` of backbones, by key.

    Returns
    -------
    pandas.DataFrame
        A row per model, by name: ``model``, ``method``, ``name``, ``backbone``, ``size`` and
        ``submission``, all text. Method, size and submission are "" where nothing names them.

    Raises
    ------
    ValidationError
        If the runs of a model in a study of submissions come from several methods, backbones or
        submissions: its scores would mix entries.

    Notes
    -----
    In other studies such a part is taken to describe runs and not models, and is left empty. The
    backbone is then the model itself. The benchmark's display name and size win over those that
    the entry's own submission gives, and these over those of the first other submission by name.
    Without any, the name is the backbone.

    Examples
    --------
    >>> runs = pd.DataFrame({"model": ["resnet50", "resnet50"]})
    >>> models = {"resnet50": {"name": "ResNet-50", "size": "25M"}}
    >>> describe_entries(runs, submissions=[], models=models)["name"].tolist()
    ['ResNet-50']
    """
    known = [part for part in PARTS if part in runs]
    groups = runs.groupby("model", sort=True)
    table = groups[known].first().reset_index() if known else groups.size().index.to_frame(False)
    for part in known:
        is_mixed = groups[part].nunique(dropna=False).to_numpy() > 1
        if is_mixed.any() and submissions:
            reason = _explain_mix(runs, table.loc[is_mixed, "model"].iloc[0], part)
            raise ValidationError(f"{reason} {MIX_REMEDY}")
        table[part] = table[part].astype(object).where(~is_mixed, None)
    for part in PARTS:
        values = table[part] if part in table else pd.Series([None] * len(table))
        table[part] = _fill(values, table["model"] if part == "backbone" else "")
    names, sizes = list[str](), list[str]()
    described = _collect_models(submissions)
    for backbone, own in zip(table["backbone"], table["submission"], strict=True):
        found = described.get(backbone, {})
        others = [found[name] for name in sorted(found, key=lambda name: (name != own, name))]
        records = [models.get(backbone, {}), *others]
        names.append(_find_first(records, "name") or backbone)
        sizes.append(_find_first(records, "size"))
    return table.assign(name=names, size=sizes)[ABOUT].astype("str")


def _fill(values: "pd.Series[Any]", other: "pd.Series[Any] | str") -> "pd.Series[Any]":
    values = values.astype(object)
    return values.where(values.notna() & (values != ""), other)


def _collect_models(
    submissions: Sequence[Mapping[str, Any]],
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Models that submissions describe, by key and then by submission."""
    models: dict[str, dict[str, Mapping[str, Any]]] = {}
    for record in submissions:
        for model in record.get("models", []):
            models.setdefault(str(model["key"]), {}).setdefault(str(record["name"]), model)
    return models


def _find_first(records: Sequence[Mapping[str, Any]], field: str) -> str:
    """First text that stands in a field; empty where there is none."""
    return next((str(record[field]) for record in records if record.get(field)), "")


def _explain_mix(runs: pd.DataFrame, model: str, part: str) -> str:
    values = runs.loc[runs["model"] == model, part].dropna().unique()
    return (
        f"Model {quote_name(model)} has runs of several values of {part!r}: "
        f"{list_names(sorted(map(str, values)))}."
    )


def find_mixes(runs: pd.DataFrame) -> list[Problem]:
    """Find models whose runs come from several methods, backbones or submissions.

    Parameters
    ----------
    runs : pandas.DataFrame
        As read from submissions, before repeated rows are resolved.

    Returns
    -------
    list of Problem
        An error "mixed_entries" per model and part, at its first row.
    """
    problems = []
    for part in (part for part in PARTS if part in runs):
        counts = runs.groupby("model")[part].nunique(dropna=False)
        rows = runs[runs["model"].isin(counts.index[counts > 1])].drop_duplicates("model")
        problems += [
            group_problem(
                row,
                "mixed_entries",
                _explain_mix(runs, row.model, part),
                MIX_REMEDY,
                severity="error",
                value=row.model,
            )
            for row in list_rows(rows)
        ]
    return problems


def summarize_submissions(
    runs: pd.DataFrame, submissions: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """List the submissions with their counts and their own words.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``submission``, ``backbone`` and ``dataset``, a row per run; not looked at in a
        study without submissions.
    submissions : sequence of mapping
        Records with ``name``, ``paper``, ``code``, ``license``, ``hpo_trials``, ``information`` and
        ``comments``; may be empty.

    Returns
    -------
    pandas.DataFrame
        By name: ``submission``, ``models`` (different backbones), ``runs``, ``datasets``, then the
        words as text, "" where there are none. A submission without runs has counts of 0.
    """
    rows = []
    for record in sorted(submissions, key=lambda record: str(record["name"])):
        own = runs[runs["submission"] == record["name"]]
        counts = {name: own[column].nunique() for name, column in COUNTED.items()}
        words = {name: _read_text(record.get(name)) for name in DESCRIBED}
        rows.append({"submission": record["name"], **counts, "runs": len(own), **words})
    table = pd.DataFrame(rows, columns=SUBMISSION_COLUMNS)
    kinds = {name: "int64" if name in {"runs", *COUNTED} else "str" for name in SUBMISSION_COLUMNS}
    return table.astype(kinds)


def _read_text(value: object) -> str:
    return "" if value is None else str(value)
