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
            settings if studies is None else {**settings, "studies": studies}, schema
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
TABLES = ["iqm", "intervals", "aggregate", "scores", "seeds", "coverage", "changes"]
FIGURES = ["intervals", "rank_shift", "scores", "seed_spread", "runs_per_cell"]


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
    """A table in its three formats; Snakemake's report shows the first."""
    stem = f"results/{{study}}/tables/{name}"
    return [for_report(f"{stem}.csv", "Tables", name), *multiext(stem, ".md", ".tex")]


def figure(name):
    """A figure in its three formats; Snakemake's report shows the vector one."""
    stem = f"results/{{study}}/figures/{name}"
    return [*multiext(stem, ".pdf", ".png"), for_report(f"{stem}.svg", "Figures", name)]


def for_report(path, kind, name):
    """A file with its caption and place in Snakemake's report."""
    return report(
        path,
        caption=f"../report/{kind.lower()}/{name}.rst",
        category="{study}",
        subcategory=kind,
        labels={"name": name.replace("_", " ")},
    )


def find_exports(study):
    """A study's export files; globs are expanded, URLs go through storage plugins."""
    patterns = config["studies"][study]["exports"]
    files = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if "://" in pattern:
            files.append(storage(pattern))
            continue
        is_glob = has_magic(pattern) and not Path(pattern).exists()
        found = sorted(glob(pattern, recursive=True)) if is_glob else [pattern]
        found = [path for path in found if Path(path).is_file()]
        if not found:
            raise WorkflowError(
                f"studies.{study}.exports: no file matches {pattern!r}. "
                f"Paths are relative to {Path.cwd()}."
            )
        files += [check_name(path, f"studies.{study}.exports") for path in found]
    return list(dict.fromkeys(files))


def check_name(path, option):
    """A path without braces, which Snakemake would take for wildcards."""
    if {"{", "}"} & set(path):
        raise WorkflowError(f"{option}: rename {path}; a name cannot have braces.")
    return path


def exports_of(wildcards):
    """The export files of the job's study."""
    return find_exports(wildcards.study)


def find_references(study):
    """The file of frozen bounds, if the study has one."""
    path = config["studies"][study]["normalization"]["references"]
    if path and Path(path).resolve().is_relative_to(Path("results", study).resolve()):
        raise WorkflowError(
            f"studies.{study}.normalization.references: this study itself writes {path}. "
            "Copy the file out of results/ and name the copy."
        )
    if path and "://" not in path and not Path(path).is_file():
        raise WorkflowError(
            f"studies.{study}.normalization.references: there is no file {path}. "
            f"Paths are relative to {Path.cwd()}."
        )
    return [storage(path) if "://" in path else path] if path else []


def references_of(wildcards):
    """The file of frozen bounds of the job's study, if it has one."""
    return find_references(wildcards.study)


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
    """The list of datasets, for studies that resample them; `normalize_runs` writes it."""
    checkpoints.normalize_runs.get(study=wildcards.study)
    unit = config["studies"][wildcards.study]["bootstrap"]["unit"]
    path = f"results/{wildcards.study}/normalized/datasets.csv"
    return [path] if unit == "runs_and_datasets" else []


def shape_of(wildcards):
    """The study's shape; `normalize_runs` writes it."""
    checkpoints.normalize_runs.get(study=wildcards.study)
    return f"results/{wildcards.study}/normalized/shape.csv"


def forget_lost_shards(study):
    """Remove the manifest of normalized shards that are not all there, so they are made again."""
    folder = Path("results", study, "normalized")
    manifest = folder / "manifest.csv"
    if manifest.is_file():
        with manifest.open(encoding="utf-8") as lines:
            shards = [f"{line.split(',')[0]}.parquet" for line in lines][1:]
        if not all(
            (folder / name).is_file() for name in ["shape.csv", "datasets.csv", *shards]
        ):
            manifest.unlink()


# What is missing is said here, in one line, rather than from within the graph of jobs.
for study in STUDIES:
    find_exports(study)
    find_references(study)
    forget_lost_shards(study)
