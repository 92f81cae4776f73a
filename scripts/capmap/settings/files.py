"""Files of settings: YAML whose keys stand once."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from capmap.errors import ConfigError


class _Loader(yaml.SafeLoader):
    """Reads YAML, and refuses a key that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[Any, int] = {}
        for key, _ in node.value:
            name, line = getattr(key, "value", None), key.start_mark.line + 1
            if isinstance(name, str) and name != "<<" and name in seen:
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"the key {name!r} stands twice, first at line {seen[name]}",
                    key.start_mark,
                )
            seen[name if isinstance(name, str) else id(key)] = line
        return super().construct_mapping(node, deep=deep)


def read_yaml(path: str) -> Any:
    """Read YAML, of which JSON is a part.

    Raises
    ------
    ConfigError
        When it cannot be read, is no YAML or has a key twice; with line and column.
    """
    try:
        return yaml.load(Path(path).read_text("utf-8-sig"), _Loader)  # noqa: S506 (a safe one)
    except OSError as error:
        raise ConfigError(f"{path}: it cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: it is not UTF-8. Save it as UTF-8.") from error
    except yaml.MarkedYAMLError as error:
        raise ConfigError(_explain(path, error)) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: it is no YAML ({' '.join(str(error).split())}).") from error


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
    elif "flow" in reason:
        hint = " Check that every bracket and brace is closed."
    return f"{path}{place}: {reason}.{hint}"
