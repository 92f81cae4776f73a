"""Classifiers over folders of images: what they see, what they write, and what is refused."""

import logging
import runpy
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import classify_images as script
from capmap.errors import ValidationError
from capmap.images.classification import make_levels, open_classifier, score_images, write_scores
from capmap.images.pictures import UnusableImageError, find_images, load_pixels
from classify_images import classify_images

ROOT = Path(__file__).parents[2]
MAKER = runpy.run_path(str(ROOT / "data/make_classifiers.py"))
MODELS = ROOT / "data/patchml/models"
Node = MAKER["Node"]
COLORS = {"a.png": (255, 0, 0), "b.png": (0, 51, 0), "c.png": (0, 0, 102)}
PLAIN = {"mean": [0.0] * 3, "std": [1.0] * 3}
ONE_ROW = [Node("Flatten", ["images"], "scores", {"axis": 0})]
# Its shapes are known only when it runs: 3 scores of images of 2 × 2 pixels, which are 12 numbers.
PIXELS = [
    Node("Flatten", ["images"], "flat"),
    Node("MatMul", ["flat", "pixels"], "found"),
    Node("Flatten", ["found"], "scores"),
]
needs_onnxruntime = pytest.mark.usefixtures("onnxruntime")


@pytest.fixture(scope="module")
def onnxruntime():
    return pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for name, color in COLORS.items():
        Image.new("RGB", (6, 4), color).save(folder / name)
    return folder


def write_model(folder, *, given=("n", 3, "h", "w"), found=("n", "k"), nodes=None, **arrays):
    """Write a classifier whose score of a class is the mean of one channel, or one of other nodes.

    Its classes are blue, green, red.
    """
    mean = [
        Node("GlobalAveragePool", ["images"], "means"),
        Node("Flatten", ["means"], "flat"),
        Node("Gemm", ["flat", "turn"], "scores"),
    ]
    content = MAKER["encode_model"](
        nodes or mean,
        {"turn": np.eye(3)[::-1], "pixels": np.ones((12, 3)), **arrays},
        given=given,
        found=found,
    )
    path = folder / "model.onnx"
    path.write_bytes(content)
    return path


def score(folder, model, *, size=2, batch_size=2, classes=0, **options):
    classifier = open_classifier(model, size=size, batch_size=batch_size, classes=classes)
    blocks = score_images(folder, find_images(folder), classifier, **{**PLAIN, **options})
    return np.concatenate(list(blocks))


def run_script(folder, model, out, **options):
    given = {"classes": [], "size": 2, "batch_size": 2, **PLAIN, **options}
    classify_images(
        images=str(folder),
        model=str(model),
        scores=str(out / "scores.npy"),
        ids=str(out / "ids.txt"),
        **given,
    )
    return np.load(out / "scores.npy"), (out / "ids.txt").read_text("utf-8").splitlines()


def test_images_are_found_by_suffix_in_all_folders_and_sorted(tmp_path):
    for name in ("b/2.JPEG", "b/1.jpg", "c.webp", "a.PNG", "notes.txt", ".hidden.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert find_images(tmp_path) == ["a.PNG", "b/1.jpg", "b/2.JPEG", "c.webp"]


def test_a_folder_without_images_is_refused(tmp_path):
    for empty in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ValidationError, match=r"there is no image in this folder.*\.png"):
            find_images(empty)


@pytest.mark.parametrize("name", ["two\nlines.png", " space.png", "caf\udce9.png"])
def test_names_that_cannot_stand_in_a_list_are_refused(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValidationError, match="1 name of images cannot stand in a list of ids"):
        find_images(tmp_path)


def test_the_whole_image_is_squeezed_into_the_square(tmp_path):
    # Left half red and right half blue: a center crop to a square would keep this, so the outer
    # quarters are green; they still fill half of the result.
    pixels = np.zeros((20, 80, 3), np.uint8)
    pixels[:, :, 0], pixels[:, :20], pixels[:, 60:] = 255, (0, 255, 0), (0, 255, 0)
    Image.fromarray(pixels).save(tmp_path / "wide.png")
    found = load_pixels(tmp_path / "wide.png", size=40)
    assert found.shape == (40, 40, 3)
    assert (found[:, [0, 5, 34, 39], 1] == 255).all()
    assert (found[:, [15, 20, 25], 0] == 255).all()


@pytest.mark.parametrize(
    ("mode", "color", "expected"),
    [
        ("L", 77, (77, 77, 77)),
        ("1", 1, (255, 255, 255)),
        ("LA", (77, 10), (77, 77, 77)),
        ("RGBA", (10, 20, 30, 0), (10, 20, 30)),
        # Full cyan leaves no red; no ink leaves the others.
        ("CMYK", (255, 0, 0, 0), (0, 255, 255)),
        # The upper of two bytes.
        ("I;16", 0x4D99, (0x4D, 0x4D, 0x4D)),
    ],
)
def test_every_kind_of_color_becomes_rgb(tmp_path, mode, color, expected):
    path = tmp_path / ("image.tif" if mode == "CMYK" else "image.png")
    Image.new(mode, (5, 3), color).save(path)
    assert (load_pixels(path, size=4) == expected).all()


def test_a_palette_with_transparency_gives_its_colors(tmp_path):
    image = Image.new("P", (4, 4), 1)
    image.putpalette([0, 0, 0, 9, 8, 7])
    image.save(tmp_path / "image.png", transparency=bytes([255, 0]))
    assert (load_pixels(tmp_path / "image.png", size=4) == (9, 8, 7)).all()


def test_stored_pixels_count_whatever_the_orientation_says(tmp_path):
    pixels = np.zeros((4, 4, 3), np.uint8)
    pixels[:2] = 255
    exif = Image.Exif()
    exif[0x0112] = 3  # to be shown upside down
    Image.fromarray(pixels).save(tmp_path / "image.png", exif=exif)
    assert (load_pixels(tmp_path / "image.png", size=4) == pixels).all()


def test_the_first_of_several_frames_counts(tmp_path):
    frames = [Image.new("RGB", (4, 4), color) for color in ("red", "blue")]
    frames[0].save(tmp_path / "image.tif", save_all=True, append_images=frames[1:])
    assert (load_pixels(tmp_path / "image.tif", size=2) == (255, 0, 0)).all()


def test_a_link_to_nowhere_is_no_corrupt_image(tmp_path):
    (tmp_path / "image.png").symlink_to(tmp_path / "absent.png")
    with pytest.raises(UnusableImageError, match=r"cannot be read \(No such file"):
        load_pixels(tmp_path / "image.png", size=2)


@pytest.mark.parametrize("mode", ["I", "F"])
def test_images_of_32_bits_are_refused(tmp_path, mode):
    Image.new(mode, (4, 4), 1).save(tmp_path / "image.tif")
    with pytest.raises(UnusableImageError, match="32-bit numbers"):
        load_pixels(tmp_path / "image.tif", size=2)


def test_levels_are_normalized_as_by_hand():
    levels = make_levels(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    assert levels.dtype == np.float32
    np.testing.assert_allclose(levels[1, 51], (0.2 - 0.456) / 0.224, rtol=1e-6)
    np.testing.assert_allclose(levels[2, 255], (1 - 0.406) / 0.225, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mean": [0.5], "std": [1, 1, 1]}, r"mean is \[0.5\]. Give three numbers"),
        ({"mean": [0, 0, float("nan")], "std": [1, 1, 1]}, "mean is"),
        ({"mean": [0, 0, 0], "std": [1, 0, 1]}, "Give three positive numbers"),
    ],
)
def test_unusable_means_and_deviations_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        make_levels(**options)


@needs_onnxruntime
def test_scores_stand_in_the_order_of_the_sorted_names(folder, tmp_path):
    scores, ids = run_script(folder, write_model(tmp_path), tmp_path / "out")
    assert ids == ["a.png", "b.png", "c.png"]
    # The share of blue, green and red in each plain image: 255, 51 and 102 of 255.
    np.testing.assert_allclose(scores, [[0, 0, 1], [0, 0.2, 0], [0.4, 0, 0]], atol=1e-7)
    assert scores.dtype == np.float32


@needs_onnxruntime
def test_scores_do_not_depend_on_the_batch_or_on_how_many_images_there_are(folder, tmp_path):
    model = write_model(tmp_path)
    expected = score(folder, model)
    for batch_size in (1, 3, 64):
        np.testing.assert_allclose(score(folder, model, batch_size=batch_size), expected, rtol=1e-6)
    (folder / "c.png").unlink()
    assert (score(folder, model) == expected[:2]).all()


@needs_onnxruntime
def test_a_model_may_have_channels_last_and_a_batch_of_its_own(folder, tmp_path):
    expected = score(folder, write_model(tmp_path))
    nodes = [
        Node("Transpose", ["images"], "first", {"perm": [0, 3, 1, 2]}),
        Node("GlobalAveragePool", ["first"], "means"),
        Node("Flatten", ["means"], "flat"),
        Node("Gemm", ["flat", "turn"], "scores"),
    ]
    last = write_model(tmp_path, nodes=nodes, given=(2, 2, 2, 3), found=(2, 3))
    np.testing.assert_allclose(score(folder, last, batch_size=50, classes=3), expected, rtol=1e-6)


@needs_onnxruntime
def test_scores_are_the_first_of_several_outputs(folder, tmp_path):
    path = write_model(tmp_path)
    expected = score(folder, path)
    # Fields may come again in a message, and messages in messages are joined: a second output.
    extra = MAKER["_field"](12, MAKER["_encode_value"]("means", ("n", 3, 1, 1)))
    path.write_bytes(path.read_bytes() + MAKER["_field"](7, extra))
    assert (score(folder, path) == expected).all()


@needs_onnxruntime
def test_the_same_images_give_the_same_bytes(folder, tmp_path):
    model = MODELS / "several.onnx"
    for out in ("one", "two"):
        run_script(folder, model, tmp_path / out, size=96)
    for name in ("scores.npy", "ids.txt"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@needs_onnxruntime
def test_all_unusable_images_are_named_and_earlier_scores_stay(folder, tmp_path):
    model, out = write_model(tmp_path), tmp_path / "out"
    run_script(folder, model, out)
    before = (out / "scores.npy").read_bytes()
    Image.effect_noise((40, 40), 80).convert("RGB").save(folder / "b.png")
    (folder / "b.png").write_bytes((folder / "b.png").read_bytes()[:900])
    (folder / "d.jpg").write_text("no image")
    (folder / "e.png").touch()
    with pytest.raises(ValidationError, match="3 images cannot be used") as raised:
        run_script(folder, model, out)
    for name in ("'b.png': the image is corrupt", "'d.jpg': the file is no image", "'e.png'"):
        assert name in str(raised.value)
    assert {path.name for path in out.iterdir()} == {"scores.npy", "ids.txt"}
    assert (out / "scores.npy").read_bytes() == before


@needs_onnxruntime
@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (
            {"given": ("n", 3, 8, 8)},
            {},
            r"takes images of 8 x 8 pixels, not 2 x 2. Set its size to 8",
        ),
        ({"given": ("n", 3, 8, 4)}, {}, "Export it for square images"),
        (
            {"given": ("n", 1, 2, 2), "turn": [[1]]},
            {},
            r"shape \(\?, 1, 2, 2\), without the 3 channels",
        ),
        ({"given": (3, "h", "w")}, {}, r"must take one input .* has 'images' .* \(3, \?, \?\)"),
        ({"found": ("n", "k", 1, 1)}, {}, "must give scores"),
        ({"found": ("n", 3)}, {"classes": 4}, "gives 3 scores per image, but there are 4 classes"),
        ({"nodes": ONE_ROW}, {}, r"have the shape \(1, 24\) instead of \(2, classes\)"),
        ({"nodes": PIXELS}, {"size": 3}, "the model fails on images of 3 x 3 pixels"),
        ({"turn": np.full((3, 3), np.nan)}, {}, "a score of the image 'a.png' is NaN"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(folder, tmp_path, model, options, message):
    path = write_model(tmp_path, **model)
    with pytest.raises(ValidationError, match=message):
        score(folder, path, **options)


@needs_onnxruntime
def test_a_file_that_is_no_model_is_refused(folder, tmp_path):
    with pytest.raises(ValidationError, match="there is no such file"):
        score(folder, tmp_path / "absent.onnx")
    (tmp_path / "text.onnx").write_text("no model")
    with pytest.raises(ValidationError, match=r"onnxruntime .* cannot load the model"):
        score(folder, tmp_path / "text.onnx")


def test_without_onnxruntime_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ValidationError, match="pip install onnxruntime"):
        open_classifier(MODELS / "few.onnx", size=96, batch_size=1, classes=0)


@needs_onnxruntime
def test_progress_is_logged(folder, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(script, "PROGRESS", 2)
    with caplog.at_level(logging.INFO):
        run_script(folder, write_model(tmp_path), tmp_path / "out")
    assert caplog.messages == ["2 of 3 images", "3 images, 3 classes"]


@needs_onnxruntime
def test_the_list_of_classes_belongs_to_the_model(folder, tmp_path):
    (tmp_path / "classes.txt").write_text("blue\ngreen\n")
    with pytest.raises(ValidationError, match="there are 2 classes"):
        run_script(
            folder,
            write_model(tmp_path, found=("n", 3)),
            tmp_path / "out",
            classes=[str(tmp_path / "classes.txt")],
        )


@needs_onnxruntime
def test_memory_does_not_grow_with_the_images(folder, tmp_path):
    for number in range(120):
        (folder / f"{number}.png").write_bytes((folder / "a.png").read_bytes())
    classifier = open_classifier(write_model(tmp_path), size=64, batch_size=4, classes=0)
    names = find_images(folder)
    # What is imported for the first picture is no memory of pictures.
    list(score_images(folder, names[:1], classifier, **PLAIN))
    tracemalloc.start()
    blocks = score_images(folder, names, classifier, **PLAIN)
    write_scores(tmp_path / "scores.npy", blocks, images=len(names))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # All images at once are 123 × 3 × 64 × 64 × 4 bytes = 6 MB, a batch of four 0.2 MB.
    assert peak < 1_000_000
    assert np.load(tmp_path / "scores.npy").shape == (123, 3)


@pytest.mark.slow
def test_each_example_classifier_has_the_bytes_that_its_script_makes():
    examples = MAKER["render_examples"]()
    assert {path.name for path in MODELS.iterdir()} == set(examples)
    for name, content in examples.items():
        assert (MODELS / name).read_bytes() == content, name
    assert sum(len(content) for content in examples.values()) < 200_000


@needs_onnxruntime
def test_an_example_classifier_computes_what_its_script_computes(tmp_path):
    random = np.random.RandomState(5)
    pixels = MAKER["make_composed"](random, 6).pixels
    edges = MAKER["find_edges"](pixels)
    prototypes = MAKER["choose_prototypes"](random, edges, 3)
    readout = MAKER["Readout"](random.normal(size=(8, 3)), random.normal(size=8))
    (tmp_path / "model.onnx").write_bytes(MAKER["build_edge_model"](prototypes, readout))
    expected = MAKER["compare_prototypes"](edges, prototypes) @ readout.weights.T + readout.bias
    np.testing.assert_allclose(
        score_arrays(tmp_path, pixels, tmp_path / "model.onnx"), expected, rtol=1e-4, atol=1e-5
    )


@needs_onnxruntime
def test_example_classifiers_change_places_once_all_shapes_count(tmp_path):
    random = np.random.RandomState(6)
    scenes, composed = (MAKER[name](random, 100) for name in ("make_scenes", "make_composed"))
    largest, found = {}, {}
    for model in ("largest", "several", "few", "pixels"):
        best = score_arrays(tmp_path / "scenes", scenes.pixels, MODELS / f"{model}.onnx").argmax(1)
        names = [MAKER["CLASSES"][place] for place in best]
        hits = [name == own[0] for name, own in zip(names, scenes.labels, strict=True)]
        largest[model] = np.mean(hits)
        ranked = score_arrays(tmp_path / "composed", composed.pixels, MODELS / f"{model}.onnx")
        found[model] = np.mean(
            [measure_hits(scores, own) for scores, own in zip(ranked, composed.labels, strict=True)]
        )
    assert sorted(largest, key=largest.get) == ["pixels", "few", "several", "largest"]
    assert largest["largest"] > 0.65
    assert sorted(found, key=found.get)[-1] == "several"
    # The share of labels found when as many are named as there are.
    assert found["several"] > found["largest"] + 0.1


def measure_hits(scores, labels):
    classes = {MAKER["CLASSES"].index(label) for label in labels}
    return len(classes & set(np.argsort(-scores)[: len(classes)].tolist())) / len(classes)


def score_arrays(folder, pixels, model):
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(pixels):
        Image.fromarray(image).save(images / f"{number:03d}.png")
    return score(images, model, size=96, batch_size=32, mean=[0.5] * 3, std=[0.5] * 3)
