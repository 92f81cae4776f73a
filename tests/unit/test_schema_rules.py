"""The schema of the configuration keeps its own rules, and agrees with jsonschema and the docs."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.errors import ConfigError
from capmap.settings.checking import check_settings
from capmap.settings.figures import Look
from capmap.settings.sections import (
    REQUIRED,
    Name,
    Section,
    limit,
    name_key,
    option,
    section,
    write_schema,
)
from capmap.settings.study import Config
from capmap.settings.words import list_keys

ROOT = Path(__file__).parents[2]
SCHEMA = write_schema(Config)
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


@settings(max_examples=600)
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


class Rule(Section):
    """A rule."""

    low: float | Literal["natural"] | None = option(None, "Lower bound.")
    high: float | None = option(None, "Upper bound.", ge=0)


class NamedRule(Rule):
    """A rule with a name."""

    low: int = option(1, "Lowest whole number.", gt=0)
    name: Annotated[Name, limit(max_length=9)] = option(REQUIRED, "Name of the rule.")


class Rules(Section):
    """Rules."""

    first: Rule
    second: Rule = section("The other rule.")
    named: dict[Annotated[str, name_key("A name.", excluded=("a",))], NamedRule] = option({})
    values: list[str | bool | list[int]] = option([], min_length=1, unique=True)


def test_a_section_is_written_where_it_stands():
    rule = write_schema(Rule)
    assert rule == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "low": {
                "anyOf": [{"type": "number"}, {"const": "natural"}],
                "description": "Lower bound.",
            },
            "high": {"type": "number", "minimum": 0, "description": "Upper bound."},
        },
    }
    assert write_schema(Rules)["properties"] == {
        "first": {**rule, "description": "A rule.", "default": {}},
        "second": {**rule, "description": "The other rule.", "default": {}},
        "named": {
            "type": "object",
            "propertyNames": {"description": "A name.", "not": {"enum": ["a"]}},
            "additionalProperties": write_schema(NamedRule),
            "default": {},
        },
        "values": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"type": ["string", "boolean"]},
                    {"type": "array", "items": {"type": "integer"}},
                ]
            },
            "minItems": 1,
            "uniqueItems": True,
            "default": [],
        },
    }


def test_a_section_has_the_keys_of_the_one_it_extends_in_their_order():
    schema = write_schema(NamedRule)
    assert list(schema["properties"]) == ["low", "high", "name"]
    assert schema["required"] == ["name"]
    assert schema["properties"]["low"] == {
        "type": "integer",
        "exclusiveMinimum": 0,
        "description": "Lowest whole number.",
        "default": 1,
    }
    assert schema["properties"]["name"] == {
        "type": "string",
        "minLength": 1,
        "maxLength": 9,
        "description": "Name of the rule.",
    }


def test_alternatives_have_no_defaults_inside():
    for path, part in KEYS.items():
        for branch in part.get("anyOf", ()):
            assert not any("default" in child for _, child in list_keys(branch)), path


def test_every_section_of_the_schema_is_closed():
    sections = list(list_sections(SCHEMA))
    assert len(sections) > 10
    for part in sections:
        assert "additionalProperties" in part, part
        assert part["additionalProperties"] is not True
        assert part.get("properties") or part["additionalProperties"], part


def test_every_key_of_the_schema_is_described():
    for path, part in KEYS.items():
        assert part.get("description", "").endswith("."), path


def test_every_key_has_a_default_unless_it_must_be_given_or_its_absence_says_something():
    # A section with minProperties is a rule: it states what it names and leaves out the rest. So
    # does what says how a figure looks, beside what says it of all.
    looks = Look.__annotations__
    for whole in list_sections(SCHEMA):
        states = "minProperties" in whole or looks.keys() <= whole.get("properties", {}).keys()
        for key, part in whole.get("properties", {}).items():
            is_free = key in whole.get("required", ()) or (states and part.get("default") is None)
            assert ("default" in part) != is_free, key


def test_every_default_fits_its_own_schema():
    for path, part in KEYS.items():
        if "default" in part:
            jsonschema.validate(part["default"], part)
            assert part["default"] is not None, path


def test_import_loads_nothing_slow():
    code = (
        "import sys; sys.path.insert(0, 'scripts'); "
        "import capmap.settings.checking, capmap.settings.study;"
        "print(*{'pandas', 'numpy', 'snakemake'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("name", ["make_configuration.py", "make_results.py"])
def test_documented_options_and_tables_agree_with_what_is_declared(name):
    script = runpy.run_path(str(ROOT / "docs" / name))
    assert script["PAGE"].read_text("utf-8") == script["render_page"](), f"run: python docs/{name}"


def test_documented_example_is_valid_and_shows_every_key_of_a_study():
    example = yaml.safe_load((ROOT / "docs/configuration.yaml").read_text("utf-8"))
    (study,) = check_settings(example, SCHEMA)["studies"].values()
    (written,) = example["studies"].values()
    assert written.keys() == study.keys()
    for key in ("columns", "select", "normalization", "capabilities", "attributes", "bootstrap"):
        assert written[key].keys() == study[key].keys()
