"""A table in memory is ranked; results are loaded as tables and figures."""

from pathlib import Path

import pandas as pd
import pytest

import capmap
from capmap.artifacts import render_csv, write_json, write_text
from capmap.errors import ConfigError, ValidationError

SETTINGS = {
    "columns": {"model": "backbone"},
    "metrics": {"rmse": {"low": 0, "high": 2}},
    "bootstrap": {"replicates": 200, "seed": 3},
}


def make_frame(seeds: int = 3) -> pd.DataFrame:
    rows = [
        (model, dataset, metric, place, ((7 * m + 3 * d + place) % 11) / 11)
        for m, model in enumerate(["007", "=b", "c"])
        for d, (dataset, metric) in enumerate([("x", "accuracy"), ("y", "rmse"), ("z", "accuracy")])
        for place in range(seeds)
    ]
    return pd.DataFrame(rows, columns=["backbone", "dataset", "metric", "seed", "score"])


def test_the_ranking_is_by_what_ranks_the_models() -> None:
    study = capmap.Study(make_frame(), rank_by="mean", **SETTINGS)
    ranking = study.ranking().table
    assert set(ranking["statistic"]) == {"mean"}
    assert len(ranking) == ranking["model"].nunique()
    assert study.headline == study.ranking().text
    assert study.validation["counts"]["runs"] == 27


def test_an_analysis_has_table_figure_and_text_and_is_made_once() -> None:
    study = capmap.Study(make_frame(), **SETTINGS)
    pairs = study.pairs()
    assert len(pairs.table) == 3
    assert "<svg" in pairs.plot("pairwise")._repr_svg_()
    assert pairs.text in pairs._repr_html_()
    made = (study.folder / "comparisons/pairwise.csv").stat().st_mtime_ns
    assert study.analysis("pairwise").table.equals(pairs.table)
    assert (study.folder / "comparisons/pairwise.csv").stat().st_mtime_ns == made
    with pytest.raises(ConfigError, match=r"needs frontier\.against"):
        study.analysis("frontier")
    with pytest.raises(ConfigError, match="run the workflow"):
        study.analysis("conditions")
    with pytest.raises(ConfigError, match="Did you mean 'profiles'"):
        study.analysis("profile")
    with pytest.raises(ValueError, match="nothing to show"):
        study.analysis("sample_size").plot()


def test_an_index_with_a_name_is_a_column_and_one_without_is_none() -> None:
    wide = pd.DataFrame(
        {"x": [0.1, 0.4], "y": [0.5, 0.2]}, index=pd.Index(["a", "b"], name="model")
    )
    settings = {"format": "matrix", "metric": "accuracy"}
    with pytest.warns(UserWarning, match="one run per dataset"):
        ranking = capmap.Study(wide, **settings).ranking().table
    with pytest.warns(UserWarning, match="one run per dataset"):
        assert ranking.equals(capmap.Study(wide.reset_index(), **settings).ranking().table)


def test_faults_of_a_table_are_told_with_their_row() -> None:
    frame = make_frame().astype({"score": "object"})
    frame.loc[4, "score"] = "good"
    with pytest.raises(
        ValidationError, match=r"^error: frame\.csv, line 6, column 'score', value 'good'"
    ):
        capmap.Study(frame, **SETTINGS)
    with pytest.raises(ConfigError, match="Did you mean"):
        capmap.Study(frame, incomplet="adjust", **SETTINGS)
    with pytest.raises(ConfigError, match="exports"):
        capmap.Study(frame, exports="mine.csv")
    with pytest.raises(ConfigError, match="give a data frame"):
        capmap.Study("runs.csv")  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="There is no column 'score'"):
        capmap.Study(frame.drop(columns="score"), **SETTINGS)


def test_results_are_loaded_by_name(tmp_path: Path) -> None:
    study = tmp_path / "results/mine"
    table = capmap.Study(make_frame(), **SETTINGS).tables["ranking"]
    write_text(study / "report.html", "")
    write_text(study / "headline.txt", "A is first.\n")
    write_text(study / "figures/intervals.svg", "<svg/>")
    write_text(study / "tables/ranking.csv", render_csv(table))
    write_json(study / "validation.json", {"ok": True})
    write_json(study / "words.json", {"main": {"text": "A is first.", "methods": ""}})
    loaded = capmap.load(study)
    assert list(loaded.tables) == ["ranking"]
    assert render_csv(loaded.tables["ranking"]) == render_csv(table)
    assert loaded.figures["intervals"]._repr_svg_() == "<svg/>"
    assert loaded.ranking().plot()._repr_svg_() == "<svg/>"
    assert loaded.ranking().text == loaded.headline == "A is first."
    assert loaded.validation == {"ok": True}
    with pytest.raises(KeyError, match="Did you mean 'ranking'"):
        loaded.tables["rankin"]
    with pytest.raises(ConfigError, match="has no analysis 'pairwise'"):
        loaded.pairs()
    with pytest.raises(ConfigError, match=r"Name one in it: 'mine'\.$"):
        capmap.load(tmp_path / "results")
