"""Real snakemake runs in a copy of the project."""

import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from capmap.analyses import list_figures
from capmap.pages.report import read_figures
from tests.waiting import run_to_end

PROJECT = Path(__file__).parents[2]
PARTS = ["Snakefile", "config.yaml", "pyproject.toml", "workflow", "scripts", "data", "envs"]
PARTS += ["papers"]
METADATA = ".snakemake/metadata"
JOB = re.compile(r"^(?:local)?rule ([\w-]+):$((?:\n    .+)*)", re.MULTILINE)
WILDCARDS = re.compile(r"^    wildcards: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """A finished `snakemake` process and the jobs that it started."""

    status: int
    output: str
    jobs: Counter[str]

    @property
    def rules(self) -> set[str]:
        """Names of the rules that ran."""
        return {job.split()[0] for job in self.jobs}


@dataclass(frozen=True)
class Checkout:
    """A copy of the project in a folder of its own."""

    folder: Path

    def snakemake(self, *arguments: str, cores: int = 2) -> Run:
        """Run snakemake to its end."""
        process = run_to_end(self.command(*arguments, cores=cores), cwd=self.folder)
        output = process.stdout + process.stderr
        return Run(process.returncode, output, count_jobs(output))

    def command(self, *arguments: str, cores: int = 2) -> list[str]:
        """The command line of a run, as the default profile has it but with plain output."""
        profile = yaml.safe_load((PROJECT / "profiles/default/config.yaml").read_text())
        options = [
            part
            for name, value in profile.items()
            if name not in {"cores", "logger"}
            for part in ([f"--{name}"] if value is True else [f"--{name}", str(value)])
        ]
        snakemake = [sys.executable, "-m", "snakemake", "--cores", str(cores)]
        return [*snakemake, *options, *arguments]

    def write_studies(self, studies: dict[str, Any]) -> None:
        """Write the studies as the copy's own configuration."""
        (self.folder / "config.yaml").write_text(
            yaml.safe_dump({"studies": studies}, sort_keys=False)
        )

    def change_settings(
        self, change: Callable[[dict[str, Any]], object], study: str | None = None
    ) -> None:
        """Change the settings of a study, of the first one unless told."""
        studies = yaml.safe_load((self.folder / "config.yaml").read_text())["studies"]
        change(studies[study or next(iter(studies))])
        self.write_studies(studies)

    def copy(self, folder: Path) -> "Checkout":
        """A copy to disturb; time stamps are those of this one."""
        shutil.copytree(self.folder, folder)
        return Checkout(folder)

    def digests(self) -> dict[str, str]:
        """SHA-256 of every table, figure and page, by path."""
        results = self.folder / "results"
        kept = (".csv", ".md", ".tex", ".pdf", ".png", ".svg", ".html", ".json", ".parquet")
        return {
            str(path.relative_to(results)): sha256(path.read_bytes()).hexdigest()
            for path in sorted(results.rglob("*"))
            if path.suffix in kept
        }

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Rewrite a text file of the copy; the change must be one."""
        file = self.folder / path
        before = file.read_text()
        after = change(before)
        assert after != before
        file.write_text(after)


def count_jobs(output: str) -> Counter[str]:
    """Started jobs, the target ``all`` apart, such as ``bootstrap study=toy, shard=0``."""
    jobs: Counter[str] = Counter()
    for rule, details in JOB.findall(output):
        wildcards = WILDCARDS.search(details)
        if rule != "all":
            jobs[f"{rule} {wildcards[1]}" if wildcards else rule] += 1
    return jobs


def copy_project(folder: Path, *, take: Sequence[str] = ()) -> Checkout:
    """Copy what a run needs; time stamps are kept, so nothing looks newer than it is.

    What ``make`` left of some studies may be taken along: a run then makes what is out of date.
    """
    folder.mkdir(parents=True)
    for part in PARTS:
        source = PROJECT / part
        if source.is_dir():
            shutil.copytree(source, folder / part)
        else:
            shutil.copy2(source, folder / part)
    for name in take if (PROJECT / METADATA).is_dir() else ():
        if (PROJECT / "results" / name).is_dir():
            shutil.copytree(PROJECT / "results" / name, folder / "results" / name)
            shutil.copytree(PROJECT / METADATA, folder / METADATA, dirs_exist_ok=True)
    return Checkout(folder)


def check_figures(folder: Path, settings: dict[str, Any]) -> list[str]:
    """Look for the files of all figures of a study but of those with nothing to show."""
    drawn, nothing = read_figures(folder / "figures")
    assert {*drawn} | nothing == {*list_figures(settings)}
    for name in drawn:
        for suffix in settings.get("figures", {}).get("formats", ["pdf", "svg"]):
            assert (folder / f"figures/{name}.{suffix}").stat().st_size > 300
    return [*drawn]
