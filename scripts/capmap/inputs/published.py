"""Published tables, and what a study has beside them."""

from typing import Any

from capmap.analyses import FOLDER, INDEX, list_figures, list_tables
from capmap.errors import ConfigError
from capmap.inputs.studies import Study, list_faults
from capmap.wording import find_nearest, list_names, write_key


def list_printed(study: Study) -> list[str]:
    """List the files of published numbers of a study."""
    return [entry["file"] for entry in study.settings["published"].values() if entry["file"]]


def list_beside(study: Study) -> list[str]:
    """List what holds the tables beside published numbers and of claims, each once."""
    entries = [entry for entry in study.settings["published"].values() if entry["file"]]
    named = [entry["table"] for entry in [*entries, *study.settings["claims"].values()]]
    places = [FOLDER if name.startswith(f"{FOLDER}/") else f"{name}.csv" for name in named if name]
    return [study.place(place) for place in dict.fromkeys(places)]


def check_published(study: Study) -> None:
    """Look for the files, tables and figures that `published` and `claims` name."""
    own = {f"tables/{name}" for name in INDEX["published"]["tables"]}
    known = {
        "table": [name for name in list_tables(study.settings) if name not in own],
        "figure": list_figures(study.settings),
    }
    named = {f"published.{write_key(name)}": entry for name, entry in _list(study, "published")}
    faults = [
        fault
        for option, entry in named.items()
        if entry["file"]
        for fault in list_faults(study.find_file, f"{option}.file", entry["file"])
    ]
    named |= {f"claims.{write_key(name)}": claim for name, claim in _list(study, "claims")}
    for option, entry in named.items():
        for kind, names in known.items():
            if entry.get(kind) and entry[kind] not in names:
                near = find_nearest(entry[kind], names)
                hint = f"Did you mean {near}?" if near else f"There are {list_names(names)}."
                text = f"the study makes no {kind} {entry[kind]}. {hint}"
                faults.append(str(study.refuse(f"{option}.{kind}", text)))
    if faults:
        raise ConfigError("\n".join(faults))


def _list(study: Study, key: str) -> list[tuple[str, dict[str, Any]]]:
    return list(study.settings[key].items())
