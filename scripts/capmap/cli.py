"""The command ``capmap``, each verb of which shows and makes a call of Snakemake."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from capmap.addresses import ADDRESS, hide_in_text
from capmap.drafting import CALL, name_study
from capmap.errors import CapmapError, ConfigError, explain_machine
from capmap.settings.files import read_config
from capmap.wording import find_nearest

PROJECT = Path(__file__).parents[2]
INDEX = Path("results/index.html")
YAML = (".yaml", ".yml")
FIRST = "seeded"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; what follows ``--`` goes to Snakemake.

    Returns
    -------
    int
        0, or what Snakemake returns, or 1 after a message, or 3 where there is something to decide.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, rest = given, list[str]()
    if "--" in given:
        place = given.index("--")
        own, rest = given[:place], given[place + 1 :]
    options = _make_parser().parse_args(own)
    try:
        return int(options.call(options, rest))
    except CapmapError as error:
        print(f"capmap: {hide_in_text(str(error))}", file=sys.stderr)
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
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def add(name: str, text: str, call: Any) -> argparse.ArgumentParser:
        verb = verbs.add_parser(name, help=text, description=text)
        verb.set_defaults(call=call)
        return verb

    run = add("run", "run the studies of a YAML file, or of exports, which are drafted first", _run)
    run.add_argument("files", nargs="+", metavar="FILE")
    draft = add("draft", "write the settings for exports, with what has to be decided", _draft)
    draft.add_argument("files", nargs="+", metavar="FILE")
    check = add("check", "read the exports of a YAML file and say all that is wrong", _check)
    check.add_argument("file", nargs="?", metavar="FILE.yaml")
    add("open", "open results/index.html in a browser", _open)
    example = add("example", "copy a shipped example into this folder and run it", _example)
    example.add_argument("name", nargs="?", default=FIRST)
    return parser


def _run(options: argparse.Namespace, rest: list[str]) -> int:
    files: list[str] = options.files
    if len(files) == 1 and files[0].endswith(YAML):
        return _run_config(files[0], rest)
    path = Path(f"{name_study(files)}.yaml")
    if not path.exists():
        if code := _draft(options, []):
            return code
        if "# DECIDE" in path.read_text("utf-8"):
            print("Running it as it is accepts what it proposes.")
            return 3
    else:
        print(f"{path} is there and is used.")
    return _run_config(str(path), rest)


def _draft(options: argparse.Namespace, rest: list[str]) -> int:
    # Snakemake logs its command line, with whatever is secret in an address.
    if addresses := [name for name in options.files if ADDRESS.match(name)]:
        raise ConfigError(f"{addresses[0]}: a draft looks at files here. Load it first.")
    exports = ",".join(
        yaml.safe_dump(name, width=1 << 20).splitlines()[0] for name in options.files
    )
    return _call(["draft", *rest, "--config", f"exports=[{exports}]"])


def _check(options: argparse.Namespace, rest: list[str]) -> int:
    path = options.file or _find_config()
    studies = read_config(path)["studies"]
    targets = [f"results/{name}/validation.json" for name in studies]
    code = _call([*targets, *rest, "--configfile", path])
    if code == 0:
        print(f"The exports of {path} can be used.")
    return code


def _open(_options: argparse.Namespace, _rest: list[str]) -> int:
    if not INDEX.is_file():
        raise ConfigError(f"There is no {INDEX} in {Path.cwd()}. Make it: capmap run FILE")
    print(INDEX.resolve().as_uri())
    webbrowser.open(INDEX.resolve().as_uri())
    return 0


def _example(options: argparse.Namespace, rest: list[str]) -> int:
    shipped = read_config(str(PROJECT / "config.yaml"))["studies"]
    papers = {file.stem: file for file in sorted((PROJECT / "papers").glob("*.yaml"))}
    name, known = options.name, [*shipped, *papers]
    if name not in known:
        near = find_nearest(name, known)
        hint = f"Did you mean {near}? " if near else ""
        raise ConfigError(f"There is no example {name!r}. {hint}There are {', '.join(known)}.")
    path = Path(f"{name}.yaml")
    if not path.exists():
        shutil.copytree(PROJECT / "data", "data", dirs_exist_ok=True)
        if name in papers:
            shutil.copytree(PROJECT / "papers" / name, f"papers/{name}", dirs_exist_ok=True)
            text = papers[name].read_text("utf-8")
        else:
            others = shipped[name].get("conditions", [])
            chosen = {other: shipped[other] for other in [name, *others]}
            text = yaml.safe_dump({"studies": chosen}, sort_keys=False, allow_unicode=True)
        path.write_text(text, "utf-8")
        print(f"Copied the example to {path}, and its files to data/.")
    return _run_config(str(path), rest)


def _run_config(path: str, rest: list[str]) -> int:
    read_config(path)
    return _call([*rest, "--configfile", path])


def _find_config() -> str:
    found = sorted(str(path) for suffix in YAML for path in Path().glob(f"*{suffix}"))
    if len(found) != 1:
        listed = f"there are {', '.join(found)}" if found else "there is none here"
        raise ConfigError(f"Name the YAML file: {listed}.")
    return found[0]


def _call(arguments: Sequence[str]) -> int:
    """Show a command of Snakemake and run it."""
    command = ["--snakefile", str(PROJECT / "Snakefile"), *arguments]
    print(f"$ {hide_in_text(shlex.join(['snakemake', *command]))}", flush=True)
    environment = {**os.environ, CALL: "capmap run"}
    full = [sys.executable, "-m", "snakemake", *command]
    return subprocess.run(full, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
