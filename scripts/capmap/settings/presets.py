"""Settings for files that others' tools write, by name."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from capmap.errors import ConfigError
from capmap.settings.files import expand_home, read_yaml
from capmap.wording import find_nearest, list_names, quote_name

SHIPPED = Path(__file__).with_name("presets.yaml")
SUFFIXES = (".yaml", ".yml")
# What replaces the preset's, rather than being mixed with it.
# What is of use to drafts only.
OF_PRESETS = ("about", "known_by", "paths", "weak")
WHOLE = ("where", "take", "failed")


def fill_preset(study: Mapping[str, Any]) -> dict[str, Any]:
    """Fill a study's settings with those of its preset, where it says nothing itself.

    Parameters
    ----------
    study : mapping
        As the user wrote it; ``preset`` is a name, or the path of a YAML file with such settings.

    Returns
    -------
    dict
        Sections are filled key by key, but for ``where``, which is replaced.

    Raises
    ------
    ConfigError
        When there is no such preset, or its file is no section of settings.
    """
    name = study.get("preset")
    if not isinstance(name, str) or not name:
        return dict(study)
    preset = _read_file(expand_home(name)) if name.endswith(SUFFIXES) else list_presets().get(name)
    if preset is None:
        near = find_nearest(name, list_presets())
        hint = f"Did you mean {quote_name(near)}? " if near else ""
        raise ConfigError(
            f"preset: there is none called {quote_name(name)}. {hint}There are "
            f"{list_names(list(list_presets()))}, or write a YAML file of your own."
        )
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
    try:
        content = read_yaml(path)
    except ConfigError as error:
        raise ConfigError(f"preset: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"preset: {path} has to hold settings of a study, such as columns.")
    return content
