"""Figures of checkpoints: legible, faithful, and the same for rows in any order."""

import numpy as np
import pandas as pd
import pytest

from capmap.figures.checkpoints import draw_best_of_n, draw_dates
from capmap.figures.leaderboard import draw_checkpoint_curves, draw_checkpoint_optimism
from tests.figure_checks import assert_legible, assert_same_bytes, drawn_words

HOSTILE = ["$x_1$", "=cmd|calc", "<script>", "模型甲", "a" * 150, "W" * 300, "line\nbreak"]
STUDIES = {
    "one training": (["only"], 1, 1),
    "usual": ([f"Model-{number}" for number in range(4)], 3, 6),
    "hostile": (HOSTILE, 2, 4),
    "many": ([f"m{number:02d}" for number in range(25)], 2, 3),
}


def make_tables(models, runs, steps, *, metric="accuracy", split="validation"):
    rng = np.random.default_rng(5)
    curves = pd.DataFrame(
        [
            (f"{model} run{run}", model, metric, split, 100 * step, rng.random())
            for model in models
            for run in range(runs)
            for step in range(1, steps + 1)
        ],
        columns=["training", "model", "metric", "split", "step", "mean"],
    )
    curves = curves.assign(ci_low=curves["mean"] - 0.1, ci_high=curves["mean"] + 0.1, datasets=4)
    curves["trainings"] = 1
    best = curves.sort_values("mean").drop_duplicates("training", keep="last")
    groups = curves.groupby("training")["mean"]
    selected = best[["model", "training", "step"]].assign(selection=best["mean"])
    selected["checkpoints"] = steps
    selected["mean"] = selected["training"].map(groups.mean())
    selected["last"] = selected["training"].map(groups.last())
    return {
        "best_of_n": make_trials(models, runs),
        "dates": make_dates(best),
        "curves": add_means(curves, runs),
        "selected": selected.reset_index(drop=True),
        "checkpoints": selected.assign(split=split, metric=metric),
    }


def make_trials(models, runs):
    """Make expected values of the best of n, for all trainings and by model."""
    rows = [
        (model, n, 0.5 + 0.02 * place + 0.1 * np.log(n))
        for place, model in enumerate(["", *models])
        for n in range(1, runs + 1)
    ]
    table = pd.DataFrame(rows, columns=["model", "trials", "test"])
    ends = {"ci_low": table["test"] - 0.1, "ci_high": table["test"] + 0.1}
    return table.assign(validation=table["test"] + 0.05, **ends)


def make_dates(best):
    """Make a checkpoint per training, a week apart."""
    start = pd.Timestamp("2025-11-28")
    days = [str(start + pd.Timedelta(weeks=place))[:10] for place in range(len(best))]
    return best.assign(
        date=days, report=best["mean"], chosen=True, record=best["mean"] == best["mean"].cummax()
    )


def add_means(curves, runs):
    """Add the mean of each model's trainings, if there are several."""
    keys = ["model", "metric", "split", "step"]
    means = curves.groupby(keys, as_index=False)[["mean", "ci_low", "ci_high"]].mean()
    means = means.assign(training="", datasets=4, trainings=runs)
    return pd.concat([curves, means if runs > 1 else means.iloc[:0]], ignore_index=True)


def draw_curves(tables, *, metric="accuracy", order=()):
    names = ("curves", "selected", "checkpoints")
    return draw_checkpoint_curves(*(tables[name] for name in names), metric=metric, order=order)


def draw_all(tables):
    optimism = draw_checkpoint_optimism(tables["selected"])
    best_of_n, dates = draw_best_of_n(tables["best_of_n"]), draw_dates(tables["dates"])
    curves = draw_curves(tables)
    return {"curves": curves, "optimism": optimism, "best": best_of_n, "dates": dates}


def test_without_trials_or_dates_a_sentence_stands_in_place():
    tables = make_tables(["A"], 1, 1)
    figure = draw_best_of_n(tables["best_of_n"].iloc[:0])
    assert "No model has two trainings with values on both splits." in drawn_words(figure)
    figure = draw_dates(tables["dates"].assign(report=np.nan))
    assert "No checkpoint has a date and a value on the report split." in drawn_words(figure)


def test_dates_are_written_in_full_and_all_trainings_have_a_line():
    tables = make_tables(["A", "B"], 3, 2)
    words = drawn_words(draw_dates(tables["dates"]))
    assert {"2025-12-01", "2026-01-01"} <= set(words)
    figure = draw_best_of_n(tables["best_of_n"])
    assert {"all", "A", "B"} <= set(drawn_words(figure))
    lines = [line.get_ydata().tolist() for line in figure.axes[0].lines]
    for _, rows in tables["best_of_n"].groupby("model"):
        assert rows["test"].tolist() in lines
        assert rows["validation"].tolist() in lines


@pytest.mark.parametrize("study", STUDIES)
def test_no_text_is_cut_off_small_or_overlapping(study):
    for figure in draw_all(make_tables(*STUDIES[study])).values():
        assert_legible(figure)


def test_rows_in_any_order_give_the_same_bytes(tmp_path):
    tables = make_tables(*STUDIES["hostile"])
    shuffled = {name: table.sample(frac=1, random_state=3) for name, table in tables.items()}
    assert_same_bytes(draw_all, tables, shuffled, tmp_path)


def test_markers_stand_at_the_chosen_checkpoints():
    tables = make_tables(["A", "B"], 1, 5)
    axes = draw_all(tables)["curves"].axes[0]
    marks = [line.get_xydata() for line in axes.lines if line.get_marker() not in ("None", None)]
    chosen = tables["selected"].sort_values("model")
    found = np.concatenate([points for points in marks if len(points)])
    np.testing.assert_allclose(found, chosen[["step", "selection"]].to_numpy(float))


@pytest.mark.parametrize(
    ("runs", "widths", "bands"),
    [(1, [1.0], 1), (2, [1.6, 0.6, 0.6], 0), (3, [1.6, 0.6, 0.6, 0.6], 1)],
)
def test_several_trainings_are_thin_below_their_bold_mean(runs, widths, bands):
    tables = make_tables(["A"], runs, 4)
    figure = draw_all(tables)["curves"]
    lines = [line for line in figure.axes[0].lines if line.get_linestyle() != "None"]
    assert [line.get_linewidth() for line in lines] == widths
    mean = tables["curves"].groupby("step")["mean"].mean()
    np.testing.assert_allclose(lines[0].get_ydata(), mean)
    shades = [shade.get_paths() for shade in figure.axes[0].collections]
    assert sum(bool(np.ptp(path.vertices[:, 1]) > 0) for [path] in filter(len, shades)) == bands
    words = " ".join(drawn_words(figure))
    assert ("Bold: the mean of a model's trainings." in words) == (runs > 1)
    assert ("Bands: intervals over trainings." in words) == (runs > 2)
    assert ("Bands: intervals over datasets." in words) == (runs == 1)


def test_a_table_without_anything_to_draw_says_so():
    tables = make_tables(["A"], 1, 1)
    other = tables | {"checkpoints": tables["checkpoints"].assign(split="test")}
    for figure in (
        draw_curves(tables, metric="x"),
        draw_curves(other),
        draw_curves(other, metric=""),
    ):
        assert "No training has a value of this metric." in drawn_words(figure)
    words = drawn_words(draw_checkpoint_optimism(tables["selected"]))
    assert "No training had a choice between checkpoints." in words


def test_trainings_beyond_forty_are_left_out_with_a_note():
    words = drawn_words(draw_all(make_tables(*STUDIES["many"]))["optimism"])
    assert "First 40 of 50 trainings by name." in words


@pytest.mark.parametrize("split", ["validation", ""])
def test_without_a_metric_that_of_most_datasets_on_the_split_of_the_choice_is_drawn(split):
    tables = make_tables(["A", "=B"], 2, 3, split=split)
    own = tables["curves"]
    others = [own.assign(metric="f1", datasets=1), own.assign(metric="f1", split="test")]
    tables["curves"] = pd.concat([*others, own], ignore_index=True)
    figure = draw_curves(tables, metric="")
    lines = ["normalized accuracy", "on validation"] if split else ["normalized accuracy"]
    assert figure.axes[0].get_ylabel().splitlines() == lines
    assert_legible(figure)


def test_the_best_models_come_first_in_the_legend():
    words = drawn_words(draw_curves(make_tables(["A", "B"], 1, 3), order=["B", "A"]))
    assert words.index("B") < words.index("A")


def test_a_record_without_a_value_ends_the_line_of_the_one_before():
    dates = pd.DataFrame(
        {
            "date": ["2026-01-01", "2026-02-01", "2026-03-01"],
            "model": "A",
            "training": ["1", "2", "3"],
            "report": [0.5, np.nan, 0.4],
            "chosen": True,
            "record": [True, True, False],
        }
    )
    [records, *_] = draw_dates(dates).axes[0].lines
    assert np.array_equal(records.get_ydata(), [0.5, np.nan, np.nan], equal_nan=True)
