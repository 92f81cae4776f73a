"""Settings of a study, complete, as the workflow hands them over."""

from typing import Any

from capmap.settings.checking import check_settings
from capmap.settings.sections import write_schema
from capmap.settings.study import Config

SCHEMA = write_schema(Config)


def make_settings(**given: Any) -> dict[str, Any]:
    """Complete a study's settings with the defaults of the schema."""
    study = {"exports": ["data/seeded.csv"], **given}
    settings: dict[str, Any] = check_settings({"studies": {"toy": study}}, SCHEMA)["studies"]["toy"]
    return settings
