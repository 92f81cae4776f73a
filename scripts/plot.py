"""Draw a study's figures, those of them that would come out otherwise than they are."""

import logging
from collections.abc import Mapping
from typing import Any

from capmap.artifacts import read_parquet
from capmap.catalog import FIGURES
from capmap.figures.style import save_figure
from capmap.freshness import Keeper, digest_origin
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
    threads: int,
) -> None:
    """Draw figures of finished tables.

    Parameters
    ----------
    folder : str
        The study's folder.
    reads : mapping of str to mapping of str to str
        The files of the tables of each figure, by name; ``order`` orders the models.
    options : mapping of str to mapping
        What each figure's function is told, by parameter.
    code : mapping of str to str
        Digest of the code that draws each.
    threads : int
        How many processes draw at once.
    """
    keeper = Keeper(folder)
    files = {name: [f"{folder}/figures/{name}.{suffix}" for suffix in FORMATS] for name in reads}
    origins = {name: digest_origin(code[name], options[name], reads[name]) for name in reads}
    todo = [name for name in reads if not keeper.restore(name, origins[name], files[name])]

    def draw(name: str) -> None:
        figure = FIGURES[name]
        tables = [_read(reads[name][table]) for table in figure.reads]
        known = dict(options[name])
        if figure.order:
            known["order"] = _read(reads[name]["order"])["model"].unique().tolist()
        save_figure(load_function(figure.draw)(*tables, **known), files[name])
        keeper.keep(name, origins[name], files[name])

    # Imported once, before the process is copied.
    for name in todo:
        load_function(FIGURES[name].draw)
    run_parallel(draw, todo, processes=threads)
    logger.info(
        "drew %d of %d figures: %s", len(todo), len(reads), ", ".join(sorted(todo)) or "none"
    )


def _read(path: str) -> Any:
    return read_parquet(path) if path.endswith(".parquet") else read_declared(path)


if __name__ == "__main__":
    from job import run_job

    run_job(plot, snakemake)  # type: ignore[name-defined]
