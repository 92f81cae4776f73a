"""Results of several publications: kept apart when read, compared, told in tables and figures."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.comparison.publications import compare_publications, list_publications
from capmap.exports import read_exports
from capmap.figures.publications import draw_disagreements
from capmap.prose.publications import describe_publications
from tests.figure_checks import assert_legible

CELLS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from("de"),
        st.sampled_from(["P", "Q", "R", ""]),
        st.integers(0, 8),
    ),
    min_size=1,
    max_size=20,
)


def read(path, text, **columns):
    path.write_text(text, encoding="utf-8")
    settings = {"where": {}, "metric": "accuracy", "decimal": "auto"}
    found = read_exports([str(path)], columns=columns, **settings)
    assert not [problem for problem in found.problems if problem.severity == "error"]
    return found.runs


def make_tables(rows):
    exported = pd.DataFrame(rows, columns=["model", "dataset", "publication", "score"])
    exported["seed"] = [str(place) for place in range(len(rows))]
    runs = exported.drop(columns="publication").assign(score=exported["score"] / 8)
    return runs, exported


def test_results_of_publications_stay_apart_whether_or_not_there_are_seeds(tmp_path):
    text = "model,dataset,score,paper,seed\nm,d,0.5,Li 2024,1\nm,d,0.6,Li 2024,2\nm,d,0.7,,1\n"
    runs = read(tmp_path / "seeds.csv", text, publication="paper")
    assert list(runs["seed"]) == ["Li 2024 / 1", "Li 2024 / 2", "1"]
    assert list(runs["publication"]) == ["Li 2024", "Li 2024", ""]
    text = "model,dataset,score,paper\nm,d,0.5,Li 2024\nm,d,0.7,Wu 2025\n"
    runs = read(tmp_path / "none.csv", text, publication="paper")
    assert list(runs["seed"]) == ["Li 2024", "Wu 2025"]


def test_the_range_of_a_cell_has_the_names_of_its_ends():
    rows = [("m", "d", "Li", 4), ("m", "d", "Li", 6), ("m", "d", "Wu", 8), ("m", "e", "Li", 1)]
    found = compare_publications(*make_tables(rows))
    # Li reports 4 and 6, in the mean 5 of 8.
    [cell] = found["disagreements"].to_dict("records")
    assert cell == {
        **{"model": "m", "dataset": "d", "publications": 2, "range": 0.375},
        **{"low": 0.625, "low_publication": "Li", "high": 1.0, "high_publication": "Wu"},
    }
    results = found["publications"].set_index(["dataset", "publication"])
    assert results.loc[("d", "Li"), ["n", "score", "others", "difference"]].tolist() == [
        *(2, 5, 1.0, -0.375)
    ]
    assert results.loc[("e", "Li"), ["others", "difference"]].isna().all()
    text = " ".join(describe_publications(found["publications"], found["disagreements"]))
    assert "2 publications and 2 results" in text
    assert "0.625 by 'Li' and 1.000 by 'Wu'" in text


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(CELLS, st.randoms(use_true_random=False))
def test_ranges_equal_a_brute_force_and_do_not_depend_on_the_order_of_rows(rows, random):
    runs, exported = make_tables(rows)
    found = compare_publications(runs, exported)
    means = {}
    for model, dataset, publication, score in rows:
        means.setdefault((model, dataset), {}).setdefault(publication, []).append(score / 8)
    expected = {}
    for cell, reported in means.items():
        if len(reported) > 1:
            own = {name: np.mean(values) for name, values in reported.items()}
            expected[cell] = max(own.values()) - min(own.values())
    table = found["disagreements"].set_index(["model", "dataset"])["range"]
    assert table.to_dict() == pytest.approx(expected)
    order = random.sample(range(len(rows)), len(rows))
    again = compare_publications(runs.iloc[order], exported.iloc[order[::-1]])
    for name, one in found.items():
        pd.testing.assert_frame_equal(again[name], one)


def test_a_cell_lists_its_publications_by_name():
    _, exported = make_tables([("m", "d", "Wu", 1), ("m", "d", "", 1), ("m", "d", "Li", 1)])
    assert list_publications(exported)["reported_by"].tolist() == ["Li; Wu"]


def test_the_figure_is_legible_with_any_names_and_says_what_is_left_out():
    rows = [
        (f"$x_{place}$ <script>" * 2, "a dataset " * 4, who, place % 7 + 1)
        for place in range(40)
        for who in ("Li & Wu 2024", "Smith 2025")
    ]
    found = compare_publications(*make_tables(rows))
    figure = draw_disagreements(found["disagreements"], found["publications"])
    assert_legible(figure)
    assert_legible(draw_disagreements(found["disagreements"].head(0), found["publications"]))
