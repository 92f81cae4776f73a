"""Whether this tree makes the same numbers as a commit: `make same`.

Runs the shipped studies and the real studies of the tests here and at the commit that `same.yaml`
names, each with the packages that its own lock pins, and compares all tables. That file also says
which tables and columns have moved or gone since, and why a number differs; whatever else differs
is listed, and fails. What the commit made is kept in `.same/`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

PROJECT = Path(__file__).parents[1]
SHARED = PROJECT.parent / "shared"
PAPERS = {
    "geobench": ("evaluma_tutorial", "geobench,geobench_as_published"),
    "capabilities": ("capabilities_encoding", "capabilities_encoding"),
}
STUDIES = sorted((PROJECT / "tests/workflow/studies").glob("*.yaml"))
PARTS = ["Snakefile", "config.yaml", "pyproject.toml", "requirements.lock", "workflow", "scripts"]
PARTS += ["data", "envs", "papers", "profiles", "tests/workflow/studies"]
TOLERANCE = 1e-9


def list_runs() -> Iterator[tuple[str, list[str]]]:
    """Name each configuration, and the arguments of snakemake that run it."""
    yield "shipped", ["--config", "run=all"]
    for name, (paper, studies) in PAPERS.items():
        yield name, ["--configfile", f"papers/{paper}.yaml", "--config", f"run=[{studies}]"]
    for path in STUDIES:
        yield path.stem, ["--configfile", f"tests/workflow/studies/{path.name}"]


def lay_out(folder: Path, revision: str) -> Path:
    """Copy what a run needs, of a commit or ("") of this tree as it stands."""
    project = folder / "project"
    project.mkdir()
    if revision:
        named = ["git", "archive", revision, *PARTS]
        archive = subprocess.run(named, cwd=PROJECT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "x"], cwd=project, input=archive, check=True)
    else:
        subprocess.run(["cp", "-a", "--parents", *PARTS, project], cwd=PROJECT, check=True)
    (folder / "shared").symlink_to(SHARED)
    (project / "downloads").symlink_to(SHARED / "data")
    bounds = pd.read_csv(SHARED / "data/atari100k/baselines.csv")
    bounds.set_axis(["dataset", "low", "high"], axis=1).to_csv(project / "bounds.csv", index=False)
    return project


def run_studies(python: str, revision: str, kept: Path, wanted: list[str]) -> None:
    """Run the studies, and keep the tables that they make, by configuration."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        project = lay_out(Path(folder), revision)
        for name, arguments in list_runs():
            if (kept / name).is_dir() or (wanted and name not in wanted):
                continue
            command = [python, "-m", "snakemake", *arguments]
            log = project / f"{name}.log"
            with log.open("w") as stream:
                status = subprocess.run(
                    command, cwd=project, stdout=stream, stderr=stream, env=environment, check=False
                ).returncode
            if status:
                sys.exit(f"{name} at {revision or 'this tree'}:\n{log.read_text('utf-8')[-4000:]}")
            results = project / "results"
            for path in results.rglob("*.csv"):
                place = kept / name / path.relative_to(results)
                place.parent.mkdir(parents=True, exist_ok=True)
                path.rename(place)
            subprocess.run(["rm", "-rf", results, project / ".snakemake"], check=True)


def make_environment(revision: str) -> str:
    """An environment with what the lock of a commit pins."""
    folder = PROJECT / f".same/environment-{revision}"
    if not (folder / "done").is_file():
        venv.create(folder, with_pip=True)
        lock = subprocess.run(
            ["git", "show", f"{revision}:requirements.lock"],
            cwd=PROJECT,
            check=True,
            capture_output=True,
        ).stdout
        (folder / "requirements.lock").write_bytes(lock)
        pip = [
            folder / "bin/python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "-r",
            folder / "requirements.lock",
        ]
        subprocess.run(pip, check=True)
        (folder / "done").touch()
    return str(folder / "bin/python")


def find_pattern(known: dict[str, str], name: str) -> str:
    """What stands at the first pattern that a name matches."""
    return next((text for pattern, text in known.items() if fnmatch(name, pattern)), "")


def compare_tables(base: Path, here: Path, moved: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Name each table, its rows or its columns that differ, and say how."""
    for path in sorted(base.rglob("*.csv")):
        name = path.relative_to(base).with_suffix("").as_posix()
        new_name = find_pattern(moved, name)
        other = here / name if not new_name else here / name.split("/")[0] / new_name
        if not other.with_suffix(".csv").is_file():
            yield name, "is gone"
            continue
        old, new = read_rows(path), read_rows(other.with_suffix(".csv"))
        for column in old.columns.difference(new.columns, sort=False):
            yield f"{name}:{column}", "is gone"
        shared = old.columns.intersection(new.columns, sort=False)
        keys = [name for name in shared if {old[name].dtype.kind, new[name].dtype.kind} - {*"iuf"}]
        old, new = old.astype(dict.fromkeys(keys, "str")), new.astype(dict.fromkeys(keys, "str"))
        old, new = index_rows(old[shared], keys), index_rows(new[shared], keys)
        both = old.index.intersection(new.index)
        if len(both) < len(old) or len(both) < len(new):
            yield f"{name}:rows", f"{len(both)} are in both, of {len(old)} then and {len(new)} now"
        for column in shared.difference(keys, sort=False):
            one, two = old.loc[both, column].to_numpy(float), new.loc[both, column].to_numpy(float)
            same = np.isclose(one, two, rtol=TOLERANCE, atol=1e-12, equal_nan=True)
            if not same.all():
                yield f"{name}:{column}", f"{(~same).sum()} of {len(same)} differ"


def read_rows(path: Path) -> pd.DataFrame:
    """Read a table, with truth values as numbers and without the missing ones among texts."""
    try:
        table = pd.read_csv(path, low_memory=False)
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    for name in table:
        if table[name].dtype == bool:
            table[name] = table[name].astype(float)
        elif table[name].dtype.kind not in "iuf":
            table[name] = table[name].astype("str").fillna("")
    return table


def index_rows(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Name each row by its texts, and by its number among the rows of the same texts."""
    known = table[keys].fillna("").itertuples(index=False)
    texts = pd.Series(["|".join(row) for row in known], dtype="str")
    numbers = texts.groupby(texts).cumcount().astype("str")
    return table.drop(columns=keys).set_index(pd.Index(texts + "#" + numbers))


def main() -> int:
    """Compare, and list what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="configurations, such as shipped")
    wanted = parser.parse_args().only
    if not SHARED.is_dir():
        sys.exit(f"The real exports are not at {SHARED}.")
    known = yaml.safe_load((PROJECT / "tests/same.yaml").read_text("utf-8"))
    base = PROJECT / f".same/{known['base']}"
    if not all((base / name).is_dir() for name, _ in list_runs() if not wanted or name in wanted):
        run_studies(make_environment(known["base"]), known["base"], base, wanted)
    bad = listed = 0
    with tempfile.TemporaryDirectory() as folder:
        run_studies(sys.executable, "", Path(folder), wanted)
        for name in [path.name for path in Path(folder).iterdir()]:
            for what, how in compare_tables(base / name, Path(folder) / name, known["moved"]):
                reason = find_pattern(known["reasons"], f"{name}/{what}")
                bad, listed = bad + (not reason), listed + 1
                print(f"{'expected' if reason else 'NOT SAME'}: {name}/{what} {how}. {reason}")
    print(f"{listed} differences, {bad} without a reason.")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
