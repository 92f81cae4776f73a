"""PatchML: annotated objects, their crops, and images composed of them as Algorithm 1 does."""

import json
from functools import partial
from io import BytesIO
from itertools import combinations
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy import stats

from capmap.artifacts import read_table
from capmap.errors import CapmapError, ValidationError
from capmap.multilabel import patchml
from capmap.rng import make_stream

SIDE = 60
ORIENTATION = 0x0112
COLORS = {"red": (220, 0, 0), "green": (0, 180, 0), "blue": (0, 0, 250), "white": (250,) * 3}
NAMES = ("source", "label", "image")


def write_object(name: str = "cat", edges: object = (1, 2, 5, 9)) -> str:
    sides = zip(("xmin", "ymin", "xmax", "ymax"), edges, strict=True)
    box = "".join(f"<{side}>{edge}</{side}>" for side, edge in sides)
    return f"<object><name>{name}</name><bndbox>{box}</bndbox></object>"


def write_kaggle(folder: Path, *rows: str, header: str = "ImageId,PredictionString") -> Path:
    path = folder / "LOC_val_solution.csv"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8-sig")
    return path


def paint(size: tuple[int, int] = (40, 30)) -> Image.Image:
    """Paint a smooth image in which every pixel tells its place."""
    x, y = np.meshgrid(np.arange(size[0]), np.arange(size[1]))
    return Image.fromarray(np.stack([5 * x, 5 * y, 100 + 0 * x], axis=2).astype(np.uint8))


def annotate(
    image: str, *boxes: tuple[int, int, int, int], label: str = "cat"
) -> patchml.Annotation:
    return patchml.Annotation(image, [(label, list(map(str, box))) for box in boxes])


@pytest.fixture
def folder(tmp_path):
    images = tmp_path / "images"
    images.mkdir()
    paint().save(images / "a.png")
    return images


def cut(folder: Path, *annotations: patchml.Annotation, classes=()):
    """The rows of the crops, their pixels, and what was skipped."""
    archive = folder.parent / "crops.zip"
    crops, skipped = patchml.write_crops(
        annotations, patchml.ImageFolder(folder), archive, classes=classes
    )
    with ZipFile(archive) as file:
        contents = [file.read(patchml.CROP.format(patch)) for patch in crops["patch"]]
    pixels = [np.asarray(Image.open(BytesIO(content)), dtype=int) for content in contents]
    return crops, pixels, list(skipped.itertuples(index=False, name=None))


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("1.4", "1.5", "4.6", "9.0"), patchml.Box(1, 2, 5, 9)),
        ((" 1 ", "2", "5", "9\n"), patchml.Box(1, 2, 5, 9)),
        (("-3", "-0.4", "5", "9"), patchml.Box(-3, 0, 5, 9)),
        (("5", "2", "5", "9"), "the box (5, 2) to (5, 9) has no area"),
        (("5", "9", "7", "2"), "the box (5, 9) to (7, 2) has no area"),
        (("x", "2", "5", "9"), "xmin is no number: 'x'"),
        (("1", "2", "nan", "9"), "xmax is no number: 'nan'"),
        (("1", "2", "1e300", "9"), "xmax is no number: '1e300'"),
        (("1", "2", "5", ""), "ymax is missing"),
    ],
)
def test_edges_go_to_the_nearest_pixel_or_are_told(texts, found):
    assert patchml.read_box("cat", texts) == found


def test_voc_files_are_read_in_order_of_names_whatever_they_hold(tmp_path):
    part = "<part><name>head</name><bndbox><xmin>1</xmin></bndbox></part>"
    texts = {
        "b/2.xml": write_object() + write_object("dog", ("x", 0, 50, 40)),
        "a.XML": write_object().replace("</object>", f"{part}</object>"),
        "b/1.xml": "",
        "notes.txt": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"<annotation>{text}</annotation>")
    (tmp_path / "c.xml").mkdir()
    (tmp_path / "d.xml").write_bytes(b"<annotation>\x00\xff")
    first, empty, second, *broken = patchml.read_annotations(tmp_path)
    assert [first.image, empty.image, second.image] == ["a", "b/1", "b/2"]
    assert first.objects == [("cat", ["1", "2", "5", "9"])], "parts of an object are no objects"
    assert [label for label, _ in second.objects] == ["cat", "dog"]
    assert empty.fault == "no object is annotated"
    assert all(one.fault.startswith("the annotation cannot be read: ") for one in broken)
    assert len(broken) == 2


def test_faults_of_whole_inputs_are_said(tmp_path):
    with pytest.raises(CapmapError):
        list(patchml.read_annotations(tmp_path / "absent.csv"))
    with pytest.raises(ValidationError, match=r"no PASCAL-VOC annotation \(.xml\)"):
        list(patchml.read_annotations(tmp_path))
    with pytest.raises(ValidationError, match="column 'PredictionString' is missing"):
        list(patchml.read_annotations(write_kaggle(tmp_path, header="ImageId,x")))
    with pytest.raises(CapmapError):
        list(patchml.read_annotations(write_kaggle(tmp_path, 'v1,"n01 1 2 5 9')))
    with pytest.raises(ValidationError, match="there is no image in this folder"):
        patchml.ImageFolder(tmp_path)


def test_crops_have_the_pixels_inside_their_edges(folder):
    boxes = (10, 4, 30, 20), (0, 0, 40, 30), (39, 29, 40, 30)
    crops, pixels, _ = cut(folder, annotate("a", *boxes))
    assert crops[["source", "object", "label"]].iloc[0].tolist() == ["a.png", 1, "cat"]
    whole = np.asarray(paint()).astype(int)
    for (left, top, right, bottom), own in zip(boxes, pixels, strict=True):
        # JPEG of quality 95 is off by a few gray levels.
        assert np.abs(own - whole[top:bottom, left:right]).max() <= 8
    # Boxes refer to stored pixels whatever the orientation.
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    paint().save(folder / "turned.jpg", quality=95, subsampling=0, exif=exif)
    _, (own,), _ = cut(folder, annotate("turned", (30, 0, 40, 10)))
    assert np.abs(own[5, 5] - [175, 25, 100]).max() <= 8


def test_what_cannot_be_cut_is_skipped_alone_with_its_reason(folder):
    for name in ("x", "y"):
        (folder / name).mkdir()
        paint().save(folder / name / "b.JPG", "JPEG")
    content = patchml.encode_image(paint((400, 300)))
    (folder / "cut.jpg").write_bytes(content[: len(content) // 2])
    (folder / "text.png").write_text("no image")
    (folder / "gone.png").symlink_to("nowhere")
    inside = (0, 0, 9, 9)
    names = ("b", "x/b", "../a", "c", "cut", "text", "gone")
    crops, _, skipped = cut(
        folder,
        annotate("a", (-1, 0, 9, 9), (0, 0, 41, 9), inside),
        annotate("a", inside, label="dog"),
        *(annotate(name, inside) for name in names),
        patchml.Annotation("v", [], "no object is annotated"),
        classes=["cat"],
    )
    assert crops["source"].tolist() == ["a.png", "x/b.JPG", "a.png"]
    assert crops["object"].tolist() == [3, 1, 1]
    broken = "the file is no image, or a damaged one"
    assert [(source, reason) for source, _, reason in skipped] == [
        ("a.png", "the box (-1, 0) to (9, 9) leaves the image of 40 x 30 pixels"),
        ("a.png", "the box (0, 0) to (41, 9) leaves the image of 40 x 30 pixels"),
        ("a", "'dog' is not in the list of classes"),
        ("b", "there are 2 images: 'x/b.JPG', 'y/b.JPG'"),
        ("c", "there is no such image"),
        *((name, broken) for name in ("cut.jpg", "text.png", "gone.png")),
        ("v", "no object is annotated"),
    ]


@given(st.integers(1, 600), st.integers(1, 600), st.integers(1, 40))
def test_a_pair_fits_exactly_when_both_conditions_of_the_paper_hold(side, size, count):
    fits = count * size**2 <= side**2 and count <= (side // size) ** 2
    try:
        found = patchml.choose_pairs(counts=[count], sizes={str(count): size}, side=side)
    except ValidationError:
        assert not fits
    else:
        assert fits
        assert found == [(count, size)]


@st.composite
def draw_layouts(draw):
    """A canvas, a patch size, and patches that fit its grid."""
    side = draw(st.integers(1, 300))
    size = draw(st.integers(1, side))
    edge = st.integers(1, 1000)
    most = min((side // size) ** 2, 12)
    patches = draw(st.lists(st.tuples(edge, edge), min_size=1, max_size=most))
    return side, size, patches, draw(st.integers(0, 99))


@given(draw_layouts())
def test_patches_keep_their_proportions_in_cells_of_their_own(layout):
    side, size, patches, seed = layout
    sizes = [patchml.fit_size(*patch, size) for patch in patches]
    for before, after in zip(patches, sizes, strict=True):
        exact = [edge * size / max(before) for edge in before]
        pairs = zip(exact, after, strict=True)
        assert all(new == 1 if old < 1 else abs(new - old) <= 0.5 for old, new in pairs)
    edges = np.arange(side // size + 1) * side // (side // size)
    rng = make_stream(seed, "places")
    places = patchml.place_patches(sizes, size=size, side=side, rng=rng)
    boxes = []
    for (left, top), (width, height) in zip(places, sizes, strict=True):
        column, row = (int(np.searchsorted(edges, start, "right")) - 1 for start in (left, top))
        assert left + width <= edges[column + 1]
        assert top + height <= edges[row + 1]
        boxes.append((left, top, left + width, top + height))
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_sets_and_offsets_are_equally_likely():
    # Canvas 12, size 4: a patch of 4 x 2 has 3 offsets in its cell.
    draw = partial(patchml.place_patches, [(4, 2)], size=4, side=12, rng=make_stream(0, "places"))
    _, times = np.unique([draw()[0] for _ in range(1800)], axis=0, return_counts=True)
    assert len(times) == 3
    assert stats.chisquare(times).pvalue > 0.001
    # Two sets of 4 patches: patch 0 is drawn with patch 1, 2 or 3, each in a third of the draws.
    rng, partners = make_stream(0, "sets"), [0, 0, 0, 0]
    for _ in range(3000):
        for first, second in patchml.draw_sets(4, 2, rng=rng).tolist():
            if 0 in (first, second):
                partners[first + second] += 1
    assert stats.chisquare(partners[1:]).pvalue > 0.001


def make_pool(folder: Path, labels: list[str], seed: int = 0) -> pd.DataFrame:
    """Write crops of one color each, which is their label, of random proportions."""
    rng = np.random.default_rng(seed)
    (folder / "pool").mkdir(exist_ok=True)
    found = []
    for number, label in enumerate(labels):
        width, height = rng.integers(1, 40, 2).tolist()
        image = Image.new("RGB", (50, 50), COLORS.get(label, (200, 200, 0)))
        image.save(folder / f"pool/im{number}.png")
        found.append(annotate(f"im{number}", (3, 5, 3 + width, 5 + height), label=label))
    return patchml.write_crops(found, patchml.ImageFolder(folder / "pool"), folder / "crops.zip")[0]


def plan(pool: pd.DataFrame, *, counts=(1, 2, 4), sizes=(20, 30)) -> list[patchml.Plan]:
    pairs = [(count, size) for count in counts for size in sizes]
    make_rng = partial(make_stream, 0, "patchml")
    return list(patchml.plan_images(pool, pairs=pairs, side=SIDE, make_rng=make_rng))


def write(folder: Path, pool: pd.DataFrame, plans) -> None:
    names = {"archive": "crops.zip", "labels": "labels.json", "manifest": "manifest.csv"}
    paths = {key: folder / name for key, name in {**names, "folder": "images"}.items()}
    patchml.write_images(plans, pool, side=SIDE, **paths)


def test_images_show_the_patches_of_the_manifest_on_black(tmp_path):
    pool = make_pool(tmp_path, list(COLORS) * 5)
    plans = plan(pool)
    write(tmp_path, pool, plans)
    manifest = read_table(tmp_path / "manifest.csv", names=NAMES)
    patches = np.concatenate([one.patches for one in plans])
    assert manifest["source"].tolist() == [f"im{patch}.png" for patch in patches]
    source = manifest[[f"source_{side}" for side in patchml.BOX]].to_numpy()
    assert source.tolist() == pool[list(patchml.BOX)].to_numpy()[patches].tolist()
    for name, rows in manifest.groupby("image"):
        expected = np.zeros((SIDE, SIDE, 3))
        for row in rows.itertuples():
            expected[row.top : row.bottom, row.left : row.right] = COLORS[row.label]
        image = Image.open(tmp_path / "images" / name)
        assert image.format == "JPEG"
        # JPEG of quality 95 blurs the edges of pure colors by some gray levels.
        off = np.abs(np.asarray(image, dtype=float) - expected)
        assert off.mean() < 3
        assert np.quantile(off, 0.99) < 40


def test_labels_and_counts_are_those_of_algorithm_1(tmp_path):
    pool = make_pool(tmp_path, np.random.default_rng(2).choice(list(COLORS), 45).tolist())
    write(tmp_path, pool, plan(pool))
    manifest = read_table(tmp_path / "manifest.csv", names=NAMES)
    sets = json.loads((tmp_path / "labels.json").read_text())
    files = sorted(path.name for path in (tmp_path / "images").iterdir())
    assert sorted(sets) == files == sorted(manifest["image"].unique())
    for name, rows in manifest.groupby("image"):
        assert sets[name] == sorted(set(rows["label"]))
        assert (rows["count"] == len(rows)).all()
    for (count, size), own in manifest.groupby(["count", "size"]):
        # Algorithm 1 by hand: while the pool has n objects left and the grid n cells, draw n.
        left, images = list(range(45)), 0
        while len(left) >= count and count <= (SIDE // size) ** 2:
            left, images = left[count:], images + 1
        assert images == own["image"].nunique()


def test_any_text_is_a_label_and_too_few_objects_are_told(tmp_path):
    labels = ["=1+1", 'a "b", c', "two\nlines", "<script>", "007", "NA", "猫"]
    pool = make_pool(tmp_path, labels)
    with pytest.raises(ValidationError, match="7 cut objects, too few for any image"):
        write(tmp_path, pool, plan(pool, counts=[8], sizes=[20]))
    assert not (tmp_path / "images").exists()
    write(tmp_path, pool, plan(pool, counts=[1], sizes=[20]))
    sets = json.loads((tmp_path / "labels.json").read_text("utf-8"))
    assert sorted(label for (label,) in sets.values()) == sorted(labels)
    manifest = read_table(tmp_path / "manifest.csv", names=NAMES)
    assert sorted(manifest["label"]) == sorted(labels)
