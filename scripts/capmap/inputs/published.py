"""Published tables, and what a study has beside them."""

from capmap.catalog import ANALYSES, list_figures, list_tables
from capmap.errors import ConfigError
from capmap.inputs.studies import Study, list_faults
from capmap.wording import find_nearest, list_names, write_key


def list_printed(study: Study) -> list[str]:
    """List the files of published numbers of a study."""
    return [entry["file"] for entry in study.settings["published"].values() if entry["file"]]


def list_computed(study: Study) -> list[str]:
    """List the tables that stand beside published numbers; one may stand beside several."""
    return [
        study.place(f"{entry['table']}.csv")
        for entry in study.settings["published"].values()
        if entry["file"] and entry["table"]
    ]


def check_published(study: Study) -> None:
    """Look for the files, tables and figures that `published` names.

    Raises
    ------
    ConfigError
        When some are not there; with a line for each.
    """
    own = {f"tables/{name}" for name in ANALYSES["published"].tables}
    known = {
        "table": [name for name in list_tables(study.settings) if name not in own],
        "figure": list_figures(study.settings),
    }
    faults = []
    for name, entry in study.settings["published"].items():
        option = f"published.{write_key(name)}"
        if entry["file"]:
            faults += list_faults(study.find_file, f"{option}.file", entry["file"])
        for kind, names in known.items():
            if entry[kind] and entry[kind] not in names:
                near = find_nearest(entry[kind], names)
                hint = f"Did you mean {near}?" if near else f"There are {list_names(names)}."
                text = f"the study makes no {kind} {entry[kind]}. {hint}"
                faults.append(str(study.refuse(f"{option}.{kind}", text)))
    if faults:
        raise ConfigError("\n".join(faults))
