"""Submissions, checkpoints, benchmarks and configurations: good, odd and damaged."""

import json
from copy import deepcopy
from typing import Any

import yaml
from hypothesis import strategies as st

from capmap.exports.submission_information import MODEL_KEYS, NEW_MODELS
from capmap.exports.submission_information import TEXTS as QUESTIONS
from tests.every_default import EVERY_DEFAULT
from tests.fuzz.generated_files import TEXTS, VALUES, GeneratedFile, mostly

FOLDERS = st.sampled_from(["clay", "-rf", "$(id)", "a\nb", "\u202e", "=1+1", "😀", "{x}", " "])
MODEL = dict(zip(MODEL_KEYS, ["A", "Clay", "100M"], strict=True))
BENCHMARK: dict[str, Any] = {
    "title": "Small",
    "datasets": {name: {"metric": "accuracy", "direction": "max"} for name in "DE"},
    "dimensions": {"Core": ["D", "E"]},
    "models": {"A": {"name": "Clay", "size": "100M"}},
}
LINES = mostly(
    *("", "x: !!python/object/apply:os.system [id]", "a: &a [*a]", "? [x]", "<<: [1]"),
    *("studies: {}", "run: 012", "__use_yte__: true", "- x", "a: 'b", "\tx: 1"),
)


@st.composite
def information(draw: st.DrawFn) -> GeneratedFile:
    """What a submission says about itself, perhaps with other types, keys or models."""
    entries: dict[str, Any] = {name: draw(mostly("", "text")) for name in QUESTIONS}
    entries[NEW_MODELS] = draw(mostly([], [MODEL], [MODEL, MODEL], [dict.fromkeys(MODEL, "")]))
    if draw(mostly(False, True)):
        entries[draw(st.sampled_from([*entries, "x"]))] = draw(VALUES)
    if draw(mostly(False, True)):
        entries[NEW_MODELS] = [MODEL | draw(st.dictionaries(st.sampled_from([*MODEL]), VALUES))]
    if draw(mostly(False, True)):
        del entries[draw(st.sampled_from([*entries]))]
    text = json.dumps(entries, indent=draw(st.sampled_from([None, 1])))
    return GeneratedFile("additional_info.json", text.encode())


@st.composite
def definitions(draw: st.DrawFn) -> GeneratedFile:
    """The definition of a benchmark, perhaps with other values, tags, or names that refer to it."""
    content = BENCHMARK | {}
    if draw(mostly(False, True)):
        content[draw(st.sampled_from([*BENCHMARK, "x"]))] = draw(VALUES)
    if draw(mostly(False, True)):
        content["dimensions"] = draw(st.dictionaries(TEXTS, st.lists(TEXTS), max_size=3))
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    line = draw(
        mostly("", "x: !!python/object/apply:os.system [id]", "a: &a [*a]", "? [x]", "<<: [1]")
    )
    return GeneratedFile("a.yaml", f"{text}{line}\n".encode("utf-8", "replace"))


@st.composite
def configurations(draw: st.DrawFn) -> GeneratedFile:
    """A file of settings, perhaps with other values, keys and sections at any depth."""
    chosen = draw(st.lists(st.sampled_from([*EVERY_DEFAULT]), unique=True, max_size=8))
    own: dict[str, Any] = {name: deepcopy(EVERY_DEFAULT[name]) for name in chosen}
    content: dict[str, Any] = {"studies": {draw(mostly("toy", "other", "a b")): own}}
    own["exports"] = "runs.csv"
    for _ in range(draw(st.integers(0, 2))):
        section: Any = content
        while inner := [part for part in _list_parts(section) if draw(st.booleans())]:
            section = inner[0]
        if isinstance(section, dict):
            section[draw(st.sampled_from([*section, "x"]))] = draw(VALUES)
        else:
            section.append(draw(VALUES))
    text = yaml.dump(content, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    line = draw(LINES)
    return GeneratedFile("toy.yaml", f"{text}{line}\n".encode("utf-8", "replace"))


def _list_parts(section: Any) -> list[Any]:
    """The sections and lists within one."""
    values = section.values() if isinstance(section, dict) else section
    return [value for value in values if isinstance(value, (dict, list))]
