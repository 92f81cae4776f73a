"""Multi-label metrics by brute force, written from their definitions and nothing else.

Plain loops over lists: slow, and easy to check by eye. Scores are a list of lists, ``sets`` a list
of lists of classes, ``single`` a list of classes or none at all.
"""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
import numpy.typing as npt

Row = Sequence[float]
Found = dict[tuple[str, int | None], tuple[float, int]]


def order_classes(row: Row) -> list[int]:
    """Order the classes from the highest score to the lowest; in a tie the lowest class first."""
    return sorted(range(len(row)), key=lambda place: (-row[place], place))


def evaluate(
    scores: Sequence[Row],
    sets: Sequence[Sequence[int]],
    single: Sequence[int] | None,
    groups: list[int],
) -> Found:
    """Every metric with the number of images it rests on, by metric and number of labels."""
    orders = [order_classes(row) for row in scores]
    lists: dict[tuple[str, int | None], list[float]] = {}

    def note(metric: str, value: float, group: int | None = None) -> None:
        lists.setdefault((metric, group), []).append(value)

    for place, (order, labels) in enumerate(zip(orders, map(set, sets), strict=True)):
        if single is not None:
            note("top1", order[0] == single[place])
        if not labels:
            continue
        predicted = set(order[: len(labels)])
        right = len(predicted & labels)
        recall = right / len(labels)
        note("real", order[0] in labels)
        note("labelwise", recall)
        if len(labels) in groups:
            note("subgroup", recall, len(labels))
            note("real_subgroup", order[0] in labels, len(labels))
    found = {key: (fmean(values), len(values)) for key, values in lists.items()}
    parts = [found["subgroup", group] for group in groups if ("subgroup", group) in found]
    if parts:
        found["asma", None] = (fmean(a for a, _ in parts), sum(n for _, n in parts))
    return found


def draw_case(
    seed: int, *, images: int, classes: int, most: int | None = None, levels: int = 4
) -> tuple[npt.NDArray[np.float64], list[list[int]], list[int]]:
    """Draw scores with few distinct values, label sets of 0 to `most` classes and single labels."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-levels, levels, size=(images, classes)) / 4
    sizes = rng.integers(0, min(most or classes, classes) + 1, size=images)
    sets = [rng.permutation(classes)[:size].tolist() for size in sizes]
    single = rng.integers(classes, size=images).tolist()
    return scores, sets, single
