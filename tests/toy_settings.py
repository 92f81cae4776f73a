"""Settings of a study, complete, as the workflow hands them over."""

from pathlib import Path
from typing import Any

import yaml

from capmap.schema import check_settings

ROOT = Path(__file__).parents[1]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text("utf-8"))


def make_settings(**given: Any) -> dict[str, Any]:
    """Complete a study's settings with the defaults of the schema."""
    study = {"exports": ["data/seeded.csv"], **given}
    settings: dict[str, Any] = check_settings({"studies": {"toy": study}}, SCHEMA)["studies"]["toy"]
    return settings
