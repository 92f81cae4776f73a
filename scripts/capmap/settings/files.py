"""Files of settings: YAML whose keys stand once."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from capmap.errors import ConfigError
from capmap.settings.checking import Place, expand_home, render_place
from capmap.wording import list_names, quote_name, suggest

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
SPELLING = (
    "Check the indentation, by blanks and not by tabs, that brackets are closed, and the quotes "
    "around texts with a colon or that begin with @ or %."
)
SHIPPED = Path(__file__).with_name("presets.yaml")
SUFFIXES = (".yaml", ".yml")
# What is of use to drafts only.
OF_PRESETS = ("about", "known_by", "paths")
# What replaces the preset's, rather than being mixed with it.
WHOLE = ("where", "take", "failed")


class Document(NamedTuple):
    """A file of settings, a line for each fault that leaves it readable, and where keys stand."""

    content: Any
    faults: list[str]
    lines: dict[str, int]


def read_yaml(path: str) -> Any:
    """Read YAML, of which JSON is a part; faults, such as a key that stands twice, have places."""
    document = open_yaml(path)
    if document.faults:
        raise ConfigError("\n".join(document.faults))
    return document.content


def open_yaml(path: str) -> Document:
    """Read YAML as `read_yaml` does, and list the keys that stand twice."""
    text = _read_text(path)
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        # Before sections are merged (<<), which puts keys beside those that win over them.
        keys = [*_list_keys(node, (), set())]
        twice = [(place[-1], mark, first) for place, mark, first in keys if mark is not first]
        content = loader.construct_document(node) if node and not twice else None
    except (ValueError, LookupError, RecursionError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        reason = getattr(error, "problem", None) or " ".join(str(error).split())
        raise ConfigError(f"{path}{place}: it is no YAML ({reason}). {SPELLING}") from error
    return Document(
        content,
        [
            f"{path}, line {mark.line + 1}, column {mark.column + 1}: the key {key!r} stands "
            f"twice, first at line {first.line + 1}. Keep one of them."
            for key, mark, first in twice
        ],
        {render_place(place): first.line + 1 for place, _, first in keys},
    )


def find_line(documents: Mapping[str, Document], place: str) -> str:
    """Say in which line of which file a setting stands, or what is around one that is missing."""
    while place:
        for path, document in documents.items():
            if place in document.lines:
                return f"{path}, line {document.lines[place]}: "
        item = re.search(r" item \d+$", place)
        place = place[: item.start()] if item else place.rpartition(".")[0]
    return ""


def _list_keys(
    node: yaml.Node | None, place: Place, seen: set[int]
) -> Iterator[tuple[Place, yaml.Mark, yaml.Mark]]:
    """List the places of keys, their marks, and those of the same key where it stands first."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _list_keys(item, (*place, number), seen)
    elif isinstance(node, yaml.MappingNode):
        firsts: dict[str, yaml.Mark] = {}
        for key, value in node.value:
            name, mark = str(key.value), key.start_mark
            first = mark if name == "<<" else firsts.setdefault(name, mark)
            yield (*place, name), mark, first
            if first is mark:
                yield from _list_keys(value, (*place, name), seen)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8-sig")
    except OSError as error:
        text = f"it cannot be read ({error.strerror}). Check the path."
    except UnicodeDecodeError:
        text = "it is not UTF-8. Save it as UTF-8."
    raise ConfigError(f"{path}: {text}")


def read_config(path: str) -> dict[str, Any]:
    """Read a file of settings with studies; whether they make sense is checked elsewhere."""
    content = read_yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get("studies"), dict):
        raise ConfigError(
            f"{path}: it has no section `studies:` with a study below it. Name a file of settings, "
            "which `capmap draft` writes for files of results."
        )
    return content


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a file or folder is, by links, outside of a folder; what is nowhere is not."""
    return path.exists() and not path.resolve().is_relative_to(folder.resolve())


def fill_preset(study: Mapping[str, Any]) -> dict[str, Any]:
    """Fill a study's settings with those of its preset, where it says nothing itself.

    A preset is a name, or the path of a YAML file. Sections are filled key by key, but for
    ``where``, which is replaced.
    """
    name = study.get("preset")
    if not isinstance(name, str) or not name:
        return dict(study)
    preset = _read_file(expand_home(name)) if name.endswith(SUFFIXES) else list_presets().get(name)
    if preset is None:
        known = list_names([*list_presets()])
        remedy = f"There are {known}, or write a YAML file of your own."
        hint = suggest(name, list_presets(), remedy)
        raise ConfigError(f"there is none called {quote_name(name)}. {hint}")
    own = {key: value for key, value in preset.items() if key not in OF_PRESETS}
    return _fill(study, own)


@cache
def list_presets() -> dict[str, dict[str, Any]]:
    """The shipped presets, by name."""
    presets: dict[str, dict[str, Any]] = read_yaml(str(SHIPPED))
    return presets


def _fill(own: Mapping[str, Any], preset: Mapping[str, Any]) -> dict[str, Any]:
    filled = {**preset, **own}
    for key, value in preset.items():
        if isinstance(value, dict) and isinstance(own.get(key), dict) and key not in WHOLE:
            filled[key] = _fill(own[key], value)
    return filled


def _read_file(path: str) -> dict[str, Any]:
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ConfigError(f"{path} has to hold settings of a study, such as columns.")
    return content
