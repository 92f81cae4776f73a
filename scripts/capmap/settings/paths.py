"""Paths of settings, in which `~` stands for a home folder."""

import os
from pathlib import Path


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
