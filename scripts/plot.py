"""Draw a study's figures, those of them that would come out otherwise than they are."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from job import load_function, run_parallel

# isort: split
from capmap.artifacts import read_parquet
from capmap.catalog import FIGURES, find_owner
from capmap.figures.canvas import draw_note
from capmap.figures.look import read_look, wear_look
from capmap.figures.style import save_figure
from capmap.freshness import Keeper, digest_origin
from capmap.sizes import read_left_out
from capmap.tables import read_declared

FORMATS = ("pdf", "png", "svg", "inline.svg")

logger = logging.getLogger(__name__)


def plot(
    *,
    folder: str,
    reads: Mapping[str, Mapping[str, str]],
    options: Mapping[str, Mapping[str, Any]],
    looks: Mapping[str, Mapping[str, Any]],
    code: Mapping[str, str],
    threads: int,
) -> None:
    """Draw figures of finished tables.

    Parameters
    ----------
    folder : str
        The study's folder.
    reads : mapping of str to mapping of str to str
        The files of the tables of each figure, by name; ``order`` orders the models, ``style`` is a
        style sheet.
    options : mapping of str to mapping
        What each figure's function is given, by parameter.
    looks : mapping of str to mapping
        What the study has chosen for the look of each, see `capmap.figures.look.read_look`.
    code : mapping of str to str
        Digest of the code that draws each.
    threads : int
        How many processes draw at once.
    """
    keeper = Keeper(folder)
    files = {name: [f"{folder}/figures/{name}.{suffix}" for suffix in FORMATS] for name in reads}
    left_out = {name: _find_left_out(name, own, folder) for name, own in reads.items()}
    given = {
        name: {"options": options[name], "look": looks[name], "left_out": left_out[name]}
        for name in reads
    }
    origins = {name: digest_origin(code[name], given[name], reads[name]) for name in reads}
    todo = [name for name in reads if not keeper.restore(name, origins[name], files[name])]

    def draw(name: str) -> None:
        _draw_figure(name, reads[name], options[name], looks[name], files[name], left_out[name])
        keeper.keep(name, origins[name], files[name])

    # Imported once, before the process is copied.
    for name in todo:
        load_function(FIGURES[name].draw)
    run_parallel(draw, todo, processes=threads)
    logger.info(
        "drew %d of %d figures: %s", len(todo), len(reads), ", ".join(sorted(todo)) or "none"
    )


def _draw_figure(
    name: str,
    reads: Mapping[str, str],
    options: Mapping[str, Any],
    look: Mapping[str, Any],
    files: Sequence[str],
    left_out: str,
) -> None:
    figure, known = FIGURES[name], dict(options)
    if left_out:
        with wear_look(read_look(look, style=reads.get("style", ""))):
            save_figure(draw_note(left_out), files)
        return
    tables = {read: _read(path) for read, path in reads.items() if read != "style"}
    if figure.order:
        known["order"] = tables["order"]["model"].unique().tolist()
    with wear_look(read_look(look, style=reads.get("style", ""))):
        drawn = load_function(figure.draw)(*(tables[read] for read in figure.reads), **known)
        save_figure(drawn, files)


def _find_left_out(name: str, reads: Mapping[str, str], folder: str) -> str:
    """Why a step of the figure's analysis that makes its tables is left out, if one is."""
    makers = (
        step
        for step, made in find_owner(name, "figures").steps.items()
        if {*made.tables} & {*FIGURES[name].reads}
        or any(path.endswith(f"/{file}") for path in reads.values() for file in made.files.values())
    )
    return next((reason for step in makers if (reason := read_left_out(folder, step))), "")


def _read(path: str) -> Any:
    return read_parquet(path) if path.endswith(".parquet") else read_declared(path)


if __name__ == "__main__":
    from job import run_job

    run_job(plot, snakemake)  # type: ignore[name-defined]
