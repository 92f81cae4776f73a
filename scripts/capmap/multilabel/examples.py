"""Examples: images with several labels, and what the best and the worst model say of them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.exports.dumps import ScoreDump

EXAMPLES = {
    "model": "str",
    "image": "str",
    "class": "str",
    "score": "float64",
    "is_predicted": "bool",
    "is_label": "bool",
}
SHOWN = 7


def choose_models(summary: pd.DataFrame, *, dataset: str) -> dict[str, str]:
    """Choose the best and the worst model by ASMA, each with the title that it has in figures.

    Parameters
    ----------
    summary : pandas.DataFrame
        From `capmap.multilabel.rankings.summarize_models`.
    dataset : str
        The dataset whose ASMA counts.

    Returns
    -------
    dict of str to str
        Titles such as ``m (best)`` by model, the best one first; one where there is one model, none
        where no model has an ASMA. Of equal models the first by name is the best, the last the
        worst.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["a", "b", "c"], "dataset": "D", "asma": [0.1, 0.9, 0.4]})
    >>> choose_models(table, dataset="D")
    {'b': 'b (best)', 'a': 'a (worst)'}
    """
    own = summary[summary["dataset"] == dataset].dropna(subset="asma")
    models = own.sort_values(["asma", "model"], ascending=[False, True])["model"].to_list()
    if len(models) < 2:
        return {model: model for model in models}
    return {models[0]: f"{models[0]} (best)", models[-1]: f"{models[-1]} (worst)"}


def take_scores(dump: ScoreDump, chosen: Sequence[str]) -> npt.NDArray[np.floating]:
    """Take the scores of chosen images.

    Parameters
    ----------
    dump : ScoreDump
        Its images are known with or without the suffix of the image file.
    chosen : sequence of str
        Image files.

    Returns
    -------
    numpy.ndarray of shape (chosen images, classes)
    """
    rows = {PurePosixPath(name).stem: row for row, name in enumerate(dump.images or ())}
    return dump.scores[[rows[PurePosixPath(name).stem] for name in chosen]]


def choose_images(
    images: Sequence[str],
    sets: Sequence[Sequence[int]],
    *,
    n_images: int,
    make_rng: Callable[[str], np.random.Generator],
) -> list[int]:
    """Draw lots for the images to show.

    Parameters
    ----------
    images : sequence of str
        Their ids, each once.
    sets : sequence of sequence of int, shape (images, labels of the image)
        Their labels, each once.
    n_images : int
        How many to choose, at most.
    make_rng : callable
        Makes the random generator of an image from its id.

    Returns
    -------
    list of int
        Places of the chosen images, by id: of those with several labels or, where there is none, of
        those with one.

    Notes
    -----
    Each image has its own lot, so the choice depends neither on the order of the images nor on the
    models, and another image takes the place of one at most.
    """
    several = [place for place, own in enumerate(sets) if len(own) > 1]
    known = several or [place for place, own in enumerate(sets) if own]
    lots = {place: (make_rng(images[place]).random(), images[place]) for place in known}
    chosen = sorted(known, key=lots.__getitem__)[:n_images]
    return sorted(chosen, key=lambda place: images[place])


def list_examples(
    scores: Mapping[str, npt.NDArray[np.floating]],
    images: Sequence[str],
    sets: Sequence[Sequence[int]],
    *,
    classes: Sequence[str] = (),
) -> pd.DataFrame:
    """List the classes to show of some images, with their scores.

    Parameters
    ----------
    scores : mapping of str to ndarray of shape (images, classes)
        Scores by model; infinite ones are allowed, NaN is not.
    images : sequence of str
        Ids of the images.
    sets : sequence of sequence of int, shape (images, labels of the image)
        Their labels, each once.
    classes : sequence of str, optional
        Names of the classes; by default their ids.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``image``, ``class``, ``score``, ``is_predicted`` (among the k highest, for k
        labels) and ``is_label``: the labels, what is predicted and the 7 highest classes of each
        model and image, the highest first. The lowest class is ahead in a tie, as in the metrics.

    Examples
    --------
    >>> table = list_examples({"m": np.array([[0.2, 0.7, 0.1]])}, ["i"], [[0]])
    >>> table[["class", "is_predicted", "is_label"]].to_numpy().tolist()
    [['1', True, False], ['0', False, True], ['2', False, False]]
    """
    rows = []
    for model, values in scores.items():
        for image, labels, own in zip(images, sets, values, strict=True):
            order = np.argsort(-own, kind="stable").tolist()
            for rank, place in enumerate(order):
                is_predicted, is_label = rank < len(labels), place in labels
                if is_predicted or is_label or rank < SHOWN:
                    name = classes[place] if classes else str(place)
                    rows.append((model, image, name, float(own[place]), is_predicted, is_label))
    return pd.DataFrame(rows, columns=list(EXAMPLES)).astype(EXAMPLES)
