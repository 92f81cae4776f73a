"""Settings of a study, complete, as the workflow hands them over."""

from typing import Any

from capmap.settings.checking import check_settings
from capmap.settings.sections import Config

# What scripts that check runs are told of a study without any choices.
RULES: dict[str, Any] = {
    **{name: {} for name in ("columns", "where", "metrics", "datasets", "normalization", "select")},
    **dict.fromkeys(("incomplete", "duplicates", "invalid"), "error"),
    **{"metric": "", "decimal": "auto", "checksums": {}, "names": []},
    **{"references": [], "renamed": {}, "named": []},
}
# And how tables are read.
READING: dict[str, Any] = {
    **{"format": "long", "header_rows": 1, "failed": "invalid", "take": "all", "patterns": ""},
    **{name: {} for name in ("reading", "fields", "values")},
    "summary": {"runs": 1, "spread": "std"},
    **{"benchmark": [], "attributes": {}},
}


def pick_rules(*names: str) -> dict[str, Any]:
    """Some of the rules, for a script that takes no others."""
    return {name: RULES[name] for name in names}


def make_settings(**given: Any) -> dict[str, Any]:
    """Complete a study's settings with the defaults of the schema."""
    study = {"exports": ["data/seeded.csv"], **given}
    settings: dict[str, Any] = check_settings({"studies": {"toy": study}}, Config)["studies"]["toy"]
    return settings
