"""What rules read and are told, on small folders: files, messages, and what earlier runs left."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap import inputs
from capmap.analyses import ANALYSES, FIGURES, INDEX, STEPS
from capmap.errors import ConfigError
from capmap.inputs import studies
from capmap.inputs.studies import Study
from capmap.patterns import Cell

# The files of a submission.
RESULTS, INFORMATION = "results_and_parameters.csv", "additional_info.json"


def make_config(**given: Any) -> dict[str, Any]:
    return studies.check_config({"studies": given})


def make_study(**given: Any) -> Study:
    """A study "s" with these settings."""
    return Study("s", make_config(s={"exports": "", **given})["studies"]["s"])


def touch(*paths: str, text: str = "x") -> None:
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def refused(message: str) -> Any:
    return pytest.raises(ConfigError, match=f"^{re.escape(message)}$")


def here() -> str:
    return f" Paths are relative to {Path.cwd()}."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tests work in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Studies


def test_leaderboards_list_what_is_incomplete_unless_told_otherwise() -> None:
    config = make_config(
        a={"exports": "x", "format": "submission"},
        b={"exports": "x", "format": "submission", "incomplete": "error"},
        c={"exports": "x"},
    )
    kept = {
        name: (settings["incomplete"], settings["min_datasets"])
        for name, settings in config["studies"].items()
    }
    assert kept == {"a": ("adjust", "all"), "b": ("error", "all"), "c": ("error", 0.5)}


# Exports


def test_globs_are_sorted_and_urls_stay() -> None:
    touch("d/b.csv", "d/a.csv", "d/deep/c.csv", "e.csv")
    (Path("d") / "folder.csv").mkdir()
    study = make_study(exports=["e.csv", "https://h/x*.csv", "d/*.csv"])
    assert studies.list_exports(study) == ["e.csv", "https://h/x*.csv", "d/a.csv", "d/b.csv"]
    assert studies.list_exports(make_study(exports="d/**/*.csv")) == [
        "d/a.csv",
        "d/b.csv",
        "d/deep/c.csv",
    ]


def test_files_are_read_in_the_order_of_their_numbers() -> None:
    names = ["log_1.csv", "log_2.csv", "log_10.csv"]
    touch(*names)
    assert studies.list_exports(make_study(exports="log_*.csv")) == names


def test_a_file_may_be_called_like_a_glob() -> None:
    touch("runs [1].csv", "runs 1.csv")
    assert studies.list_exports(make_study(exports="runs [1].csv")) == ["runs [1].csv"]


@pytest.mark.parametrize("second", ["d/./a.csv", "./d/a.c*", "./d/{model}.csv"])
def test_a_file_that_is_found_under_two_paths_is_refused(second: str) -> None:
    touch("d/a.csv")
    assert [
        *studies.check_exports(make_study(exports=["d/*.csv", "d/a.csv", "https://h/x.csv"]))
    ] == []
    with pytest.raises(ConfigError, match=r"d/a\.csv and \S+a\.csv are one file"):
        [*studies.check_exports(make_study(exports=["d/*.csv", second]))]


@pytest.mark.parametrize("name", ["{a}.csv", "a}.csv", "a<b>.csv"])
def test_names_that_snakemake_would_replace_are_refused(name: str) -> None:
    touch(f"d/{name}")
    message = f"rename d/{name}; a name cannot have braces or <words>."
    with refused(f"studies.s.exports: {message}"):
        studies.list_exports(make_study(exports="d/*"))


def find_references_of(path: str) -> list[str]:
    return studies.find_references(make_study(normalization={"references": path}))


def test_frozen_bounds_have_to_be_there_and_not_of_the_study() -> None:
    option = "studies.s.normalization.references"
    with refused(f"{option}: there is no file b.csv.{here()}"):
        find_references_of("b.csv")
    touch("results/s/b.csv")
    message = "this study itself writes ./results/s/b.csv. Copy the file out of results/"
    with refused(f"{option}: {message} and name the copy."):
        find_references_of("./results/s/b.csv")


@given(names=st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
def test_the_order_in_which_files_were_made_does_not_matter(
    names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("order")
    touch(*(f"{folder}/{name}/{RESULTS}" for name in names))
    touch(*(f"{folder}/{name}/d.npy" for name in names))
    paths = [f"{folder}/{name}" for name in sorted(names)]
    table = make_study(exports=f"{folder}/*/{RESULTS}")
    board = make_study(exports=str(folder), format="submission")
    dumps = make_study(exports=f"{folder}/{{model}}/{{dataset}}.npy", format="predictions")
    assert studies.list_exports(table) == [f"{path}/{RESULTS}" for path in paths]
    assert studies.list_submissions(board) == paths
    assert list(studies.find_dumps(dumps)) == [f"{path}/d.npy" for path in paths]


# Leaderboards


def make_board(**given: Any) -> Study:
    return make_study(**{"format": "submission", "exports": "sub", **given})


def test_an_export_is_a_submission_or_a_folder_of_some() -> None:
    touch(f"sub/b/{RESULTS}", f"sub/a/{INFORMATION}", "sub/.git/x", "sub/note.txt")
    touch(f"one/{RESULTS}", f"one/{INFORMATION}", "one/deep/x")
    Path("sub/lost").symlink_to("nowhere")
    Path("sub/empty").mkdir()
    study = make_board(exports=["one", "sub", "o*"])
    folders = ["one", "sub/a", "sub/b", "sub/empty", "sub/lost"]
    assert studies.list_submissions(study) == folders
    files = [f"one/{RESULTS}", f"one/{INFORMATION}", f"sub/a/{INFORMATION}", f"sub/b/{RESULTS}"]
    assert studies.list_submission_files(study) == files
    assert studies.list_exports(study) == files


def test_a_folder_that_is_a_link_out_of_the_submissions_is_no_submission() -> None:
    touch(f"elsewhere/{RESULTS}", f"sub/a/{RESULTS}")
    Path("sub/link").symlink_to(Path("elsewhere").absolute())
    with pytest.raises(ConfigError, match=r"sub/link is a link out of sub\. If it is yours, name"):
        studies.list_submissions(make_board(exports="sub"))
    Path("mine").symlink_to("elsewhere")
    assert studies.list_submissions(make_board(exports="mine")) == ["mine"]


BENCHMARK = """
title: B
datasets: {d: {metric: accuracy, direction: max}, e: {metric: accuracy, direction: max}}
dimensions: {one: [d], both: [d, e]}
"""


def test_dimensions_are_those_of_the_benchmark_and_the_groups() -> None:
    touch("b.yaml", text=BENCHMARK)
    study = make_board(benchmark="b.yaml", groups={"one": {"datasets": ["e"]}})
    assert studies.find_dimensions(study) == {"one": ["e"], "both": ["d", "e"]}
    assert studies.find_dimensions(make_board()) == {}
    assert studies.find_descriptions(study)["datasets"] == {"d": "", "e": ""}
    assert studies.find_descriptions(make_board()) == {"datasets": {}, "dimensions": {}}


def test_a_benchmark_rules_tables_and_submissions() -> None:
    touch("b.yaml", text=BENCHMARK)
    kinds = ["long", "matrix", "submission", "checkpoints", "predictions"]
    found = [make_study(format=kind, benchmark="b.yaml") for kind in kinds]
    ruled = [studies.find_benchmark_rules(study) for study in found]
    assert ruled == [["b.yaml"]] * 3 + [[]] * 2


def test_a_benchmark_has_to_be_readable() -> None:
    touch("b.yaml", text="title: [")
    with pytest.raises(ConfigError, match=r"^studies\.s\.benchmark: .*b\.yaml"):
        studies.find_dimensions(make_board(benchmark="b.yaml"))


def test_releases_are_sorted_files() -> None:
    touch("r/2.csv", "r/1.csv")
    study = make_board(leaderboard={"releases": "r/*.csv"})
    assert studies.find_releases(study) == ["r/1.csv", "r/2.csv"]
    assert studies.find_releases(make_board()) == []
    with refused(
        "studies.s.leaderboard.releases: no file matches 'q/*.csv'. When you publish, copy "
        "results/s/leaderboard/entries.csv there."
    ):
        studies.find_releases(make_board(leaderboard={"releases": "q/*.csv"}))


# Predictions

PATCHML = {"images": "in", "annotations": "notes", "seeds": [3, 4]}
V1 = {"labels": "v1.json", "images": "v1/{seed}.txt"}


def make_composed(**given: Any) -> Study:
    """A study of two models on V1 and on images that it composes with two seeds."""
    touch(*(f"d/{model}/V1.npy" for model in "mn"))
    touch(*(f"d/{model}/PatchML/{seed}.npy" for model in "mn" for seed in (3, 4)))
    paths = ["d/{model}/{dataset}.npy", "d/{model}/{dataset}/{seed}.npy"]
    own = {"format": "predictions", "exports": paths, "patchml": PATCHML}
    return make_study(**{**own, "predictions": {"datasets": {"V1": V1}}, **given})


def test_dumps_are_found_by_model_dataset_and_seed() -> None:
    touch("d/b/V1/0.npy", "d/a/V1/1.npy", "d/a/V1/0.npy", "d/a/V1/0.txt")
    study = make_study(format="predictions", exports="d/{model}/{dataset}/{seed}.npy")
    assert studies.find_dumps(study) == {
        "d/a/V1/0.npy": Cell("a", "V1", "0"),
        "d/a/V1/1.npy": Cell("a", "V1", "1"),
        "d/b/V1/0.npy": Cell("b", "V1", "0"),
    }
    assert studies.list_exports(study) == list(studies.find_dumps(study))


@pytest.mark.parametrize(
    ("exports", "message"),
    [
        ("", "name the score dumps, such as dumps/{model}/{dataset}.npy."),
        (
            ["d/{model}/{dataset}.npy", "d/{dataset}_{model}.npy"],
            "d/a/V1.npy and d/V1_a.npy are of the same model, dataset and seed. Remove one.",
        ),
        (
            "d/{model}.npy",
            "d/{model}.npy has no {dataset}. Write where it stands in the paths of the score "
            "dumps, such as dumps/{model}/{dataset}.npy.",
        ),
    ],
)
def test_dumps_that_cannot_be_told_apart_are_refused(exports: Any, message: str) -> None:
    touch("d/a/V1.npy", "d/V1_a.npy")
    with refused(f"studies.s.exports: {message}"):
        studies.find_dumps(make_study(format="predictions", exports=exports))


def test_images_are_composed_before_there_are_dumps() -> None:
    tables = ["results/s/patchml/3/manifest.csv"]
    assert studies.list_objects(make_composed()) == tables
    waiting = make_composed(exports="e/{model}/{dataset}.npy")
    assert studies.find_dumps(waiting) == {}
    assert studies.list_objects(waiting) == [*tables, "results/s/patchml/4/manifest.csv"]
    assert studies.list_objects(make_composed(patchml={})) == []


def test_all_dumps_of_a_model_are_in_one_shard() -> None:
    models = [f"m{number}" for number in range(9)]
    touch(*(f"d/{model}/{dataset}.npy" for model in models for dataset in ["V1", "V2"]))
    study = make_study(
        format="predictions", exports="d/{model}/{dataset}.npy", bootstrap={"shards": 4}
    )
    shards = studies.shard_dumps(study)
    assert 1 < len(shards) <= 4
    of_shards = [{cell.model for cell in dumps.values()} for dumps in shards.values()]
    assert sorted(model for names in of_shards for model in names) == models
    for shard, dumps in shards.items():
        assert studies.list_dumps(study, shard=shard) == list(dumps)
        assert studies.list_cells(study, shard=shard) == [list(cell) for cell in dumps.values()]
    assert studies.list_shards(study) == [*shards]


def test_a_shard_needs_labels_of_its_datasets_and_the_classes() -> None:
    touch("d/a/V1/0.npy", "d/a/V1/1.npy")
    datasets = {"V1": V1, "V2": {"labels": "v2.json"}}
    study = make_study(
        format="predictions",
        exports="d/{model}/{dataset}/{seed}.npy",
        predictions={"classes": "c.txt", "datasets": datasets},
    )
    (shard,) = studies.shard_dumps(study)
    files = studies.list_label_files(study, shard=shard)
    assert files == ["c.txt", "v1.json", "v1/0.txt", "v1/1.txt"]


# Analyses


def test_short_steps_share_a_job_and_long_ones_do_not() -> None:
    study = make_study(analyses=["ranks", "capabilities"])
    assert [*inputs.read_steps(study)] == [*INDEX["ranks"]["steps"]]
    assert inputs.read_steps(make_study(analyses=[])) == {}
    assert inputs.is_asked(study, "drift", "ranks")
    assert not inputs.is_asked(study, "drift")


def test_steps_and_figures_are_told_settings() -> None:
    study = make_study(
        analyses=[*ANALYSES],
        groups={"g": {"datasets": ["d"]}},
        predictions={"datasets": {"V2": V1, "V1": V1}},
    )
    told = inputs.read_steps(study, *STEPS)
    assert {name: {*options} for name, options in told.items()} == {
        name: {*INDEX[owner]["steps"][name]} for name, owner in STEPS.items()
    }
    assert told["rank_entries"]["dimension_datasets"] == {"g": ["d"]}
    assert told["compare_predictions"]["compare"] == ["V2", "V1"]
    for name, figure in inputs.read_figures(study).items():
        assert figure.keys() == {"options", "look"}
        assert figure["options"].keys() == INDEX[FIGURES[name]]["figures"][name].keys()
