"""The public names of capmap, loaded when they are used."""

from importlib import import_module
from typing import Any

NAMES = {"load": "capmap.notebook", "Study": "capmap.notebook"}


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module 'capmap' has no attribute {name!r}")
    return getattr(import_module(NAMES[name]), name)
