"""Algorithm 1 on numbers: pairs that fit, sets of patches, and places on the canvas."""

from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.errors import ValidationError
from capmap.images import composition
from capmap.rng import make_stream

REFERENCE = Path(__file__).parents[3] / "shared/reference/imagenet/patchml_label_counts.csv"


@st.composite
def draw_layouts(draw):
    """A canvas, a patch size, and patches that fit its grid."""
    side = draw(st.integers(1, 300))
    size = draw(st.integers(1, side))
    cells = (side // size) ** 2
    edge = st.integers(1, 1000)
    patches = draw(st.lists(st.tuples(edge, edge), min_size=1, max_size=min(cells, 12)))
    return side, size, patches, draw(st.integers(0, 99))


@given(st.integers(1, 600), st.integers(1, 600), st.integers(1, 40))
def test_pair_fits_exactly_when_both_conditions_of_the_paper_hold(side, size, count):
    cols = side // size
    fits = count * size**2 <= side**2 and count <= cols**2
    sizes = {str(count): size}
    try:
        assert composition.choose_pairs(counts=[count], sizes=sizes, side=side) == [(count, size)]
    except ValidationError:
        assert not fits
    else:
        assert fits


@given(st.integers(1, 60), st.integers(1, 300))
def test_without_sizes_each_count_has_the_largest_that_fits(count, side):
    # By trying all sizes from the largest on.
    fitting = [size for size in range(side, 0, -1) if (side // size) ** 2 >= count]
    if fitting:
        assert composition.choose_pairs(counts=[count], sizes={}, side=side) == [
            (count, fitting[0])
        ]
    else:
        with pytest.raises(ValidationError, match="do not fit"):
            composition.choose_pairs(counts=[count], sizes={}, side=side)


def test_sizes_are_of_their_counts_and_fit():
    pairs = composition.choose_pairs(counts=[9, 2, 2], sizes={"9": 56}, side=224)
    assert pairs == [(2, 112), (9, 56)]
    for counts, sizes, message in [
        ([2], {"9": 74}, "9 is none of patchml.counts, which are 2"),
        ([9], {"9": 112}, "9 patches of 112 pixels do not fit a canvas of 224 x 224 pixels"),
    ]:
        with pytest.raises(ValidationError, match=f"patchml.sizes: {message}"):
            composition.choose_pairs(counts=counts, sizes=sizes, side=224)


@given(st.integers(0, 200), st.integers(1, 12), st.integers(0, 99))
def test_sets_use_each_patch_at_most_once_until_too_few_remain(pool, count, seed):
    sets = composition.draw_sets(pool, count, rng=make_stream(seed, "sets"))
    assert sets.shape == (pool // count, count)
    assert len(np.unique(sets)) == sets.size
    assert not sets.size or (sets.min() >= 0 and sets.max() < pool)


def test_all_sets_are_equally_likely():
    # Two sets of 4 patches: patch 0 is drawn with patch 1, 2 or 3, each in a third of the draws.
    rng = make_stream(0, "sets")
    partners = [0, 0, 0, 0]
    for _ in range(3000):
        for first, second in composition.draw_sets(4, 2, rng=rng).tolist():
            if 0 in (first, second):
                partners[first + second] += 1
    assert stats.chisquare(partners[1:]).pvalue > 0.001


@pytest.mark.skipif(not REFERENCE.is_file(), reason="the published numbers are not here")
def test_one_whole_pool_per_count_explains_the_published_numbers_of_images():
    # Images of n patches have n labels unless patches share one. With a pool of 53 510 patches of
    # 1000 nearly equally frequent classes, the mean of five datasets is met within 4 standard
    # errors (each dataset scatters by about 12 images, their mean by 6).
    published = pd.read_csv(REFERENCE).drop(columns="dataset").mean()
    rng = make_stream(0, "published")
    frequencies = rng.gamma(30, size=1000)
    labels = rng.choice(1000, 53_510, p=frequencies / frequencies.sum())
    images = dict.fromkeys(range(1, 10), 0)
    for count in (2, 3, 4, 6, 9):
        own = np.sort(labels[composition.draw_sets(len(labels), count, rng=rng)], axis=1)
        distinct = 1 + np.count_nonzero(np.diff(own, axis=1), axis=1)
        for number, times in zip(*np.unique(distinct, return_counts=True), strict=True):
            images[int(number)] += int(times)
    for count, mean in published.items():
        assert images[int(count)] == pytest.approx(mean, abs=30), count


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 500))
def test_resizing_keeps_proportions_to_half_a_pixel(width, height, size):
    new = composition.fit_size(width, height, size)
    assert max(new) == size
    longest = max(width, height)
    for before, after in zip((width, height), new, strict=True):
        exact = before * size / longest
        assert after == 1 if exact < 1 else abs(after - exact) <= 0.5


@given(draw_layouts())
def test_patches_stay_in_cells_of_their_own_and_never_overlap(layout):
    side, size, patches, seed = layout
    sizes = [composition.fit_size(*patch, size) for patch in patches]
    rng = make_stream(seed, "places")
    places = composition.place_patches(sizes, size=size, side=side, rng=rng)
    edges = np.array(composition.list_edges(size=size, side=side))
    cells = set()
    boxes = []
    for (left, top), (width, height) in zip(places, sizes, strict=True):
        column, row = (int(np.searchsorted(edges, start, "right")) - 1 for start in (left, top))
        assert edges[column] <= left < left + width <= edges[column + 1]
        assert edges[row] <= top < top + height <= edges[row + 1]
        cells.add((row, column))
        boxes.append((left, top, left + width, top + height))
    assert len(cells) == len(patches)
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@given(st.integers(1, 600), st.integers(1, 600))
def test_cells_share_the_whole_canvas_and_hold_the_patch_size(side, size):
    if size > side:
        return
    edges = composition.list_edges(size=size, side=side)
    widths = np.diff(edges)
    assert (edges[0], edges[-1], len(widths)) == (0, side, side // size)
    assert widths.min() >= size
    assert widths.max() - widths.min() <= 1


def test_offsets_are_equally_likely():
    # Canvas 12, size 4: a patch of 4 x 2 has 3 offsets in its cell.
    rng = make_stream(0, "places")
    draw = partial(composition.place_patches, [(4, 2)], size=4, side=12, rng=rng)
    places = [draw()[0] for _ in range(1800)]
    _, times = np.unique(places, axis=0, return_counts=True)
    assert len(times) == 3
    assert stats.chisquare(times).pvalue > 0.001
