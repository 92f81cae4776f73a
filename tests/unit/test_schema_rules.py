"""The schema of the configuration keeps its own rules, and agrees with jsonschema and the docs."""

import runpy
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.errors import ConfigError
from capmap.schema import check_settings, load_schema
from capmap.schema_words import list_keys

ROOT = Path(__file__).parents[2]
SCHEMA = load_schema(ROOT / "workflow/schemas/config.schema.yaml")
KEYS = dict(list_keys(SCHEMA))
NAMES = st.sampled_from(["A", "B b", "toy", "x"])
SCALARS = st.one_of(
    st.sampled_from(
        [*("all", "observed", "natural", "long", "mean", "iqm", "auto", ".", "error", "max", "")]
    ),
    st.integers(-5, 20000),
    st.floats(-2, 2),
    st.booleans(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["model", "include", "low", "std", "x"]), inner, max_size=2
        )
    ),
    max_leaves=4,
)
PATHS = st.sampled_from(sorted(KEYS)).flatmap(
    lambda path: st.tuples(*(NAMES if key == "<name>" else st.just(key) for key in path))
)


def place_value(config, path, value):
    *parents, last = path
    for key in parents:
        if not isinstance(config.get(key), dict):
            config[key] = {}
        config = config[key]
    config[last] = value


@settings(derandomize=True, deadline=None, max_examples=600)
@given(st.lists(st.tuples(PATHS, VALUES), max_size=2), st.booleans())
def test_defaults_and_own_types_change_no_verdict_of_jsonschema(changes, has_study):
    config = {"studies": {"toy": {"exports": "a.csv"}}} if has_study else {}
    for path, value in changes:
        place_value(config, path, value)
    try:
        checked = check_settings(config, SCHEMA)
    except ConfigError:
        checked = None
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert (checked is not None) == validator.is_valid(config)
    if checked is not None:
        assert validator.is_valid(checked)
        assert check_settings(checked, SCHEMA) == checked


def list_sections(part):
    if isinstance(part, dict):
        if part.get("type") == "object":
            yield part
        for child in part.values():
            yield from list_sections(child)
    elif isinstance(part, list):
        for child in part:
            yield from list_sections(child)


def test_schema_is_valid_and_each_of_its_keywords_is_checked():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    checked = jsonschema.Draft202012Validator.VALIDATORS.keys() - {"$ref"}
    for path, part in KEYS.items():
        assert part.keys() <= checked | {"description", "default"}, path


def test_parts_in_files_of_their_own_are_in_their_places(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "whole.yaml").write_text("properties: {a: {$ref: parts/a.yaml}}\nanyOf: [{}, [1]]")
    (tmp_path / "parts/a.yaml").write_text("properties: {b: {$ref: b.yaml}}")
    (tmp_path / "parts/b.yaml").write_text("type: integer")
    assert load_schema(tmp_path / "whole.yaml") == {
        "properties": {"a": {"properties": {"b": {"type": "integer"}}}},
        "anyOf": [{}, [1]],
    }


def test_schema_files_are_short_and_each_is_used():
    used = list((ROOT / "workflow/schemas").glob("*.yaml"))
    texts = [path.read_text("utf-8") for path in used]
    assert all(len(text.splitlines()) <= 400 for text in texts)
    for path in used:
        assert path.name == "config.schema.yaml" or sum(path.name in text for text in texts) == 1


def test_alternatives_have_no_defaults_inside():
    for path, part in KEYS.items():
        for branch in part.get("anyOf", ()):
            assert not any("default" in child for _, child in list_keys(branch)), path


def test_every_section_of_the_schema_is_closed():
    sections = list(list_sections(SCHEMA))
    assert len(sections) > 10
    for section in sections:
        assert "additionalProperties" in section, section
        assert section["additionalProperties"] is not True
        assert section.get("properties") or section["additionalProperties"], section


def test_every_key_of_the_schema_is_described():
    for path, part in KEYS.items():
        assert part.get("description", "").endswith("."), path


def test_every_key_has_a_default_unless_it_must_be_given_or_its_absence_says_something():
    # A section with minProperties is a rule: it states what it names and leaves out the rest.
    for section in list_sections(SCHEMA):
        for key, part in section.get("properties", {}).items():
            is_free = key in section.get("required", ()) or "minProperties" in section
            assert ("default" in part) != is_free, key


def test_every_default_fits_its_own_schema():
    for path, part in KEYS.items():
        if "default" in part:
            jsonschema.validate(part["default"], part)
            assert part["default"] is not None, path


def test_import_loads_nothing_slow():
    code = (
        "import sys; sys.path.insert(0, 'scripts'); import capmap.schema;"
        "print(*{'pandas', 'numpy', 'snakemake'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_documented_configuration_agrees_with_the_schema():
    script = runpy.run_path(str(ROOT / "docs/make_configuration.py"))
    assert script["PAGE"].read_text("utf-8") == script["render_page"](), (
        "run: python docs/make_configuration.py"
    )


def test_documented_example_is_valid_and_shows_every_key_of_a_study():
    example = yaml.safe_load((ROOT / "docs/configuration.yaml").read_text("utf-8"))
    (study,) = check_settings(example, SCHEMA)["studies"].values()
    (written,) = example["studies"].values()
    assert written.keys() == study.keys()
    for key in ("columns", "select", "normalization", "capabilities", "attributes", "bootstrap"):
        assert written[key].keys() == study[key].keys()
