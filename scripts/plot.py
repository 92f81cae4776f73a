"""Draw a study's figures, those of them that would come out otherwise than they are."""

import logging
from collections.abc import Mapping
from typing import Any

from capmap.artifacts import read_parquet
from capmap.catalog import FIGURES
from capmap.figures.style import save_figure
from capmap.freshness import Record, digest_origin
from capmap.tables import read_declared
from job import load_function, run_parallel

FORMATS = ("pdf", "png", "svg")

logger = logging.getLogger(__name__)


def plot(
    *,
    folder: str,
    reads: Mapping[str, Mapping[str, str]],
    options: Mapping[str, Mapping[str, Any]],
    code: Mapping[str, str],
    record: str,
    threads: int,
) -> None:
    """Draw figures of finished tables.

    Parameters
    ----------
    folder : str
        Where the figures are kept.
    reads : mapping of str to mapping of str to str
        The files of the tables of each figure, by name; ``order`` orders the models.
    options : mapping of str to mapping
        What each figure's function is told, by parameter.
    code : mapping of str to str
        Digest of the code that draws each.
    record : str
        Where to keep what the figures were made from, so that the next run draws only those again
        that differ.
    threads : int
        How many processes draw at once.
    """
    kept = Record(record)
    files = {name: [f"{folder}/{name}.{suffix}" for suffix in FORMATS] for name in reads}
    origins = {name: digest_origin(code[name], options[name], reads[name]) for name in reads}
    todo = [name for name in reads if not kept.keep(name, origins[name], files[name])]

    def draw(name: str) -> None:
        figure = FIGURES[name]
        tables = [_read(reads[name][table]) for table in figure.reads]
        known = dict(options[name])
        if figure.order:
            known["order"] = list(_read(reads[name]["order"])["model"])
        save_figure(load_function(figure.draw)(*tables, **known), files[name])

    for name in todo:
        load_function(FIGURES[name].draw)
    run_parallel(draw, todo, processes=threads)
    for name in todo:
        kept.note(name, origins[name], files[name])
    kept.close()
    logger.info("drew %d of %d figures", len(todo), len(reads))


def _read(path: str) -> Any:
    return read_parquet(path) if path.endswith(".parquet") else read_declared(path)


if __name__ == "__main__":
    from job import run_job

    run_job(plot, snakemake)  # type: ignore[name-defined]
