"""Real exports made by others, where they are at hand."""

from pathlib import Path

import pytest

from capmap.exports import read_exports
from capmap.metrics import find_metric

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def read(name, **options):
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"needs {name} of the shared data beside the checkout")
    return read_exports([str(path)], **options)


def count_names(exports):
    return exports.runs["model"].nunique(), exports.runs["dataset"].nunique(), len(exports.runs)


def test_geobench_has_18_backbones_on_19_datasets_with_16_empty_cells():
    columns = {
        "model": "backbone",
        "metric": "Metric",
        "score": "test metric",
        "seed": "Seed",
        "keep": ["decoder"],
    }
    exports = read("geobench/results_and_parameters.csv", columns=columns)
    assert exports.problems == []
    assert count_names(exports) == (18, 19, 18 * 19 * 5 - 16 * 5)
    assert all(find_metric(metric) for metric in set(exports.runs["metric"]))
    assert "205" in set(exports.runs["seed"])


def test_rtdl_has_12_tuned_models_on_11_datasets_with_17_missing_cells():
    exports = read(
        "rtdl/all_stats.csv",
        columns={"model": "algorithm", "score": "score"},
        where={"variant": "tuned"},
        metric="score",
    )
    assert exports.problems == []
    assert count_names(exports) == (12, 11, (12 * 11 - 17) * 15)
    assert exports.rows == exports.rows_filtered + len(exports.runs)
    assert set(exports.runs["seed"]) == {str(seed) for seed in range(15)}


def test_openclip_is_a_matrix_of_121_checkpoints_and_38_datasets():
    columns = {
        "model": ["name", "pretrained"],
        "ignore": ["params (M)", "FLOPs (B)", "Average perf. on 38 datasets"],
    }
    exports = read(
        "openclip/openclip_results.csv", layout="matrix", columns=columns, metric="accuracy"
    )
    assert exports.problems == []
    assert count_names(exports) == (121, 38, 121 * 38)
    assert "ViT-H-14-378-quickgelu / dfn5b" in set(exports.runs["model"])


def test_atari_has_100_runs_of_two_agents_and_5_of_the_third():
    exports = read("atari100k/runs.csv")
    assert exports.problems == []
    assert count_names(exports) == (3, 26, 26 * (100 + 100 + 5))
