"""The command ``capmap``, each verb of which shows and makes a call of Snakemake."""

import argparse
import gc
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import yaml

from capmap.errors import CapmapError, ConfigError, explain_machine
from capmap.settings.files import read_config
from capmap.wording import suggest

PROJECT = Path(__file__).parents[2]
INDEX = Path("results/index.html")
YAML = (".yaml", ".yml")
FIRST = "seeded"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; what follows ``--`` goes to Snakemake.

    It returns 0, or what Snakemake returns, or 1 after a message, or 3 where there is something to
    decide.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, rest = given, list[str]()
    if "--" in given:
        place = given.index("--")
        own, rest = given[:place], given[place + 1 :]
    # As in jobs: Python's 700 objects between two searches for garbage cost a tenth of the time.
    gc.set_threshold(50_000)
    parser = _make_parser()
    options = parser.parse_args(own)
    if options.call is None:
        parser.print_help()
        return 0
    try:
        return int(options.call(options, rest))
    except CapmapError as error:
        print(f"capmap: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if not (text := explain_machine(error)):
            raise
        print(f"capmap: {text}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "capmap",
        description="From raw benchmark exports to defensible model rankings and capability maps.",
        epilog="What follows -- goes to Snakemake: capmap run my.yaml -- --profile slurm",
    )
    parser.add_argument("--version", action="version", version=f"capmap {_read_version()}")
    parser.set_defaults(call=None)
    verbs = parser.add_subparsers(metavar="VERB")

    def add(name: str, text: str, call: Any, epilog: str = "") -> argparse.ArgumentParser:
        verb = verbs.add_parser(
            name,
            help=text,
            description=text,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.set_defaults(call=call)
        return verb

    run = add("run", "run the studies of a YAML file, or of exports, which are drafted first", _run)
    run.add_argument("files", nargs="+", metavar="FILE")
    draft = add("draft", "write the settings for exports, with what has to be decided", _draft)
    draft.add_argument("files", nargs="+", metavar="FILE")
    check = add("check", "read the exports of a YAML file and say all that is wrong", _check)
    check.add_argument("file", nargs="?", metavar="FILE.yaml")
    pack = add("pack", "zip the results of a study and its settings", _pack)
    pack.add_argument("study", metavar="STUDY")
    pack.add_argument("file", nargs="?", metavar="FILE.yaml")
    listed = "\n".join(f"  {name:24}{title}" for name, title in _list_examples().items())
    about = "copy a shipped example into this folder and run it"
    example = add("example", about, _example, f"examples:\n{listed}")
    example.add_argument("name", nargs="?", default=FIRST, metavar="NAME")
    return parser


def _run(options: argparse.Namespace, rest: list[str]) -> int:
    files: list[str] = options.files
    if len(files) == 1 and files[0].endswith(YAML):
        return _run_config(files[0], rest)
    from capmap.drafting import name_study

    path = Path(f"{name_study(files)}.yaml")
    if not path.exists():
        if code := _draft(options, []):
            return code
        text = path.read_text("utf-8")
        if "# DECIDE" in text:
            said = "Running it as it is accepts what it proposes."
            print("Settle its errors first." if "# DECIDE: error:" in text else said)
            return 3
    else:
        print(f"{path} is there and is used.")
    return _run_config(str(path), rest)


def _draft(options: argparse.Namespace, _rest: list[str]) -> int:
    # Not above: reading files loads what the other verbs do not need.
    from capmap.drafting import draft_study, name_study, write_draft

    files: list[str] = options.files
    if addresses := [name for name in files if "://" in name]:
        kind, _, place = addresses[0].partition("://")
        place = place.rpartition("@")[2]
        raise ConfigError(f"{kind}://{place}: a draft looks at files here. Load it first.")
    name = name_study(files)
    path = Path(f"{name}.yaml")
    if path.exists():
        raise ConfigError(f"{path} is there already. Remove or rename it, or edit it by hand.")
    study = draft_study(files)
    path.write_text(write_draft(study, name), "utf-8")
    decisions = study.list_notes("decide")
    if not study.runs:
        raise ConfigError(
            f"No run can be read as {path} says, which is only a start: {decisions[-1]} "
            f"Correct {path}, then: capmap check {path}"
        )
    for guess in study.list_notes("guess"):
        print(f"A guess: {guess}")
    for number, decision in enumerate(decisions, 1):
        print(f"Decide {number}: {decision}")
    print(f"Wrote {path}. Look through it, then run: capmap run {path}")
    return 0


def _check(options: argparse.Namespace, rest: list[str]) -> int:
    path = options.file or _find_config()
    studies = read_config(path)["studies"]
    targets = {name: Path(f"results/{name}/validation.json") for name in studies}
    before = {name: _find_time(target) for name, target in targets.items()}
    code = _call([*map(str, targets.values()), *rest, "--configfile", path])
    if code == 0:
        for name, target in targets.items():
            # What is read again has said it itself.
            if target.is_file() and _find_time(target) == before[name]:
                _repeat_warnings(name, target)
        print(f"The exports of {path} can be used.")
    return code


def _find_time(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


def _repeat_warnings(study: str, path: Path) -> None:
    """Print the warnings of a check whose exports have not changed since."""
    from capmap.problems import Problem
    from capmap.validation.findings import group_problems

    problems = [Problem(**found) for found in json.loads(path.read_text("utf-8"))["warnings"]]
    for text, _ in group_problems(problems):
        print(f"{study}: {text}", file=sys.stderr)


def _pack(options: argparse.Namespace, _rest: list[str]) -> int:
    name, path = options.study, options.file or _find_config()
    studies, folder = read_config(path)["studies"], Path("results", options.study)
    if name not in studies or not folder.is_dir():
        raise ConfigError(f"There is no study {name!r} in {path} with results in {folder}.")
    settings = {"studies": {name: studies[name]}}
    archive = Path(f"{name}.zip")
    with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
        packed.writestr("settings.yaml", yaml.safe_dump(settings, sort_keys=False))
        for file in sorted(folder.rglob("*")):
            packed.write(file)
    print(f"Packed {folder} and its settings into {archive}.")
    return 0


def _example(options: argparse.Namespace, rest: list[str]) -> int:
    name, known = options.name, _list_examples()
    if name not in known:
        hint = suggest(name, known, f"There are {', '.join(known)}.")
        raise ConfigError(f"There is no example {name!r}. {hint}")
    path = Path(f"{name}.yaml")
    if not path.exists():
        paper = PROJECT / f"papers/{name}.yaml"
        if paper.is_file():
            text = paper.read_text("utf-8")
        else:
            shipped = read_config(str(PROJECT / "config.yaml"))["studies"]
            others = shipped[name].get("conditions", [])
            settings = {"studies": {other: shipped[other] for other in [name, *others]}}
            text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
        _copy_files(text)
        path.write_text(text, "utf-8")
        print(f"Copied the example to {path}, with the files that it reads.")
    return _run_config(str(path), rest)


def _list_examples() -> dict[str, str]:
    """Names of the shipped studies and papers, each with a line on it."""
    shipped = read_config(str(PROJECT / "config.yaml"))["studies"]
    titles = {name: study["title"] for name, study in shipped.items()}
    for paper in sorted((PROJECT / "papers").glob("*.yaml")):
        titles[paper.stem] = paper.read_text("utf-8").partition("\n")[0].removeprefix("# ")
    return titles


def _copy_files(text: str) -> None:
    """Copy the shipped files and folders that settings name into this folder."""
    for name in {*re.findall(r"(?:data|papers)/[\w.-]+", text)}:
        if (shipped := PROJECT / name).is_dir():
            shutil.copytree(shipped, name, dirs_exist_ok=True)
        elif shipped.is_file():
            Path(name).parent.mkdir(exist_ok=True)
            shutil.copyfile(shipped, name)


def _read_version() -> str:
    return str(tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def _run_config(path: str, rest: list[str]) -> int:
    read_config(path)
    code = _call([*rest, "--configfile", path])
    if code == 0 and INDEX.is_file() and not {"-n", "--dry-run"} & {*rest}:
        print(f"Open {INDEX.resolve()}")
    return code


def _find_config() -> str:
    found = sorted(str(path) for suffix in YAML for path in Path().glob(f"*{suffix}"))
    if len(found) != 1:
        listed = f"there are {', '.join(found)}" if found else "there is none here"
        raise ConfigError(f"Name the YAML file: {listed}.")
    return found[0]


def _call(arguments: Sequence[str]) -> int:
    """Show a command of Snakemake and run it."""
    command = ["--snakefile", str(PROJECT / "Snakefile"), *arguments]
    print(f"$ {shlex.join(['snakemake', *command])}", flush=True)
    os.environ["CAPMAP_CALL"] = "1"
    # Not above: it takes a second. In this process, as another would load all of this once more.
    from snakemake.cli import main as run_snakemake  # type: ignore[import-untyped]

    try:
        run_snakemake(command)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
