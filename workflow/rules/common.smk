"""The checked configuration, wildcard constraints, and how rules ask the library.

What rules read and are given is in `capmap.inputs`; `of` makes it a function of a job's wildcards.
"""

import os
import re
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def find_root(folder):
    """Where this workflow is; of a module from a repository, where capmap is installed."""
    if not hasattr(folder, "ref"):
        return Path(folder.get_path_or_uri(secret_free=False)).parents[1]
    try:
        root = Path(distribution("capmap").locate_file("capmap/project"))
    except PackageNotFoundError:
        raise WorkflowError(
            "A module from a repository needs its library: install capmap of the same version."
        )
    # The scripts, which Snakemake copies one by one, find the others here.
    others = filter(None, [os.getenv("PYTHONPATH")])
    os.environ.update(PYTHONPATH=os.pathsep.join([str(root / "scripts"), *others]))
    return root


ROOT = find_root(workflow.current_basedir)
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "workflow")]

from capmap.addresses import hide_in_text, keep_secrets
from capmap.catalog import ANALYSES, STEPS, find_owner, list_captions
from capmap.errors import ConfigError, explain_machine
from capmap.inputs import analyses, configuration, exports, leaderboards
from capmap.inputs import locks, looks, predictions, studies
from capmap.settings.files import read_yaml
import library

if workflow.is_main_process and not workflow.dryrun:
    if released := locks.release_lock():
        logger.warning(released)


def ask(function, *arguments, **options):
    """What a function of the library finds; what it refuses ends the run in one message."""
    try:
        return function(*arguments, **options)
    except ConfigError as error:
        raise WorkflowError(hide_in_text(str(error)))
    except OSError as error:
        if text := explain_machine(error):
            raise WorkflowError(text)
        raise


def check_config(settings):
    """Check the configuration and fill in the defaults; say once per run all that is wrong."""
    if not workflow.is_main_process:
        return ask(studies.check_config, settings)
    files = list(map(str, workflow.config_settings.configfiles))
    return ask(
        configuration.check_configuration,
        settings,
        files=files,
        prefix=find_prefix(),
        announce=logger.info,
    )


def find_prefix():
    """What stands before `results/` where this workflow is a module of another, if it is."""
    return getattr(workflow.modifier.path_modifier, "prefix", None) or ""


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


# What `snakemake draft --config exports=FILE` is to look at; there is no study then.
DRAFTED = [] if "studies" in config else config.pop("exports", [])
PREFIX = find_prefix()
if not (DRAFTED or "studies" in config):
    # The shipped studies; by `configfile` Snakemake would say that what is given extends them.
    config = {**ask(read_yaml, str(ROOT / "config.yaml")), **config}
config = (
    {"studies": {}, "run": "all"} if DRAFTED else keep_secrets(check_config(config))
)
STUDIES = ask(studies.select_studies, config["studies"], config["run"])
CAPTIONS = ask(write_captions, Path(".snakemake/captions"))


wildcard_constraints:
    study="[A-Za-z0-9][A-Za-z0-9_-]*",
    shard="[0-9]+",
    method="[a-z0-9]+",
    dimension="[0-9]+",
    number="[0-9]+",
    cell="[0-9a-f]{16}",


def open_url(url, redirects):
    """A file on a server, which a storage plugin fetches."""
    # Not above: it would slow the start of the jobs of all studies.
    from remote import open_remote

    return open_remote(storage, url, redirects)


def place_beside(path):
    """A file of the job's study that is not declared, where a module's prefix puts the others."""
    return f"{PREFIX}results/{{study}}/{path}"


def find_manifest(study):
    """The list of a study's shards, once `normalize_runs` has made it."""
    return checkpoints.normalize_runs.get(study=study).output.manifest


def find_study(name):
    """A study as the library sees it."""
    known = config["studies"]
    if name not in known:
        raise WorkflowError(studies.explain_unknown(name, known))
    fetch = partial(open_url, redirects=known[name]["redirects"])
    return studies.Study(name, known[name], fetch, find_manifest, PREFIX)


def of(function, *arguments, **kinds):
    """What a function finds for the job's study; it also takes the wildcards of these kinds."""
    return lambda wildcards: keep_place(
        ask(
            function,
            find_study(wildcards.study),
            *arguments,
            **{name: kind(wildcards[name]) for name, kind in kinds.items()},
        )
    )


def keep_place(found):
    """Files of the user, which are no results, stay where they are in a module with a prefix."""
    if not PREFIX:
        return found
    if isinstance(found, list):
        return [keep_place(path) for path in found]
    is_path = type(found) is str and not found.startswith("results/")
    return local(found) if is_path else found


def of_drawn(function):
    """What a function finds for the figures of the job's study."""
    return of(lambda study: function(study, *analyses.list_drawn(study)))


def of_all(function, *arguments):
    """What a function finds for the studies that run, in one list."""
    return [
        path for name in STUDIES for path in ask(function, find_study(name), *arguments)
    ]


def shards_of_all(folder):
    """The shards of the studies that run, known once `normalize_runs` has made their lists."""
    return lambda wildcards: of_all(studies.list_shards, folder)


def setting(path):
    """A setting of the job's study, such as ``bootstrap/replicates``, with its path.

    Snakemake compares the params of a job as a set of values, whichever is which: settings that
    swap their values would change nothing. Jobs get the value alone.
    """
    read = of(studies.Study.read, path)
    return lambda wildcards: {"setting": path, "value": read(wildcards)}


def unwatched(function, *arguments):
    """What a function finds for the job's study, as a param whose change makes nothing run again.

    Snakemake compares the params of a job, apart from those whose functions take its inputs.
    """
    find = of(function, *arguments)
    return lambda wildcards, input: find(wildcards)


def title_of(wildcards):
    """The study's title, or its name where it has none."""
    return find_study(wildcards.study).title


def number(name):
    """A wildcard of a job that is a number, such as a seed."""
    return lambda wildcards: int(wildcards[name])


def match_studies(*formats):
    """A pattern of the studies whose exports have one of these formats."""
    known = config["studies"].items()
    names = [name for name, settings in known if settings["format"] in formats]
    return "|".join(map(re.escape, names)) or "(?!)"


def digest_library(script):
    """Digest of the library code of a rule's script, worked out once the rule has a job."""
    return lambda wildcards: library.digest_library(Path(script).stem, "job")


def table(name, folder="tables", formats="csv md tex"):
    """A table in its formats; Snakemake's report shows the first."""
    first, *others = [
        f"results/{{study}}/{folder}/{name}.{suffix}" for suffix in formats.split()
    ]
    return [for_report(first, "Tables", f"{folder}/{name}"), *others]


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


def inputs_of_steps(*names):
    """What steps read, by name."""
    return {
        read: of(place) if callable(place) else f"results/{{study}}/{place}"
        for read, place in analyses.place_step_inputs(*names).items()
    }


def outputs_of_steps(*names):
    """The files that steps write."""
    paths = []
    for name in names:
        step, owner = STEPS[name], find_owner(name, "steps")
        for made in step.tables:
            paths += table(made, owner.folder, owner.tables[made].formats)
        paths += [f"results/{{study}}/{path}" for path in step.files.values()]
        if step.describe:
            paths += text(next(key for key in ANALYSES if ANALYSES[key] is owner))
    return paths


def code_of(find_code, *names):
    """Digests of the code of steps or figures, worked out once the rule has a job."""
    return lambda wildcards: {
        name: library.digest_library(*code.modules, declared=code.declared)
        for name, code in zip(names, map(find_code, names))
    }


def digest_figures(study):
    """Digests of the code of the figures of a study."""
    return code_of(analyses.find_figure_code, *analyses.list_drawn(study))(None)


onsuccess:
    # The answer of each study, and where the page is (which `capmap` says itself).
    if any(job.rule.name == "write_index" for job in workflow.dag.jobs):
        for name in STUDIES:
            headline = Path(f"results/{name}/text/headline.txt")
            print(headline.read_text("utf-8").strip())
        if "CAPMAP_CALL" not in os.environ:
            print(f"Open {Path('results/index.html').resolve()}")
