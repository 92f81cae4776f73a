"""Settings drafted from files alone: what they get right, and that they run as they are."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.drafting import draft_study, write_draft
from capmap.drafting.slots import Slot, find_slots, write_pattern
from capmap.errors import CapmapError, ConfigError
from tests.unit.test_presets import CASES as PRESETS
from tests.unit.test_reading import CASES, read_study, write_files

SHARED = Path(__file__).parents[3] / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the real exports are not here")
FIELDS = ["model", "dataset", "seed", "score"]
# What no file says: the name of the only dataset.
UNKNOWN = {("seeds in columns", "dataset")}


def draft_settings(exports):
    """Draft a study, write it as YAML, and read that."""
    text = write_draft(draft_study(exports), "mine")
    return yaml.safe_load(text)["studies"]["mine"]


@pytest.mark.parametrize("case", CASES)
def test_published_structures_are_recognized(case, tmp_path, monkeypatch):
    text, files, *_ = CASES[case]
    monkeypatch.chdir(tmp_path)
    write_files(files, tmp_path)
    wanted = read_study(f"{text}\n        incomplete: keep\n", tmp_path)
    exports = ["."] if len(files) > 1 else list(files)
    drafted = draft_settings(exports)
    found = read_study(yaml.safe_dump({"incomplete": "keep"} | drafted), tmp_path)
    chosen = yaml.safe_load(text).get("select", {}).get("datasets", {}).get("exclude", [])
    assert drafted.get("select", {}).get("datasets", {}).get("exclude", []) == chosen
    wrong = {
        (case, name)
        for name in FIELDS
        if sorted(found[name].tolist()) != pytest.approx(sorted(wanted[name].tolist()))
    }
    assert wrong <= UNKNOWN


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "rliable"])
def test_files_of_a_tool_are_recognized(preset, tmp_path, monkeypatch):
    content, path, *_ = PRESETS[preset]
    monkeypatch.chdir(tmp_path)
    write_files({path: content if isinstance(content, str) else json.dumps(content)}, tmp_path)
    assert draft_settings([path])["preset"] == preset


# The path below the shared data, and what the draft has to say, by the paths of settings.
REAL = {
    "atari100k/runs.csv": {
        "metrics": {"raw_score": {"direction": "max", "low": "observed", "high": "observed"}}
    },
    "capabilities/data.csv": {
        "format": "matrix",
        "header_rows": 2,
        "columns.model": "dataset / variant",
    },
    "demsar2006/table6.csv": {"format": "matrix", "columns": {"score": "{model}"}},
    "geobench/results_and_parameters.csv": {
        "columns": {
            "seed": "Seed",
            "metric": "Metric",
            "model": "backbone",
            "score": "test metric",
        },
        "datasets": {"biomassters": {"direction": "max"}},
        "incomplete": "adjust",
    },
    "openclip/openclip_results.csv": {
        "format": "matrix",
        "columns.model": ["name", "pretrained"],
        "columns.ignore": ["params (M)", "FLOPs (B)", "Average perf. on 38 datasets"],
    },
    "rtdl/all_stats.csv": {
        "columns.model": ["algorithm", "variant"],
        "columns.score": ["accuracy", "rmse"],
        "columns.seed": "run",
        "datasets.yahoo": {"direction": "min"},
    },
}


@needs_shared
@pytest.mark.parametrize("path", REAL)
def test_real_exports_are_recognized(path, tmp_path):
    drafted = draft_settings([str(SHARED / "data" / path)])
    for place, expected in REAL[path].items():
        found = drafted
        for key in place.split("."):
            found = found[key]
        assert found == expected
    assert read_study(yaml.safe_dump(drafted), tmp_path).shape[0] > 50


@needs_shared
@pytest.mark.parametrize(
    "path",
    [
        "capabilities/models.csv",
        "capabilities/tasks.csv",
        "openclip/model_profile.csv",
        "geobench/model_info.json",
        "imagenet/real.json",
    ],
)
def test_files_without_scores_are_refused(path):
    with pytest.raises(CapmapError):
        draft_study([str(SHARED / "data" / path)])


def test_what_only_the_user_knows_is_asked(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(
        "model,dataset,metric,score\nA,x,RMSE,2.5\nB,x,RMSE,3\nA,y,quality,7\nC,y,quality,8\n"
    )
    decisions = draft_study([str(path)]).decisions
    assert [text.partition(":")[0] for text in decisions] == ["metrics", "metrics", "incomplete"]
    assert "the worst scores of these models stand for 0" in decisions[0] + decisions[1]
    assert "quality has no natural bounds" in decisions[0] + decisions[1]
    assert "Is a higher quality better?" in decisions[0] + decisions[1]


def test_other_files_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(
        {
            "in/results.csv": "model,dataset,accuracy\nA,x,0.5\nB,x,0.6\n",
            "in/models.csv": "name,params,year\nA,3,2020\nB,4,2021\n",
        },
        tmp_path,
    )
    draft = draft_study(["in"])
    assert draft.settings["exports"] == "in/results.csv"
    assert "in/models.csv" in str(draft.notes["exports"])


@pytest.mark.parametrize("exports", ["none.csv", "empty"])
def test_what_is_not_there_is_told(exports, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=exports):
        draft_study([exports])


names = st.lists(
    st.text(st.sampled_from("ab1_-./"), min_size=1, max_size=12), min_size=1, max_size=6
)


@given(names)
def test_slots_make_up_every_name(found):
    pieces = find_slots(found)
    for number, name in enumerate(found):
        parts = (p.values[number] if isinstance(p, Slot) else p for p in pieces)
        assert "".join(parts) == name
    assert write_pattern(pieces, {}).count("*") == sum(isinstance(p, Slot) for p in pieces)


cells = st.one_of(
    st.sampled_from(["", "A", "B", "0.5", "12", "0,7", "91%", "nan", "0.9 (0.1)", "seed", "model"]),
    st.text(st.sampled_from('ab1,;|"% '), max_size=6),
)


delimiters = st.sampled_from(",;\t")


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(cells, min_size=1, max_size=5), min_size=1, max_size=6),
    st.sampled_from(",;\t"),
)
def test_any_table_is_drafted_or_refused(tmp_path_factory, rows, delimiter):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text("\n".join(map(delimiter.join, rows)) + "\n")
    try:
        draft = draft_study([str(path)])
    except CapmapError:
        return
    assert yaml.safe_load(write_draft(draft, "t"))["studies"]["t"] == draft.settings
