"""Examples of images with several labels: which are chosen, and what is shown of them."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import plot_examples as script
from capmap.exports.dumps import ScoreDump
from capmap.multilabel.examples import choose_images, choose_models, list_examples, take_scores
from capmap.rng import make_stream
from plot_examples import plot_examples
from tests.figure_checks import drawn_words

CLASSES = ["ant", "bee", "cat", "dog"]
SETS = {"a.png": ["ant", "bee"], "b.jpg": ["cat"], "c d.png": [3, 0, 2], "é.png": []}
MODELS = {"good": 0.9, "$x_1$ <b>": 0.5, "poor": 0.1}
NAMES = st.lists(st.text("abcdef/.é", min_size=1), unique=True, max_size=12)


def make_rng(name):
    return make_stream(0, "toy", name)


def make_summary(values, dataset="D"):
    return pd.DataFrame({"model": list(values), "dataset": dataset, "asma": list(values.values())})


def test_the_best_and_the_worst_model_are_those_of_the_dataset():
    table = pd.concat(
        [make_summary({"a": 0.5, "b": 0.7, "c": np.nan, "d": 0.6}), make_summary({"e": 1.0}, "E")]
    )
    assert choose_models(table, dataset="D") == {"b": "b (best)", "a": "a (worst)"}
    assert choose_models(table, dataset="E") == {"e": "e"}
    assert choose_models(table, dataset="F") == {}


def test_two_models_are_chosen_where_all_are_equal():
    titles = choose_models(make_summary({"c": 0.5, "a": 0.5, "b": 0.5}), dataset="D")
    assert titles == {"a": "a (best)", "c": "c (worst)"}


@given(NAMES, st.randoms(use_true_random=False))
def test_the_order_of_images_does_not_matter(names, random):
    sets = {name: list(range(len(name))) for name in names}
    shuffled = random.sample(names, len(names))
    chosen = [
        [own[place] for place in choose_images(own, [sets[name] for name in own], **options)]
        for own in (names, shuffled)
        for options in [{"n_images": 4, "make_rng": make_rng}]
    ]
    assert chosen[0] == chosen[1] == sorted(chosen[0])
    several = [name for name in names if len(name) > 1]
    assert len(chosen[0]) == min(4, len(several) or len(names))
    assert set(chosen[0]) <= set(several or names)


def test_another_image_takes_the_place_of_one_at_most():
    names = [f"i{place}" for place in range(50)]
    chosen = [
        choose_images(names[:count], [[0, 1]] * count, n_images=6, make_rng=make_rng)
        for count in range(6, 51)
    ]
    for before, after in pairwise(chosen):
        assert len(set(before) & set(after)) >= 5
    assert chosen[0] == list(range(6))
    assert chosen[-1] != list(range(6))


def test_images_without_labels_are_never_chosen():
    assert choose_images(["a", "b"], [[], [1]], n_images=6, make_rng=make_rng) == [1]
    assert choose_images(["a"], [[]], n_images=6, make_rng=make_rng) == []


@pytest.mark.parametrize("ids", [["b.png", "a.JPEG"], ["b", "a"]])
def test_scores_are_found_with_and_without_the_suffix_of_the_image(ids):
    scores = np.array([[0.0, 1.0], [2.0, 3.0]])
    taken = take_scores(ScoreDump(scores, ids), ["a.JPEG"])
    assert taken.tolist() == [[2.0, 3.0]]


@given(st.integers(1, 12), st.integers(0, 99), st.sampled_from(["f2", "f4", "f8"]))
def test_as_many_classes_are_predicted_as_there_are_labels(n_classes, seed, kind):
    rng = np.random.default_rng(seed)
    # Few different values make ties, and infinite ones are scores too.
    scores = rng.choice([-np.inf, -1.5, 0.0, 0.25, np.inf], size=(3, n_classes)).astype(kind)
    sets = [
        sorted(rng.choice(n_classes, size, replace=False).tolist())
        for size in rng.integers(0, n_classes + 1, size=3)
    ]
    table = list_examples({"m": scores}, ["i", "j", "k"], sets)
    for image, labels, own in zip("ijk", sets, scores.tolist(), strict=True):
        rows = table[table["image"] == image]
        order = sorted(range(n_classes), key=lambda place: (-own[place], place))
        predicted = set(order[: len(labels)])
        shown = [place for place in order if place in {*predicted, *labels, *order[:7]}]
        assert rows["class"].astype(int).to_list() == shown
        assert rows["score"].to_list() == [own[place] for place in shown]
        assert set(rows.loc[rows["is_predicted"], "class"].astype(int)) == predicted
        assert rows.loc[rows["is_label"], "class"].astype(int).sort_values().to_list() == labels


def test_nothing_to_show_is_an_empty_table():
    table = list_examples({}, [], [])
    assert table.empty
    assert table["is_label"].dtype == bool


@pytest.fixture
def study(tmp_path):
    """What the script takes: four images, of which two have several labels, and three models."""
    (tmp_path / "images").mkdir()
    for place, name in enumerate(SETS):
        color = (60 * place, 0, 200)
        Image.new("RGB", (9 + place, 5), color).save(tmp_path / "images" / name)
    rng = np.random.default_rng(0)
    dumps = [str(tmp_path / f"{place}.npz") for place in range(len(MODELS))]
    for path in dumps:
        scores = rng.normal(size=(len(SETS), len(CLASSES))).astype(np.float32)
        np.savez(path, scores=scores, ids=np.array(list(SETS)))
    (tmp_path / "labels.json").write_text(json.dumps(SETS))
    (tmp_path / "classes.txt").write_text("".join(f"{name}\n" for name in CLASSES))
    make_summary(MODELS).to_csv(tmp_path / "summary.csv", index=False)
    return {
        "summary": str(tmp_path / "summary.csv"),
        "dumps": dumps,
        "labels": [str(tmp_path / "labels.json")],
        "images": [str(tmp_path / "images")],
        "classes": [str(tmp_path / "classes.txt")],
        "study": "toy",
        "dataset": "D",
        "models": list(MODELS),
        "seed": 0,
        "style": [],
        "looks": {"prediction_examples": {}},
    }


def draw(study, folder, **options):
    """Draw in all formats and return their bytes."""
    paths = [folder / f"drawn.{suffix}" for suffix in ("pdf", "png", "svg")]
    plot_examples(**{**study, **options}, prediction_examples_figure=list(map(str, paths)))
    return [path.read_bytes() for path in paths]


def test_two_calls_and_another_order_of_models_give_the_same_bytes(study, tmp_path):
    first = draw(study, tmp_path)
    assert draw(study, tmp_path) == first
    turned = {"dumps": study["dumps"][::-1], "models": study["models"][::-1]}
    assert draw(study, tmp_path, **turned) == first


def test_the_scores_of_the_two_models_and_the_images_are_shown(study, monkeypatch):
    drawn = []
    monkeypatch.setattr(script, "draw_prediction_panels", lambda *given: drawn.append(given))
    monkeypatch.setattr(script, "save_figure", lambda *_: None)
    plot_examples(**study, prediction_examples_figure=[])
    table, thumbnails = drawn[0]
    assert set(table["model"]) == {"good (best)", "poor (worst)"}
    assert set(table["image"]) == set(thumbnails) == {"a.png", "c d.png"}
    own = table[(table["model"] == "poor (worst)") & (table["image"] == "c d.png")]
    assert own.set_index("class")["score"].to_dict() == pytest.approx(
        dict(zip(CLASSES, np.load(study["dumps"][2])["scores"][2].tolist(), strict=True))
    )
    assert set(own.loc[own["is_label"], "class"]) == {"ant", "cat", "dog"}
    assert own["is_predicted"].sum() == 3
    assert thumbnails["c d.png"].shape == (160, 160, 3)
    assert (thumbnails["c d.png"] == (120, 0, 200)).all()


def test_one_model_without_class_names_is_drawn(study, tmp_path):
    sets = dict(zip(SETS, [[0, 1], [2], [3, 0], []], strict=True))
    Path(study["labels"][0]).write_text(json.dumps(sets))
    one = {"dumps": study["dumps"][1:2], "models": study["models"][1:2], "classes": []}
    assert all(draw(study, tmp_path, **one))


def test_a_dataset_without_asma_and_a_study_without_images_have_a_note(study, monkeypatch):
    drawn = []
    monkeypatch.setattr(script, "save_figure", lambda figure, _: drawn.append(figure))
    files = ("dumps", "labels", "images", "classes", "models")
    for options in ({"dataset": "E"}, {"dataset": "", **{name: [] for name in files}}):
        plot_examples(**{**study, **options}, prediction_examples_figure=[])
    assert "No image was chosen as an example." in drawn_words(drawn[0])
    assert "There are no images to show" in " ".join(drawn_words(drawn[1]))
