"""Draw a study's figures."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from job import load_function

# isort: split
from capmap.artifacts import read_parquet
from capmap.catalog import FIGURES, find_owner
from capmap.figures.canvas import draw_note
from capmap.figures.look import read_look, wear_look
from capmap.figures.style import save_figure
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
    """
    for name, own in reads.items():
        files = [f"{folder}/figures/{name}.{suffix}" for suffix in FORMATS]
        left_out = _find_left_out(name, own, folder)
        _draw_figure(name, own, options[name], looks[name], files, left_out)
    logger.info("drew %d figures", len(reads))


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
