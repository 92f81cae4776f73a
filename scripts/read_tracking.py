"""Read the evaluations of checkpoints from a tracking store."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from capmap.addresses import reveal
from capmap.artifacts import write_json, write_parquet
from capmap.errors import ValidationError
from capmap.tracking.evaluations import tabulate_evaluations
from capmap.tracking.keys import USUAL_KEYS, compile_keys
from capmap.tracking.store import count_runs, list_metrics, read_store
from capmap.wording import count_things, list_names

logger = logging.getLogger(__name__)


def read_tracking(
    *,
    store: str,
    experiments: list[str],
    status: list[str],
    evaluations: str,
    account: str,
    metric_keys: Sequence[str] = USUAL_KEYS,
    datasets: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> None:
    """Write all values that the runs of a store logged for datasets, and an account of the rest.

    Parameters
    ----------
    store : str
        ``sqlite:///FILE``, a folder, or the address of a server. It is not changed.
    experiments : list of str
        Names of the experiments to read; all where there are none.
    status : list of str
        Statuses of the runs to read.
    evaluations : str
        Table to write, Parquet: a row per value, see `tabulate_evaluations`.
    account : str
        What was found and what was left out, JSON; written also where there is nothing to read.
    metric_keys : sequence of str, optional
        What the names of metrics say, see `compile_keys`.
    datasets : sequence of str, optional
        The only names that ``{dataset}`` may stand for in `metric_keys`; any by default.
    keep : sequence of str, optional
        Tags and parameters to keep as columns, written ``tag.NAME`` and ``param.NAME``.

    Raises
    ------
    ValidationError
        When the store or a pattern is at fault, or no value belongs to a dataset.
    """
    patterns = compile_keys(metric_keys, datasets=datasets)
    tracking = read_store(reveal(store), experiments=experiments, history_of=status)
    found = tabulate_evaluations(tracking.runs, status=status, patterns=patterns, keep=keep)
    content = {
        "store": store,
        **count_runs(tracking, status),
        "values": len(found.table),
        "metrics": list_metrics(tracking.runs, status),
        "unmatched": found.unmatched,
        "renamed": found.renamed,
    }
    write_json(account, content)
    if found.table.empty:
        raise ValidationError(_explain_nothing(content))
    write_parquet(evaluations, found.table)
    for lost in found.unmatched:
        logger.info("metric %r is left out: %s", lost["key"], lost["reason"])
    counts = content["runs"]
    logger.info("%s, of which %d are read", count_things(counts["found"], "run"), counts["read"])


def _explain_nothing(content: Mapping[str, Any]) -> str:
    counts = content["runs"]
    if not counts["read"]:
        return (
            f"tracking: the store has {count_things(counts['found'], 'run')}, and none of the "
            "wanted experiments and statuses. Check tracking.experiments and tracking.status."
        )
    names = list_names(sorted({lost["key"] for lost in content["unmatched"]}))
    if not names:
        return "tracking: no run of the store has a metric. Log the scores with mlflow.log_metric."
    return (
        f"tracking.keys: no metric belongs to a dataset. There are: {names}. Say with "
        "tracking.keys what their names mean, or tag the runs with `dataset`."
    )


if __name__ == "__main__":
    from job import run_job

    run_job(read_tracking, snakemake)  # type: ignore[name-defined]
