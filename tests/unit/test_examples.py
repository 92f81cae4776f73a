"""The shipped exports are what their script makes and what the tutorial prints."""

import csv
import runpy
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import trim_mean

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "data/tutorial"
REFERENCE = ROOT.parent / "shared/reference/tutorial"
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the tables printed in the tutorial are not here"
)


@pytest.fixture(scope="module")
def examples():
    return runpy.run_path(str(ROOT / "data/make_tutorial.py"))["render_examples"]()


def test_each_example_has_the_bytes_that_its_script_makes(examples):
    assert {path.name for path in TUTORIAL.iterdir()} == set(examples)
    for name, text in examples.items():
        assert (TUTORIAL / name).read_bytes() == text.encode(), name


def test_numbers_are_written_at_full_precision(examples):
    for name in ("benchmark.csv", "seeded.csv"):
        for row in csv.DictReader(examples[name].splitlines()):
            assert row["score"] == repr(float(row["score"]))


def test_every_model_has_every_dataset_and_seed():
    seeded = pd.read_csv(TUTORIAL / "seeded.csv")
    assert len(seeded) == 5 * 8 * 3
    assert not seeded.duplicated(["model", "dataset", "seed"]).any()
    benchmark = pd.read_csv(TUTORIAL / "benchmark.csv")
    assert len(benchmark) == 5 * 8
    assert not benchmark.duplicated(["model", "dataset"]).any()


@needs_reference
def test_toy_is_the_table_of_the_tutorial():
    published = (REFERENCE / "toy_raw.csv").read_bytes()
    assert (TUTORIAL / "toy.csv").read_bytes() == published


@needs_reference
def test_benchmark_rounds_to_the_forty_published_scores():
    published = pd.read_csv(REFERENCE / "bench_scores.csv", index_col="model")
    ours = pd.read_csv(TUTORIAL / "benchmark.csv").pivot_table(
        index="model", columns="dataset", values="score"
    )
    assert ours.round(3).to_dict() == published.to_dict()


@needs_reference
def test_seeds_give_the_published_interquartile_and_trimmed_means():
    published = pd.read_csv(REFERENCE / "seeded_trimmed_vs_iqm.csv", index_col="model")
    seeded = pd.read_csv(TUTORIAL / "seeded.csv")
    means = seeded.groupby(["model", "dataset"], as_index=False)["score"].mean()
    for table, column in ((seeded, "iqm"), (means, "trimmed_mean")):
        for model, scores in table.groupby("model")["score"]:
            assert round(trim_mean(scores, 0.25), 3) == published.loc[model, column]
