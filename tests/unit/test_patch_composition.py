"""Composed images: pixels, labels, manifest, counts, and the shipped example from end to end."""

import json
import runpy
from collections import Counter
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from capmap.artifacts import read_table
from capmap.errors import ValidationError
from capmap.images import composition
from capmap.images.crops import Box, Crop, encode_image, shrink_image, write_crops
from capmap.rng import make_stream

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "data/patchml"
REFERENCE = ROOT.parent / "shared/reference/imagenet/patchml_label_counts.csv"
SIDE = 60
COLORS = {"red": (220, 0, 0), "green": (0, 180, 0), "blue": (0, 0, 250), "white": (250,) * 3}
NAMES = ("source", "label", "image")


def make_pool(folder: Path, labels: list[str], seed: int = 0) -> pd.DataFrame:
    """Write crops of one color each, which is their label, of random proportions."""
    rng = np.random.default_rng(seed)
    crops = []
    for number, label in enumerate(labels):
        width, height = rng.integers(1, 40, 2).tolist()
        box = Box(3, 5, 3 + width, 5 + height)
        content = encode_image(Image.new("RGB", (width, height), COLORS.get(label, (200, 200, 0))))
        crops.append(Crop(f"im{number}.png", 1, label, box, content))
    pool, _ = write_crops(crops, folder / "crops.tar")
    return pool


def plan(pool: pd.DataFrame, *, counts=(1, 2, 4), sizes=(20, 30), seed: int = 0):
    return list(
        composition.plan_images(
            pool,
            pairs=[(count, size) for count in counts for size in sizes],
            side=SIDE,
            make_rng=partial(make_stream, seed, "patchml"),
        )
    )


def write(folder: Path, pool: pd.DataFrame, plans) -> composition.Tally:
    return composition.write_images(
        plans,
        pool,
        archive=folder / "crops.tar",
        folder=folder / "images",
        labels=folder / "labels.json",
        manifest=folder / "manifest.csv",
        side=SIDE,
    )


def tabulate_boxes(count: int, seed: int) -> pd.DataFrame:
    """A pool without pixels: boxes of random size."""
    rng = np.random.default_rng(seed)
    right, bottom = rng.integers(1, 900, (2, count))
    return pd.DataFrame({"left": 0, "top": 0, "right": right, "bottom": bottom})


def test_a_further_pair_changes_no_other_image():
    crops = tabulate_boxes(20, 0)
    few = {one.name: one.boxes for one in plan(crops, counts=[2], sizes=[20])}
    many = {one.name: one.boxes for one in plan(crops, counts=[2, 3], sizes=[20, 30])}
    assert few.items() <= many.items()


def test_patches_stand_on_black_where_the_plan_says(tmp_path):
    labels = list(COLORS) * 5
    pool = make_pool(tmp_path, labels)
    content = (tmp_path / "crops.tar").read_bytes()
    for one in plan(pool):
        rows = pool.take(one.patches)
        jpegs = [
            content[start : start + size]
            for start, size in zip(rows["offset"], rows["bytes"], strict=True)
        ]
        image = Image.open(BytesIO(composition.compose_image(one, jpegs, side=SIDE)))
        expected = np.zeros((SIDE, SIDE, 3))
        for label, (left, top, right, bottom) in zip(rows["label"], one.boxes, strict=True):
            expected[top:bottom, left:right] = COLORS[label]
        assert image.format == "JPEG"
        # JPEG of quality 95 blurs the edges of pure colors by some gray levels.
        off = np.abs(np.asarray(image, dtype=float) - expected)
        assert off.mean() < 3
        assert np.quantile(off, 0.99) < 40


@pytest.mark.parametrize("size", [(400, 300), (200, 150), (60, 45), (7, 5), (800, 600)])
def test_shrunk_image_is_the_resized_one(size):
    x, y = np.meshgrid(np.linspace(0, 250, 400), np.linspace(0, 250, 300))
    image = Image.fromarray(np.stack([x, y, 0 * x], axis=2).astype(np.uint8))
    found = shrink_image(encode_image(image), size)
    whole = image.resize(size, Image.Resampling.BICUBIC)
    assert found.size == size
    off = np.abs(np.asarray(found, dtype=float) - np.asarray(whole, dtype=float))
    assert off.max() <= 12


def test_labels_are_the_union_of_the_patches_of_the_manifest(tmp_path):
    rng = np.random.default_rng(0)
    pool = make_pool(tmp_path, rng.choice(list(COLORS), 50).tolist())
    tally = write(tmp_path, pool, plan(pool))
    sets = json.loads((tmp_path / "labels.json").read_text())
    manifest = read_table(tmp_path / "manifest.csv", names=NAMES)
    files = sorted(path.name for path in (tmp_path / "images").iterdir())
    assert sorted(sets) == files == sorted(manifest["image"].unique())
    # 50 // 1, 50 // 2 and 50 // 4 images in each of two sizes.
    assert len(files) == 2 * (50 + 25 + 12)
    for name, rows in manifest.groupby("image"):
        assert sets[name] == sorted(set(rows["label"]))
        assert (rows["count"] == len(rows)).all()
    lengths = Counter(
        (*map(int, name.split("_")[0].split("x")), len(labels)) for name, labels in sets.items()
    )
    assert tally == lengths


def test_counts_per_objects_and_size_are_those_of_algorithm_1(tmp_path):
    labels = np.random.default_rng(2).choice(list(COLORS), 45).tolist()
    pool, counts = make_pool(tmp_path, labels), [1, 2, 4]
    tally = write(tmp_path, pool, plan(pool, counts=counts))
    asked = [(count, size) for count in counts for size in (20, 30)]
    table = composition.tabulate_pairs(tally, dataset="P", objects=len(pool), pairs=asked)
    manifest = read_table(tmp_path / "manifest.csv", names=NAMES)
    assert len(table) == 6
    for row in table.itertuples():
        # Algorithm 1 by hand: while the pool has n objects left and the grid n cells, draw n.
        left, images = list(range(45)), 0
        while len(left) >= row.count and row.count <= (SIDE // row.size) ** 2:
            left, images = left[row.count :], images + 1
        own = manifest[(manifest["count"] == row.count) & (manifest["size"] == row.size)]
        kinds = own.groupby("image")["label"].nunique()
        found = (row.images, row.unused, row.fewer_labels, row.objects)
        assert found == (images, len(left), int((kinds < row.count).sum()), 45)
        assert images == own["image"].nunique()
    # No image is lost between the two tables.
    assert composition.tabulate_labels(tally, dataset="P", counts=counts).iloc[0, 1:].sum() == (
        table["images"].sum()
    )


def test_manifest_tells_where_each_patch_comes_from(tmp_path):
    pool = make_pool(tmp_path, list(COLORS) * 3)
    plans = plan(pool)
    write(tmp_path, pool, plans)
    manifest = read_table(tmp_path / "manifest.csv", names=NAMES)
    patches = np.concatenate([one.patches for one in plans])
    sides = ["left", "top", "right", "bottom"]
    assert manifest["source"].tolist() == [f"im{patch}.png" for patch in patches]
    assert manifest[sides].to_numpy().tolist() == [list(b) for one in plans for b in one.boxes]
    source = manifest[[f"source_{side}" for side in sides]].to_numpy()
    assert source.tolist() == pool[sides].to_numpy()[patches].tolist()


def test_any_text_is_a_label(tmp_path):
    labels = ["=1+1", 'a "b", c', "two\nlines", "<script>", "007", "NA", "猫"]
    pool = make_pool(tmp_path, labels)
    write(tmp_path, pool, plan(pool, counts=[1], sizes=[20]))
    sets = json.loads((tmp_path / "labels.json").read_text("utf-8"))
    assert sorted(label for (label,) in sets.values()) == sorted(labels)
    manifest = read_table(tmp_path / "manifest.csv", names=NAMES)
    assert sorted(manifest["label"]) == sorted(labels)


def test_earlier_images_are_replaced_and_failures_leave_them(tmp_path):
    pool = make_pool(tmp_path, ["red"] * 3)
    (tmp_path / "images").mkdir()
    (tmp_path / "images/old.jpg").touch()
    with pytest.raises(ValidationError, match="3 cut objects, too few for any image"):
        write(tmp_path, pool, plan(pool, counts=[4], sizes=[20]))
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["old.jpg"]
    write(tmp_path, pool, plan(pool, counts=[3], sizes=[20]))
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["3x20_0000001.jpg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("crops.tar", "images", "labels.json", "manifest.csv")
    ]


def test_archive_of_other_crops_is_refused(tmp_path):
    pool = make_pool(tmp_path, ["red"] * 3)
    (tmp_path / "crops.tar").write_bytes(b"x" * 100)
    with pytest.raises(ValidationError, match="does not belong to its table"):
        write(tmp_path, pool, plan(pool, counts=[3], sizes=[20]))


def test_label_counts_have_the_shape_of_the_published_table():
    tally = Counter({(2, 20, 2): 30, (3, 20, 3): 19, (3, 20, 2): 1, (5, 9, 5): 1})
    table = composition.tabulate_labels(tally, dataset="PatchML1", counts=[3, 2, 4])
    assert table.to_dict("records") == [
        {"dataset": "PatchML1", "2": 31, "3": 19, "4": 0, "other": 1}
    ]


@pytest.mark.skipif(not REFERENCE.is_file(), reason="the published numbers are not here")
def test_sizes_of_their_own_make_as_many_images_as_published():
    # A pool of 53 510 objects, see `draw_sets`; published are images by number of labels, of which
    # one in a thousand pairs shares one, so nine objects have 3.5% fewer labels than objects.
    counts = [2, 3, 4, 6, 9]
    published = pd.read_csv(REFERENCE).drop(columns="dataset").mean()
    pairs = composition.choose_pairs(counts=counts, sizes={}, side=224)
    assert pairs == [(2, 112), (3, 112), (4, 112), (6, 74), (9, 74)]
    images = [53_510 // count for count, _ in pairs]
    assert images == pytest.approx(published.tolist(), rel=0.04)


def test_example_is_what_its_script_makes(tmp_path, monkeypatch):
    script = runpy.run_path(str(ROOT / "data/make_patchml.py"))
    monkeypatch.setitem(script["main"].__globals__, "FOLDER", tmp_path)
    script["main"]()
    names = [
        path.relative_to(EXAMPLE)
        for path in sorted(EXAMPLE.rglob("*"))
        if path.is_file() and path.suffix != ".npz"
    ]
    assert names == [
        path.relative_to(tmp_path) for path in sorted(tmp_path.rglob("*")) if path.is_file()
    ]
    assert sum((EXAMPLE / name).stat().st_size for name in names) < 300_000
    for name in names:
        if name.suffix == ".png":
            both = [np.asarray(Image.open(folder / name)) for folder in (EXAMPLE, tmp_path)]
            assert np.array_equal(*both), name
        else:
            assert (EXAMPLE / name).read_bytes() == (tmp_path / name).read_bytes(), name
