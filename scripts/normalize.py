"""Normalize the runs of a study."""

import json
from collections.abc import Sequence
from typing import Any

from capmap.artifacts import read_parquet, render_csv, write_parquet, write_text
from capmap.normalization.bounds import NO_ITEMS
from capmap.ranking.normalized import normalize_study


def normalize(
    *,
    runs: str,
    normalized: str,
    bounds: str,
    dropped: str,
    scope: str,
    item_scores: Sequence[str] = (),
    normalized_items: str = "",
    **settings: Any,
) -> None:
    """Write normalized runs, the bounds that made them, what was left out, and the scope."""
    files = {name: settings.pop(name) for name in ("references", "benchmark")}
    found = normalize_study(
        read_parquet(runs, packed=True),
        settings=settings,
        **files,
        items=read_parquet(item_scores[0], packed=True) if item_scores else NO_ITEMS,
    )
    write_parquet(normalized, found.runs)
    if normalized_items:
        write_parquet(normalized_items, found.items)
    write_text(bounds, render_csv(found.bounds))
    write_text(dropped, render_csv(found.dropped))
    write_text(scope, json.dumps(found.scope))


if __name__ == "__main__":
    from job import run_job

    run_job(normalize, snakemake)  # type: ignore[name-defined]
