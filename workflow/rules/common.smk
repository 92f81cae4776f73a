"""The checked configuration, and the few helpers with which rules ask for settings and files."""

import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def find_root(folder):
    """Where this workflow is; of a module from a repository, where capmap is installed."""
    if not hasattr(folder, "ref"):
        return Path(folder.get_path_or_uri(secret_free=False)).parents[1]
    try:
        root = Path(distribution("capmap").locate_file("capmap/project"))
    except PackageNotFoundError:
        raise WorkflowError("Install capmap of the same version for this module.")
    # The scripts, which Snakemake copies one by one, find the others here.
    others = filter(None, [os.getenv("PYTHONPATH")])
    os.environ.update(PYTHONPATH=os.pathsep.join([str(root / "scripts"), *others]))
    return root


ROOT = find_root(workflow.current_basedir)
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "workflow")]

from capmap.analyses import INDEX, STEPS
from capmap import inputs
from capmap.inputs import studies
from capmap.inputs.loading import ask, load_configuration
from library import attempts, code
from locks import release_lock

PREFIX = getattr(workflow.modifier.path_modifier, "prefix", None) or ""
if workflow.is_main_process and not workflow.dryrun and (released := release_lock()):
    logger.warning(released)
config = load_configuration(config, workflow, ROOT / "config.yaml", PREFIX)
STUDIES = config["run"]


wildcard_constraints:
    study="[A-Za-z0-9][A-Za-z0-9_-]*",
    shard="[0-9]+",
    number="[0-9]+",


def open_input(path):
    """A result, a file on a server, or one on this machine, which no prefix of a module moves."""
    if "://" in path:
        from remote import open_remote  # which is slow to import

        return open_remote(storage, path)
    return path if path.startswith("results/") else local(path)


def study_of(wildcards):
    """The study of a job, as the library sees it."""
    return ask(studies.find_study, config["studies"], wildcards.study, PREFIX)


def cfg(*paths, **found):
    """Settings of a job's study as a plain dict, such as `seed` of "bootstrap/seed", and more."""
    named = {Path(path).name: path for path in " ".join(paths).split()} | found
    return lambda wildcards: {
        name: ask(study_of(wildcards).find, find) for name, find in named.items()
    }


def unwatched(**found):
    """Values whose change runs nothing again: Snakemake compares no params that take the input."""
    return lambda wildcards, input: cfg(**found)(wildcards)


def steps(*names):
    """What steps of analyses are given; without names, those that share the job `compare`."""
    return cfg(
        study=lambda study: study.name,
        folder=lambda study: str(study.folder),
        steps=lambda study: inputs.read_steps(study, *names),
    )


def files(find, **kinds):
    """The files that a setting names, or that a function finds, also of wildcards of these kinds."""

    def read(wildcards):
        given = {name: kind(wildcards[name]) for name, kind in kinds.items()}
        found = ask(study_of(wildcards).find, find, **given)
        found = [found] if isinstance(find, str) else found
        return [open_input(path) for path in found if path]

    return read


def asked(names, folder, files):
    """Files of results that the job's study has if it asks for one of some analyses."""
    return lambda wildcards: (
        [folder.format(study=wildcards.study) + name for name in files.split()]
        if inputs.is_asked(study_of(wildcards), *names.split())
        else []
    )


def shards(place, names="", number=lambda study: range(study.read("bootstrap/shards"))):
    """What each shard of the job's study makes, if it asks for one of some analyses."""

    def read(wildcards):
        study = study_of(wildcards)
        if names and not inputs.is_asked(study, *names.split()):
            return []
        return expand(place, study=study.name, shard=ask(number, study))

    return read


def table(place, formats="csv"):
    """A table in its formats; Snakemake's report shows the first."""
    first, *others = [f"{place}.{suffix}" for suffix in formats.split()]
    labels = {"name": Path(place).name}
    first = report(first, category="{study}", subcategory="Tables", labels=labels)
    return [first, *others]
