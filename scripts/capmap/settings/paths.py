"""Paths of settings, in which `~` stands for a home folder."""

import os
from pathlib import Path
from typing import Any

from capmap.settings.words import Schema


def expand_paths(value: Any, part: Schema) -> Any:
    """Expand `~` in every setting that names a file.

    Parameters
    ----------
    value
        Settings. They are not changed.
    part : mapping
        Their schema, whose texts of the format "path" are paths.

    Returns
    -------
    object
        The settings with expanded paths.
    """
    for branch in part.get("anyOf", (part,)):
        if isinstance(value, str) and branch.get("format") == "path":
            return expand_home(value)
        if isinstance(value, list) and "items" in branch:
            return [expand_paths(item, branch["items"]) for item in value]
        if isinstance(value, dict) and branch.get("type") == "object":
            known, free = branch.get("properties", {}), branch.get("additionalProperties") or {}
            names = branch.get("propertyNames", {})
            return {
                expand_paths(key, names): expand_paths(child, known.get(key, free))
                for key, child in value.items()
            }
    return value


def expand_home(path: str) -> str:
    """Expand `~` or `~user` at the beginning of a path.

    Examples
    --------
    >>> expand_home("runs/~.csv"), expand_home("~") == os.path.expanduser("~")
    ('runs/~.csv', True)
    """
    # Not Path.expanduser, which drops a trailing slash and fails where there is no such user.
    return os.path.expanduser(path)  # noqa: PTH111


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a file or folder is, by links, outside of a folder; what is nowhere is not."""
    return path.exists() and not path.resolve().is_relative_to(folder.resolve())
