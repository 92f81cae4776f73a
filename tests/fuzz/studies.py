"""The exports of a study, taken as the workflow does."""

from collections.abc import Mapping
from typing import Any

from capmap import inputs
from capmap.attributes import find_attribute_faults
from capmap.inputs.studies import Study, list_exports
from capmap.validation.findings import check_exports


def read_exports_of(config: Mapping[str, Any], study: str) -> tuple[Any, Any]:
    """Read and validate the exports of a checked study, as its first job does."""
    settings = config["studies"][study]
    known = Study(study, settings)
    files = list_exports(known)
    read, result = check_exports(
        files,
        names=files,
        patterns=settings["exports"],
        settings=settings,
        named=inputs.list_named(known),
        renamed=known.read("figures/names"),
    )
    return read, result.add_problems(find_attribute_faults(inputs.read_attributes(known)))
