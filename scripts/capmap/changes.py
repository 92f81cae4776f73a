"""What came, went and moved since the former run of a study."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.artifacts import read_table, render_csv, replace_file, write_text
from capmap.ranking import choose_ranked

COLUMNS = ["kind", "name", "before", "after"]
KEY = ["model", "dataset", "seed"]
# Where a file of runs keeps the settings and the ranks of its study.
STATE = b"capmap"


def save_state(
    path: str | Path, runs: pd.DataFrame, settings: Mapping[str, Any], ranks: Mapping[str, int]
) -> None:
    """Write the runs of a study as Parquet, with its settings and the ranks of its models."""
    table = pa.Table.from_pandas(runs[[*KEY, "score"]], preserve_index=False)
    state = json.dumps(_describe_state(settings, ranks))
    with replace_file(path) as stream:
        pq.write_table(table.replace_schema_metadata({STATE: state}), stream, compression="zstd")


def _describe_state(settings: Mapping[str, Any], ranks: Mapping[str, int]) -> dict[str, Any]:
    """Settings by their paths, such as ``bootstrap.replicates``, and ranks, as JSON has them."""
    texts = json.dumps({"settings": flatten(settings), "ranks": dict(ranks)})
    state: dict[str, Any] = json.loads(texts)
    return state


def find_changes(
    path: str | Path, runs: pd.DataFrame, settings: Mapping[str, Any], ranks: Mapping[str, int]
) -> pd.DataFrame:
    """List what changed since `save_state` wrote the former runs.

    Parameters
    ----------
    path : path-like
        The file of the former runs.
    runs : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed`` and ``score``.
    settings : mapping
        Of the study.
    ranks : mapping of str to int
        Rank of each ranked model.

    Returns
    -------
    pandas.DataFrame
        ``kind`` ("model", "dataset", "run", "setting" or "rank"), ``name``, and what it was
        ``before`` and is ``after``: empty for what was not there, or is no longer.
    """
    former = pq.read_table(path)
    state = json.loads(former.schema.metadata[STATE])
    now = _describe_state(settings, ranks)
    rows = [
        *_compare_runs(former.to_pandas(), runs),
        *_compare("setting", state["settings"], now["settings"]),
        *_compare("rank", state["ranks"], now["ranks"]),
    ]
    return pd.DataFrame(rows, columns=COLUMNS, dtype="object")


def track_changes(
    runs: pd.DataFrame,
    settings: Mapping[str, Any],
    ranks: Mapping[str, int],
    *,
    previous: str,
    changes: str,
) -> pd.DataFrame:
    """Write what changed since the former run; without any change the list stays as it is."""
    found = pd.DataFrame(columns=COLUMNS)
    if Path(previous).is_file():
        found = find_changes(previous, runs, settings, ranks)
    if len(found) or not Path(changes).is_file():
        write_text(changes, render_csv(found))
    return read_table(changes, names=COLUMNS)


def list_ranks(ranking: pd.DataFrame) -> dict[str, int]:
    """The rank of each ranked model."""
    ranked = choose_ranked(ranking)
    return dict(zip(ranked["model"], ranked["rank"].astype(int), strict=True))


def flatten(settings: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Name each setting by its path, such as ``bootstrap.replicates``."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        name = f"{place}{key}"
        is_section = isinstance(value, Mapping) and value
        flat |= flatten(value, f"{name}.") if is_section else {name: value}
    return flat


def _compare_runs(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[tuple[str, str, Any, Any]]:
    """Compare models, datasets and the runs of those that are in both."""
    told: dict[str, set[str]] = {}
    for kind in KEY[:2]:
        were, are = set(before[kind].unique()), set(after[kind].unique())
        told[kind] = were ^ are
        for name in sorted(told[kind]):
            yield kind, name, name if name in were else "", name if name in are else ""
    tables = [table[[*KEY, "score"]].astype(dict.fromkeys(KEY, "str")) for table in (before, after)]
    both = tables[0].merge(tables[1], on=KEY, how="outer", suffixes=("_before", "_after"))
    changed = both[both["score_before"] != both["score_after"]].sort_values(KEY)
    for model, dataset, seed, old, new in changed.itertuples(index=False):
        if model not in told["model"] and dataset not in told["dataset"]:
            name = f"{model} on {dataset}" + (f", seed {seed}" if seed else "")
            yield "run", name, "" if pd.isna(old) else old, "" if pd.isna(new) else new


def _compare(
    kind: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any, Any]]:
    for name in sorted({*before, *after}):
        old, new = before.get(name, ""), after.get(name, "")
        if old != new:
            yield kind, name, old, new
