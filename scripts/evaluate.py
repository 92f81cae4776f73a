"""Evaluate the score dumps of some models image by image, and estimate every metric."""

import logging
from dataclasses import asdict
from functools import partial
from typing import Any

import pandas as pd

from capmap.artifacts import replace_file, write_json, write_parquet
from capmap.multilabel.evaluation import (
    describe_dump,
    estimate_metrics,
    evaluate_dump,
    join_metrics,
    open_outcomes,
    write_outcomes,
)
from capmap.patterns import Cell
from capmap.problems import Problem, UnreadableExportError
from capmap.rng import make_stream

logger = logging.getLogger(__name__)


def evaluate(
    *,
    dumps: list[str],
    outcomes: str,
    scores: str,
    facts: str,
    study: str,
    cells: list[list[str]],
    **settings: Any,
) -> None:
    """Write outcomes of all images, metrics of each dump, and what is wrong with them."""
    renamed, sources = settings["renamed"], settings["datasets"]
    tables, known, broken = [], [], []
    problems: dict[Problem, None] = {}
    with replace_file(outcomes) as stream, open_outcomes(stream) as writer:
        for path, cell in zip(dumps, map(Cell._make, cells), strict=True):
            shown = cell._replace(
                model=renamed.get(cell.model, cell.model),
                dataset=renamed.get(cell.dataset, cell.dataset),
            )
            try:
                images, notes = evaluate_dump(
                    path, cell, sources[cell.dataset], classes=settings["classes"]
                )
            except UnreadableExportError as error:
                problems |= dict.fromkeys(error.problems)
                broken.append(shown)
                continue
            write_outcomes(writer, shown, images)
            metrics = estimate_metrics(
                images,
                subgroups=settings["subgroups"][shown.dataset],
                n_resamples=settings["replicates"],
                confidence_level=settings["confidence"],
                make_rng=partial(make_stream, settings["seed"], study, "multilabel", *shown),
            )
            tables.append(pd.DataFrame(shown._asdict(), index=metrics.index).join(metrics))
            known.append(describe_dump(path, shown, images))
            problems |= dict.fromkeys(notes)
            logger.info("%s: %d images", path, len(images))
    write_parquet(scores, join_metrics(tables))
    listed = [asdict(problem) for problem in problems]
    write_json(facts, {"dumps": known, "broken": broken, "problems": listed})


if __name__ == "__main__":
    from job import run_job

    run_job(evaluate, snakemake)  # type: ignore[name-defined]
