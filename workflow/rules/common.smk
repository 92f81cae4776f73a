"""The checked configuration, wildcard constraints, and helpers that several stages share."""

import re
import sys
from difflib import get_close_matches
from functools import reduce
from operator import getitem
from pathlib import Path

ROOT = Path(workflow.basedir)
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "workflow")]

from capmap.errors import ConfigError, ValidationError
from capmap.catalog import (
    ANALYSES,
    FIGURES,
    STEPS,
    find_owner,
    list_analyses,
    list_captions,
    list_figures,
    list_tables,
    place_table,
    read_setting,
)
from capmap.settings.checking import check_settings
from capmap.settings.sections import write_schema
from capmap.settings.study import Config
import library


def check_config(settings):
    """Check the configuration against its schema and fill in the defaults."""
    # Snakemake merges a --configfile into config.yaml; its studies are to replace ours.
    studies = workflow.config_settings.overwrite_config.get("studies")
    given = settings if studies is None else {**settings, "studies": studies}
    try:
        checked = check_settings(given, write_schema(Config))
    except ConfigError as error:
        raise WorkflowError(str(error))
    for name, study in checked["studies"].items():
        # A leaderboard shows and marks what is not complete.
        if (
            study["format"] == "submission"
            and "incomplete" not in given["studies"][name]
        ):
            study["incomplete"] = "keep"
    return checked


def select_studies(names):
    """The studies that `run:` asks for."""
    if names == "all":
        return list(config["studies"])
    names = [names] if isinstance(names, str) else names
    for name in names:
        if name not in config["studies"]:
            known = get_close_matches(name, config["studies"], 1) or config["studies"]
            raise WorkflowError(
                f"run: there is no study {name!r}. Did you mean {', '.join(known)}?"
            )
    return names


def write_captions(folder):
    """Write what tables and figures show for Snakemake's report, which reads it from files."""
    for name, caption in list_captions().items():
        path = folder / f"{name}.rst"
        if workflow.is_main_process and (
            not path.is_file() or path.read_text("utf-8") != caption
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(caption, "utf-8")
    return folder.resolve()


config = check_config(config)
STUDIES = select_studies(config["run"])
CAPTIONS = write_captions(Path(".snakemake/captions"))


wildcard_constraints:
    study="[A-Za-z0-9][A-Za-z0-9_-]*",
    shard="[0-9]+",
    method="[a-z0-9]+",
    dimension="[0-9]+",
    number="[0-9]+",
    cell="[0-9a-f]{16}",


def find_studies(*formats):
    """The studies whose exports have one of these formats."""
    studies = config["studies"].items()
    return [study for study, settings in studies if settings["format"] in formats]


def match_studies(*formats):
    """A pattern of the studies whose exports have one of these formats."""
    return "|".join(map(re.escape, find_studies(*formats))) or "(?!)"


def setting(path):
    """A setting of the job's study, such as ``bootstrap/replicates``."""
    keys = path.split("/")
    return lambda wildcards: reduce(getitem, keys, config["studies"][wildcards.study])


def digest_library(script):
    """Digest of the library code of a rule's script, worked out once the rule has a job."""
    return lambda wildcards: library.digest_library(script)


def title_of(wildcards):
    """The study's title, or its name where it has none."""
    return config["studies"][wildcards.study]["title"] or wildcards.study


def table(name, folder="tables", formats="csv md tex"):
    """A table in its formats; Snakemake's report shows the first."""
    first, *others = [
        f"results/{{study}}/{folder}/{name}.{suffix}" for suffix in formats.split()
    ]
    return [for_report(first, "Tables", f"{folder}/{name}"), *others]


def figure(name):
    """A figure in its formats; Snakemake's report shows the vector one."""
    stem = f"results/{{study}}/figures/{name}"
    return [
        *multiext(stem, ".pdf", ".png"),
        for_report(f"{stem}.svg", "Figures", f"figures/{name}"),
    ]


def folder_of(wildcards):
    """The folder of a study's results."""
    return f"results/{wildcards.study}"


def group_of_page(wildcards):
    """The group that a profile puts the page in, known once all is read; None without one."""
    return workflow.group_settings.overwrite_groups.get("write_report")


def number_of(wildcards):
    """The number in a job's paths, such as a seed."""
    return int(wildcards.number)


def dimension_of(wildcards):
    """The number of dimensions of a job."""
    return int(wildcards.dimension)


def text(name):
    """A paragraph for a paper, as plain text and as LaTeX."""
    return multiext(f"results/{{study}}/text/{name}", ".txt", ".tex")


def for_report(path, kind, name):
    """A file with its caption and place in Snakemake's report."""
    return report(
        path,
        caption=str(CAPTIONS / f"{name}.rst"),
        category="{study}",
        subcategory=kind,
        labels={"name": Path(name).name.replace("_", " ")},
    )
