"""What each submission says of itself, and how much it holds."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

COUNTED = {"models": "backbone", "datasets": "dataset"}
TOLD = ("paper", "code", "license", "hpo_trials", "information", "comments")
SUBMISSION_COLUMNS = ["submission", "models", "runs", "datasets", *TOLD]


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
        words = {name: _read_text(record.get(name)) for name in TOLD}
        rows.append({"submission": record["name"], **counts, "runs": len(own), **words})
    table = pd.DataFrame(rows, columns=SUBMISSION_COLUMNS)
    kinds = {name: "int64" if name in {"runs", *COUNTED} else "str" for name in SUBMISSION_COLUMNS}
    return table.astype(kinds)


def _read_text(value: object) -> str:
    return "" if value is None else str(value)
