"""Files of settings: YAML whose keys stand once."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from capmap.errors import ConfigError


class _Loader(yaml.SafeLoader):
    """Reads YAML, and notes the keys that stand twice."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.twice: list[tuple[int, int, str]] = []

    def compose_mapping_node(self, anchor: dict[Any, Any]) -> yaml.MappingNode:
        # Before sections are merged (<<), which puts keys beside those that win over them.
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: dict[str, int] = {}
        for key, _ in node.value:
            name, mark = key.value, key.start_mark
            if isinstance(name, str) and name != "<<":
                if name in seen:
                    self.twice.append((mark.line + 1, mark.column + 1, _tell_twice(name, seen)))
                seen.setdefault(name, mark.line + 1)
        return node


def read_yaml(path: str) -> Any:
    """Read YAML, of which JSON is a part.

    Raises
    ------
    ConfigError
        When it cannot be read, is no YAML or has keys twice; with line and column.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
        loader = _Loader(text)
        content = loader.get_single_data()
    except OSError as error:
        raise ConfigError(
            f"{path}: it cannot be read ({error.strerror}). Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: it is not UTF-8. Save it as UTF-8.") from error
    except yaml.MarkedYAMLError as error:
        return _read_json(text, _explain(path, error))
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: it is no YAML ({' '.join(str(error).split())}).") from error
    try:
        json.dumps(content, default=str, skipkeys=True)
    except (ValueError, RecursionError) as error:
        reason = "an alias (*name) stands within what it is an alias of. Write it out."
        raise ConfigError(f"{path}: {reason}") from error
    if loader.twice:
        raise ConfigError(
            "\n".join(
                f"{path}, line {line}, column {column}: {fault}"
                for line, column, fault in sorted(loader.twice)
            )
        )
    return content


def _tell_twice(name: str, seen: Mapping[str, int]) -> str:
    return f"the key {name!r} stands twice, first at line {seen[name]}. Keep one of them."


def _read_json(text: str, fault: str) -> Any:
    """Read JSON that is no YAML, as it is indented by tabs."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigError(fault) from error


def read_config(path: str) -> dict[str, Any]:
    """Read a file of settings, of which it is checked elsewhere whether they make sense.

    Raises
    ------
    ConfigError
        As `read_yaml` does, and when there are no studies.
    """
    content = read_yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get("studies"), dict):
        raise ConfigError(f"{path}: it has no section `studies:` with a study below it.")
    return content


def _explain(path: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    reason = error.problem or error.context or "it is no YAML"
    hint = ""
    if "'\\t'" in reason:
        hint = " YAML is indented by blanks, not by tabs."
    elif "mapping values" in reason or "expected <block end>" in reason:
        hint = " Check the indentation here, and quotes around texts with a colon."
    elif "flow" in f"{error.context} {reason}":
        hint = " Check that every bracket and brace is closed."
    return f"{path}{place}: {reason}.{hint}"
