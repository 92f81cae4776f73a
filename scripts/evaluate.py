"""Evaluate the score dumps of some models image by image, and estimate every metric."""

import logging
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from capmap.artifacts import digest_file, replace_file, write_json, write_parquet
from capmap.multilabel.dumps import Cell
from capmap.multilabel.evaluation import Evaluation, Evaluator, Sources
from capmap.multilabel.metrics import METRICS, estimate_metrics
from capmap.multilabel.outcomes import OutcomeWriter, evaluate_images
from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.rng import make_stream
from capmap.wording import quote_name

logger = logging.getLogger(__name__)


def evaluate(
    *,
    dumps: list[str],
    outcomes: str,
    scores: str,
    facts: str,
    study: str,
    cells: list[list[str]],
    classes: str,
    datasets: Mapping[str, Sources],
    subgroups: Mapping[str, list[int]],
    replicates: int,
    confidence: float,
    seed: int,
    renamed: Mapping[str, str],
    **_inputs: list[str],
) -> None:
    """Write outcomes of all images, metrics of each dump, and what is wrong with them."""
    evaluator = Evaluator(classes)
    tables, known, broken = [], [], []
    problems: dict[Problem, None] = {}
    with replace_file(outcomes) as stream, closing(OutcomeWriter(stream)) as writer:
        for path, cell in zip(dumps, map(Cell._make, cells), strict=True):
            shown = cell._replace(
                model=renamed.get(cell.model, cell.model),
                dataset=renamed.get(cell.dataset, cell.dataset),
            )
            try:
                found = evaluator.evaluate(path, cell, _find_sources(datasets, cell.dataset))
            except UnreadableExportError as error:
                problems |= dict.fromkeys(error.problems)
                broken.append(shown)
                continue
            writer.write(shown, found.outcomes)
            metrics = estimate_metrics(
                evaluate_images(found.outcomes),
                subgroups=subgroups[shown.dataset],
                n_resamples=replicates,
                confidence_level=confidence,
                make_rng=partial(make_stream, seed, study, "multilabel", *shown),
            )
            tables.append(pd.DataFrame(shown._asdict(), index=metrics.index).join(metrics))
            known.append(_describe(path, shown, found))
            problems |= dict.fromkeys(found.notes)
            logger.info("%s: %d images", path, len(found.outcomes))
    write_parquet(scores, _join(tables))
    listed = [asdict(problem) for problem in problems]
    write_json(facts, {"dumps": known, "broken": broken, "problems": listed})


def _find_sources(datasets: Mapping[str, Sources], name: str) -> Sources:
    """The files of a dataset; that there are none is said in the same words of all its dumps."""
    sources = datasets.get(name)
    if sources and sources.get("labels"):
        return sources
    near = ask_nearest(name, set(datasets) - {name})
    raise UnreadableExportError(
        Problem(
            code="unlabeled_dataset",
            value=name,
            reason=f"There are score dumps of the dataset {quote_name(name)}, and no labels.",
            remedy=f"{near}Add it to predictions.datasets, or remove its dumps from where "
            "`exports` finds them.",
        )
    )


def _describe(path: str, cell: Cell, found: Evaluation) -> dict[str, Any]:
    counts = found.outcomes["labels"].value_counts().sort_index()
    return {
        **cell._asdict(),
        "path": path,
        "sha256": digest_file(path),
        "bytes": Path(path).stat().st_size,
        "images": len(found.outcomes),
        "digest": found.digest,
        "labels": {str(labels): int(images) for labels, images in counts.items()},
    }


def _join(tables: list[pd.DataFrame]) -> pd.DataFrame:
    kinds = {**dict.fromkeys(Cell._fields, "str"), **METRICS}
    if not tables:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
    return pd.concat(tables, ignore_index=True).astype(kinds)


if __name__ == "__main__":
    from job import run_job

    run_job(evaluate, snakemake)  # type: ignore[name-defined]
