"""The checked configuration, wildcard constraints, and helpers that several stages share."""

import sys
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path

import yaml

ROOT = Path(workflow.basedir)
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "workflow")]

from capmap.errors import ConfigError
from capmap.schema import check_settings
from library import digest_library


def check_config(settings):
    """Check the configuration against its schema and fill in the defaults."""
    # Snakemake merges a --configfile into config.yaml; its studies are to replace ours.
    studies = workflow.config_settings.overwrite_config.get("studies")
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    try:
        return check_settings(
            {**settings, "studies": studies} if studies else settings, schema
        )
    except ConfigError as error:
        raise WorkflowError(str(error))


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


config = check_config(config)
STUDIES = select_studies(config["run"])


wildcard_constraints:
    study="[A-Za-z0-9][A-Za-z0-9_-]*",
    shard="[0-9]+",


def setting(path):
    """A setting of the job's study, such as ``bootstrap/replicates``."""
    return lookup(f"{{study}}/{path}", within=config["studies"])


def title_of(wildcards):
    """The study's title, or its name where it has none."""
    return config["studies"][wildcards.study]["title"] or wildcards.study


def table(name):
    """A table in its three formats."""
    return multiext(f"results/{{study}}/tables/{name}", ".csv", ".md", ".tex")


def figure(name):
    """A figure in its three formats; the vector one goes into Snakemake's report."""
    stem = f"results/{{study}}/figures/{name}"
    caption = report(
        f"{stem}.svg",
        caption=f"../report/{name}.rst",
        category="{study}",
        subcategory="Figures",
        labels={"figure": name.replace("_", " ")},
    )
    return [*multiext(stem, ".pdf", ".png"), caption]


def find_exports(study):
    """A study's export files; globs are expanded, URLs go through storage plugins."""
    patterns = config["studies"][study]["exports"]
    files = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if "://" in pattern:
            files.append(storage(pattern))
            continue
        found = (
            sorted(glob(pattern, recursive=True)) if has_magic(pattern) else [pattern]
        )
        found = [path for path in found if Path(path).is_file()]
        if not found:
            raise WorkflowError(
                f"studies.{study}.exports: no file matches {pattern!r}. "
                f"Paths are relative to {Path.cwd()}."
            )
        files += found
    return list(dict.fromkeys(files))


def exports_of(wildcards):
    """The export files of the job's study."""
    return find_exports(wildcards.study)


def references_of(wildcards):
    """The file of frozen bounds, if the study has one."""
    path = config["studies"][wildcards.study]["normalization"]["references"]
    return [path] if path else []


def shards_in(folder):
    """The files in a folder of the study, one per shard that its runs were written to."""

    def find(wildcards):
        outputs = checkpoints.normalize_runs.get(study=wildcards.study).output
        with open(outputs.manifest, encoding="utf-8") as manifest:
            shards = [line.split(",")[0] for line in manifest][1:]
        return [
            f"results/{wildcards.study}/{folder}/{shard}.parquet" for shard in shards
        ]

    return find


def resampled_datasets(wildcards):
    """The table that lists the datasets, for studies that resample them."""
    bootstrap = config["studies"][wildcards.study]["bootstrap"]
    if bootstrap["unit"] == "runs":
        return []
    return [f"results/{wildcards.study}/normalized/bounds.csv"]


def shape_of(wildcards):
    """The study's shape, which `normalize_runs` writes beside the shards."""
    checkpoints.normalize_runs.get(study=wildcards.study)
    return f"results/{wildcards.study}/normalized/shape.csv"


# A missing file is said here, in one line, rather than from within the graph of jobs.
for study in STUDIES:
    find_exports(study)
