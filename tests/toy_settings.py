"""Settings of a study, complete, as the workflow hands them over."""

from pathlib import Path
from typing import Any

from capmap.schema import check_settings, load_schema

ROOT = Path(__file__).parents[1]
SCHEMA = load_schema(ROOT / "workflow/schemas/config.schema.yaml")


def make_settings(**given: Any) -> dict[str, Any]:
    """Complete a study's settings with the defaults of the schema."""
    study = {"exports": ["data/seeded.csv"], **given}
    settings: dict[str, Any] = check_settings({"studies": {"toy": study}}, SCHEMA)["studies"]["toy"]
    return settings
