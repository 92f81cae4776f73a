"""Whether this tree makes the same results as a commit: `make same BASE=REV`.

Runs the shipped studies and the real studies of the tests here and at the commit, and compares the
bytes of all that is kept. What a commit made is remembered in `.same/`, by its hash.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path

import pandas as pd
import yaml

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"
PAPERS = {
    "geobench": ("evaluma_tutorial", "geobench,geobench_as_published"),
    "capabilities": ("capabilities_encoding", "capabilities_encoding"),
}
STUDIES = sorted((PROJECT / "tests/workflow/studies").glob("*.yaml"))
KEPT = {".csv", ".md", ".tex", ".txt", ".pdf", ".png", ".svg", ".html", ".json", ".parquet"}
PARTS = ["Snakefile", "config.yaml", "pyproject.toml", "workflow", "scripts", "data", "envs"]


def list_configs(wanted: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Name each configuration, and the arguments of snakemake that run it."""
    shipped = yaml.safe_load((PROJECT / "config.yaml").read_text("utf-8"))["studies"]
    if asked := [name for name in shipped if not wanted or name in wanted]:
        yield "shipped", ["--config", f"run={asked}"]
    for name, (paper, studies) in PAPERS.items():
        if not wanted or name in wanted:
            options = [f"run=[{studies}]", "mirror=../shared/data"]
            yield name, ["--configfile", f"papers/{paper}.yaml", "--config", *options]
    for path in STUDIES:
        if not wanted or path.stem in wanted:
            yield path.stem, ["--configfile", f"studies/{path.name}"]


def lay_out(folder: Path, revision: str) -> Path:
    """Copy what a run needs, of a commit or ("") of this tree as it stands."""
    project = folder / "project"
    project.mkdir()
    if revision:
        named = ["git", "archive", revision, *PARTS, "profiles"]
        archive = subprocess.run(named, cwd=PROJECT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "x"], cwd=project, input=archive, check=True)
    else:
        for part in [*PARTS, "profiles"]:
            subprocess.run(["cp", "-a", PROJECT / part, project], check=True)
    subprocess.run(["cp", "-a", PROJECT / "tests/workflow/studies", project], check=True)
    (folder / "shared").symlink_to(SHARED)
    bounds = pd.read_csv(SHARED / "data/atari100k/baselines.csv")
    bounds.set_axis(["dataset", "low", "high"], axis=1).to_csv(project / "bounds.csv", index=False)
    return project


def digest_results(project: Path) -> dict[str, str]:
    """SHA-256 of every table, figure, text and page, by path."""
    results = project / "results"
    return {
        path.relative_to(results).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(results.rglob("*"))
        if path.suffix in KEPT and not {".kept", ".digests"} & {*path.parts}
    }


def run_studies(revision: str, wanted: list[str]) -> dict[str, str]:
    """Run the studies, and digest what they make."""
    found: dict[str, str] = {}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        project = lay_out(Path(folder), revision)
        for name, arguments in list_configs(wanted):
            command = [sys.executable, "-m", "snakemake", *arguments]
            log = project / f"{name}.log"
            with log.open("w") as stream:
                status = subprocess.run(
                    command, cwd=project, stdout=stream, stderr=stream, env=environment, check=False
                ).returncode
            if status:
                sys.exit(f"{name} at {revision or 'this tree'}:\n{log.read_text('utf-8')[-4000:]}")
            made = digest_results(project)
            found |= {f"{name}: {path}": digest for path, digest in made.items()}
            subprocess.run(["rm", "-rf", "results", ".snakemake"], cwd=project, check=True)
    return found


def recall_base(revision: str, wanted: list[str]) -> dict[str, str]:
    """What a commit makes; run once and remembered."""
    parse = ["git", "rev-parse", "--verify", f"{revision}^{{commit}}"]
    commit = subprocess.run(parse, cwd=PROJECT, check=True, capture_output=True, text=True)
    key = "-".join([commit.stdout.strip(), *sorted(wanted)])
    kept = PROJECT / f".same/{key}.json"
    if not kept.is_file():
        digests = run_studies(commit.stdout.strip(), wanted)
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(digests, indent=0), "utf-8")
    content: dict[str, str] = json.loads(kept.read_text("utf-8"))
    return content


def main() -> int:
    """Compare, and list what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--only", nargs="*", default=[], help="shipped studies or files of studies")
    parser.add_argument("--allow", nargs="*", default=[], help="patterns of paths that may differ")
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        sys.exit(f"The real exports are not at {SHARED}.")
    base, here = recall_base(arguments.base, arguments.only), run_studies("", arguments.only)
    different = [path for path in sorted({*base, *here}) if base.get(path) != here.get(path)]
    bad = 0
    for path in different:
        kind = "missing" if path not in here else "new" if path not in base else "differs"
        allowed = any(fnmatch(path, pattern) for pattern in arguments.allow)
        bad += not allowed
        sys.stdout.write(f"{'allowed' if allowed else 'NOT SAME'}: {kind}: {path}\n")
    same = len({*base, *here}) - len(different)
    sys.stdout.write(f"{same} files are the same, {len(different)} differ, {bad} not allowed.\n")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
