"""The inputs of submissions, checkpoints, tracking stores and leaderboards."""

from hashlib import sha256

from capmap.benchmarks import read_benchmark

RESULTS = "results_and_parameters.csv"
INFORMATION = "additional_info.json"


def list_submissions(study):
    """The folders of submissions of a study; one that is collected from a store is made."""
    if has_store(study):
        return [f"results/{study}/collected/{study}"]
    patterns = config["studies"][study]["exports"]
    if not patterns:
        raise WorkflowError(
            f"studies.{study}.exports: name a folder of submissions, or a store in tracking.store."
        )
    folders = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        found = sorted(path for path in map(Path, glob(pattern)) if path.is_dir())
        if not found:
            raise WorkflowError(
                f"studies.{study}.exports: no folder matches {pattern!r}. "
                f"Paths are relative to {Path.cwd()}."
            )
        for folder in found:
            is_one = any((folder / name).is_file() for name in [RESULTS, INFORMATION])
            # A link to nowhere is a submission that has lost its files.
            below = sorted(
                path
                for path in folder.iterdir()
                if not path.is_file() and not path.name.startswith(".")
            )
            folders += [folder] if is_one else below
    if not folders:
        raise WorkflowError(
            f"studies.{study}.exports: {patterns!r} holds no folder of a submission, that is with "
            f"{RESULTS} and {INFORMATION}."
        )
    option = f"studies.{study}.exports"
    return [check_name(path.as_posix(), option) for path in dict.fromkeys(folders)]


def find_submissions(study):
    """The files of all submissions of a study, as far as they are there."""
    folders = list_submissions(study)
    files = [
        f"{folder}/{name}" for folder in folders for name in [RESULTS, INFORMATION]
    ]
    return (
        files if has_store(study) else [path for path in files if Path(path).is_file()]
    )


def submissions_of(wildcards):
    """The files of all submissions of the job's study."""
    return find_submissions(wildcards.study)


def folders_of(wildcards):
    """The folders of all submissions of the job's study."""
    return list_submissions(wildcards.study)


def described_submissions(wildcards):
    """What the submissions of the job's study say of themselves, if it has any."""
    is_submission = config["studies"][wildcards.study]["format"] == "submission"
    return [f"results/{wildcards.study}/submissions.json"] if is_submission else []


def find_benchmark(study):
    """The definition of the benchmark of a study, if it names one."""
    path = config["studies"][study]["benchmark"]
    if path and not Path(path).is_file():
        raise WorkflowError(
            f"studies.{study}.benchmark: there is no file {path}. Paths are relative to {Path.cwd()}."
        )
    return [check_name(path, f"studies.{study}.benchmark")] if path else []


def benchmark_of(wildcards):
    """The definition of the benchmark of the job's study, if it names one."""
    return find_benchmark(wildcards.study)


def benchmark_rules_of(wildcards):
    """The same, where its metrics and directions hold for the exports."""
    is_table = wildcards.study in find_studies("long", "matrix", "submission")
    return find_benchmark(wildcards.study) if is_table else []


def find_dimensions(study):
    """The datasets of each dimension of a study: of its benchmark, and its groups."""
    groups = config["studies"][study]["groups"].items()
    defined = {}
    for path in find_benchmark(study):
        try:
            defined = read_benchmark(path).dimensions
        except ConfigError as error:
            raise WorkflowError(f"studies.{study}.benchmark: {error}")
    return {**defined, **{name: group["datasets"] for name, group in groups}}


def dimensions_of(wildcards):
    """The datasets of each dimension of the job's study."""
    return find_dimensions(wildcards.study)


def has_store(study):
    """Whether a study reads a tracking store."""
    return bool(config["studies"][study]["tracking"]["store"])


def find_store(study):
    """The file or folder of the tracking store of a study; a server has none."""
    # Not above: it would slow the start of the jobs of all studies.
    from capmap.tracking.locations import locate_store

    try:
        return locate_store(config["studies"][study]["tracking"]["store"])
    except ValidationError as error:
        raise WorkflowError(f"studies.{study}.{error}")


def state_of_store(wildcards):
    """Tells states of a tracking store apart by the sizes and times of its files."""
    path = find_store(wildcards.study)
    if path is None:
        return ""
    files = sorted(file for file in path.rglob("*") if "artifacts" not in file.parts)
    stats = [(file.as_posix(), file.stat()) for file in files or [path]]
    known = [(name, found.st_size, found.st_mtime_ns) for name, found in stats]
    return sha256(repr(known).encode()).hexdigest()


def evaluations_of(wildcards):
    """The tables of evaluations of the job's study; that of a tracking store is made."""
    if has_store(wildcards.study):
        return [f"results/{wildcards.study}/tracking/evaluations.parquet"]
    return find_exports(wildcards.study)


def choice_of(wildcards):
    """How the job's study chooses checkpoints, without how it ranks them."""
    settings = config["studies"][wildcards.study]["checkpoints"]
    return {name: value for name, value in settings.items() if name != "rankings"}


def find_information(study):
    """The description of the submission that is collected from a tracking store."""
    path = config["studies"][study]["tracking"]["information"]
    option = f"studies.{study}.tracking.information"
    if not Path(path).is_file():
        raise WorkflowError(
            f"{option}: name the additional_info.json of the submission."
        )
    return [check_name(path, option)]


def information_of(wildcards):
    """The description of the submission of the job's study."""
    return find_information(wildcards.study)


def find_releases(study):
    """The tables that the user kept of former releases of a study."""
    pattern = config["studies"][study]["leaderboard"]["releases"]
    option = f"studies.{study}.leaderboard.releases"
    found = [path for path in sorted(glob(pattern)) if Path(path).is_file()]
    if pattern and not found:
        raise WorkflowError(
            f"{option}: no file matches {pattern!r}. When you publish, copy "
            f"results/{study}/leaderboard/entries.csv there."
        )
    return [check_name(path, option) for path in found]


def releases_of(wildcards):
    """The tables of former releases of the job's study."""
    return find_releases(wildcards.study)


def find_pages(studies):
    """The pages of the leaderboards that studies ask for."""
    return [
        f"results/{study}/leaderboard/index.html"
        for study in studies
        if "leaderboard" in list_analyses(config["studies"][study])
    ]


def check_sources(study):
    """Tell settings that do not go together, before any job."""
    settings = config["studies"][study]
    if has_store(study) and settings["format"] not in ("checkpoints", "submission"):
        raise WorkflowError(
            f"studies.{study}.tracking.store: a store is read with format: checkpoints or format: "
            "submission."
        )
    if has_store(study) and settings["exports"]:
        raise WorkflowError(
            f"studies.{study}.exports: tracking.store is read instead. Leave one of them empty."
        )
    is_asked = "checkpoints" in list_analyses(settings)
    if is_asked and settings["format"] != "checkpoints":
        raise WorkflowError(
            f"studies.{study}.analyses: checkpoints need format: checkpoints."
        )
    if "leaderboard" in list_analyses(settings) and "All" in settings["groups"]:
        raise WorkflowError(
            f"studies.{study}.groups.All: the leaderboard calls all datasets together so; choose "
            "another name."
        )
    find_dimensions(study)
    if has_store(study) and settings["format"] == "submission":
        find_information(study)
