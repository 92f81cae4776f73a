"""The inputs of rules, as far as they depend on the configuration or on the data."""

import json
import os
from glob import glob, has_magic
from hashlib import file_digest
from time import time


def list_exports(study):
    """A study's export files by their paths or URLs; globs are expanded."""
    patterns = config["studies"][study]["exports"]
    if study in find_studies("predictions"):
        return {path: path for path in find_dumps(study)}
    if study in find_studies("submission"):
        return {path: path for path in find_submissions(study)}
    if has_store(study):
        find_store(study)
        return {}
    if not patterns:
        raise WorkflowError(f"studies.{study}.exports: name the files to read.")
    files = {}
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if "://" in pattern:
            files[pattern] = open_url(pattern)
            continue
        is_glob = has_magic(pattern) and not Path(pattern).exists()
        found = sorted(glob(pattern, recursive=True)) if is_glob else [pattern]
        found = [path for path in found if Path(path).is_file()]
        if not found:
            raise WorkflowError(
                f"studies.{study}.exports: no file matches {pattern!r}. "
                f"Paths are relative to {Path.cwd()}."
            )
        files |= {path: check_name(path, f"studies.{study}.exports") for path in found}
    return files


def find_exports(study):
    """A study's export files."""
    return list(list_exports(study).values())


def names_of(wildcards):
    """The paths or URLs by which the export files of the job's study are configured."""
    return list(list_exports(wildcards.study))


def open_url(url):
    """A file on a server, which a storage plugin fetches."""
    # Not above: it would slow the start of the jobs of all studies.
    from remote import open_remote

    return open_remote(storage, url)


def check_name(path, option):
    """A path without braces and <names>, which Snakemake would replace."""
    if re.search(r"[{}]|<[a-z][a-z0-9_]*>", path):
        raise WorkflowError(
            f"{option}: rename {path}; a name cannot have braces or <words>."
        )
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
    return [open_url(path) if "://" in path else path] if path else []


def find_attributes(study, kind):
    """The table of what is known of the "models" or "datasets" of a study, if any."""
    option = f"studies.{study}.attributes.{kind}.file"
    path = config["studies"][study]["attributes"][kind]["file"]
    if path and not Path(path).is_file():
        raise WorkflowError(
            f"{option}: there is no file {path}. Paths are relative to {Path.cwd()}."
        )
    return [check_name(path, option)] if path else []


def attributes_of(kind):
    """The table of what is known of the "models" or "datasets" of the job's study, if any."""
    return lambda wildcards: find_attributes(wildcards.study, kind)


def folds_of(wildcards):
    """The cross-validation of each method and dimension that the job's study compares."""
    settings = config["studies"][wildcards.study]["capabilities"]
    methods = [
        "ensemble",
        settings["method"],
        "l2",
        *settings["distances"],
        "bilinear",
    ]
    return [
        f"results/{wildcards.study}/capabilities/folds/{method}/{dimension}.parquet"
        for method in dict.fromkeys(methods)
        for dimension in sorted({settings["dimension"], *settings["dimensions"]})
    ]


def map_of(wildcards):
    """The map of the job's study, by the projection that it asks for."""
    projection = config["studies"][wildcards.study]["capabilities"]["map"]
    return f"results/{wildcards.study}/capabilities/map/{projection}.parquet"


def references_of(wildcards):
    """The file of frozen bounds of the job's study, if it has one."""
    return find_references(wildcards.study)


def find_shards(study, folder):
    """The files in a folder of a study, one per shard that its runs were written to."""
    outputs = checkpoints.normalize_runs.get(study=study).output
    with open(outputs.manifest, encoding="utf-8") as manifest:
        shards = [line.split(",")[0] for line in manifest][1:]
    return [f"results/{study}/{folder}/{shard}.parquet" for shard in shards]


def shards_in(folder):
    """The shards of the job's study in a folder."""
    return lambda wildcards: find_shards(wildcards.study, folder)


def shards_of_conditions(wildcards):
    """The normalized shards of the studies that the job's study is compared with."""
    return [
        shard
        for study in config["studies"][wildcards.study]["conditions"]
        for shard in find_shards(study, "normalized")
    ]


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
    """Remove what is lost, altered or made of other exports, so that it is made again."""
    # Another run is at work here, or was killed; Snakemake says so later.
    if any(Path(".snakemake/locks").glob("*")):
        return
    folder = Path("results", study)
    runs, manifest = folder / "runs.parquet", folder / "normalized/manifest.csv"
    void = [] if has_all_shards(study) else [manifest]
    # Runs that are missing are made again only if what is made of them is missing as well.
    void = void if has_same_exports(study) else [runs, manifest]
    try:
        for path in void:
            path.unlink(missing_ok=True)
        # What a clock that was ahead has dated would look newer than what is made of now on.
        now = time()
        for path in filter(Path.is_file, folder.rglob("*")):
            if path.stat().st_mtime > now:
                os.utime(path)
    except OSError as error:
        raise WorkflowError(
            f"{path}: this is lost, altered or dated in the future, and cannot be mended "
            f"({error.strerror}). Check the permissions of results/ and the clock."
        )


def has_same_exports(study):
    """Whether the exports that are there have the bytes that the runs were read from.

    Snakemake looks at files that are newer than its results. An export can be older and changed:
    put back from a copy, unpacked, or edited after the clock went back.
    """
    account = Path("results", study, "validation.json")
    if study in find_studies("predictions"):
        return True
    try:
        files = json.loads(account.read_bytes())["files"]
        known = {Path(file["path"]): file["sha256"] for file in files}
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return all(
        is_intact(path, digest) for path, digest in known.items() if path.is_file()
    )


def has_all_shards(study):
    """Whether the shards in the manifest of a study are there and intact."""
    folder = Path("results", study, "normalized")
    manifest = folder / "manifest.csv"
    if not manifest.is_file():
        return True
    lines = manifest.read_text(encoding="utf-8", errors="replace").splitlines()[1:]
    shards = [[*line.split(","), ""][:2] for line in lines]
    return all(
        (folder / name).is_file() for name in ["shape.csv", "datasets.csv"]
    ) and all(
        is_intact(folder / f"{shard}.parquet", digest) for shard, digest in shards
    )


def is_intact(path, digest):
    """Whether a file is there and its bytes have a SHA-256."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest() == digest


def tables_of(wildcards):
    """All tables of the job's study."""
    names = list_tables(config["studies"][wildcards.study])
    return [f"results/{wildcards.study}/{name}.csv" for name in names]


def figures_of(suffix):
    """All figures of the job's study in a format."""
    return lambda wildcards: [
        f"results/{wildcards.study}/figures/{name}.{suffix}"
        for name in list_figures(config["studies"][wildcards.study])
    ]


def analyses_of(wildcards):
    """The analyses of the job's study."""
    return list_analyses(config["studies"][wildcards.study])


def texts_of(wildcards):
    """The paragraphs of all analyses of the job's study."""
    names = list_analyses(config["studies"][wildcards.study])
    return [f"results/{wildcards.study}/text/{name}.txt" for name in names]


def list_involved(studies):
    """The studies, and those whose rankings they are compared with."""
    for study in studies:
        for other in config["studies"][study]["conditions"]:
            if other == study or other not in config["studies"]:
                raise WorkflowError(
                    f"studies.{study}.conditions: {other!r} is not another study of this file. "
                    f"Its studies are {', '.join(config['studies'])}."
                )
    others = [
        other for study in studies for other in config["studies"][study]["conditions"]
    ]
    return list(dict.fromkeys([*studies, *others]))


# What is missing is said here, in one line, rather than from within the graph of jobs.
for study in list_involved(STUDIES):
    find_exports(study)
    find_references(study)
    find_attributes(study, "models")
    find_attributes(study, "datasets")
    find_benchmark(study)
    find_releases(study)
    # Once per run and not in each of its jobs, which parse this file as well.
    if workflow.is_main_process:
        forget_lost_shards(study)
