"""Draw examples of images with several labels, and what models say of them."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capmap.artifacts import read_table
from capmap.exports.classes import read_classes
from capmap.exports.dumps import ScoreDump, open_scores
from capmap.exports.labels import read_label_sets
from capmap.figures.canvas import draw_note
from capmap.figures.examples import HEADING, draw_prediction_panels
from capmap.figures.look import read_look, wear_look
from capmap.figures.style import save_figure
from capmap.images.pictures import load_pixels
from capmap.multilabel.examples import choose_images, choose_models, list_examples, take_scores
from capmap.rng import make_stream

N_IMAGES = 6
SIDE = 160
NO_IMAGES = (
    "There are no images to show: examples are drawn of the images that a study composes (patchml)."
)

logger = logging.getLogger(__name__)


def plot_examples(
    *,
    summary: str,
    dumps: list[str],
    labels: list[str],
    images: list[str],
    classes: list[str],
    style: list[str],
    prediction_examples_figure: list[str],
    study: str,
    dataset: str,
    models: list[str],
    seed: int,
    looks: Mapping[str, Mapping[str, Any]],
) -> None:
    """Draw what the best and the worst model by ASMA say of some images of a dataset.

    Parameters
    ----------
    summary : str
        The table multilabel/summary.csv.
    dumps : list of str
        Scores of the dataset's images by each of `models`; none where there are no images.
    labels, images : list of str
        File of the images' labels, and their folder: one each, or none where there are no images.
    classes : list of str
        File of the classes in the order of the scores, or nothing.
    style : list of str
        Style sheet of the figure, or nothing.
    prediction_examples_figure : list of str
        Where to write the figure, in formats that `save_figure` knows.
    study : str
        Name of the study, part of the names of its random streams.
    dataset : str
        The dataset; empty where there are no images.
    models : list of str
        Whose scores each dump has.
    seed : int
        Seed of the study's random streams.
    looks : mapping of str to mapping
        What the study has chosen for the look of the figure, by its name.
    """
    look = read_look(looks["prediction_examples"], style="".join(style))
    if not dumps:
        with wear_look(look):
            save_figure(draw_note(NO_IMAGES, heading=HEADING), prediction_examples_figure)
        logger.info("no images to show")
        return
    table = read_table(summary)
    titles = choose_models(table[table["model"].isin(models)], dataset=dataset)
    known = [name for path in classes for name in read_classes(path)]
    found = read_label_sets(labels[0], classes=known)
    names, sets = found.images or [], [sorted(set(own)) for own in found.sets]
    places = choose_images(
        names,
        sets,
        n_images=N_IMAGES,
        make_rng=lambda name: make_stream(seed, study, "examples", dataset, name),
    )
    chosen = [names[place] for place in places]
    files = dict(zip(models, dumps, strict=True))
    opened = {title: open_scores(files[model]) for model, title in titles.items()}
    examples = list_examples(
        {
            title: take_scores(dump, chosen)
            for title, dump in opened.items()
            if isinstance(dump, ScoreDump) and dump.images
        },
        chosen,
        [sets[place] for place in places],
        classes=known,
    )
    thumbnails = {name: load_pixels(Path(images[0], name), size=SIDE) for name in chosen}
    with wear_look(look):
        save_figure(draw_prediction_panels(examples, thumbnails), prediction_examples_figure)
    logger.info("%d images of %s", len(chosen), dataset)


if __name__ == "__main__":
    from job import run_job

    run_job(plot_examples, snakemake)  # type: ignore[name-defined]
