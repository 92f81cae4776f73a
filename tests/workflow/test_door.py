"""capmap from elsewhere: installed from its wheel, from another folder, and as a module."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.waiting import run_to_end
from tests.workflow.checkouts import PROJECT, Checkout, copy_project

LONG = "model,dataset,metric,seed,score\n" + "".join(
    f"{model},{dataset},accuracy,{seed},0.{model_score + 3 * place**2 + seed}\n"
    for model, model_score in (("ant", 31), ("bee", 45), ("cat", 62))
    for place, dataset in enumerate(["x", "y", "z"])
    for seed in (1, 2)
)
SECOND_SEED = "".join(
    f"{model},{dataset},accuracy,7,0.5\n"
    for model in ("ant", "bee", "cat")
    for dataset in ("x", "y", "z")
)
VERSION = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
TARGET = "results/mine/tables/ranking.csv"
SETTINGS = "studies: {mine: {exports: mine.csv}}\n"
# What is in neither archive: tests, results, and what belongs to the checkout alone.
OUTSIDE = {"tests", "results", "docs", ".ci", ".snakemake", ".venv", ".github"}
MOST_BYTES = 2_000_000


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    built = run_to_end(command, cwd=PROJECT)
    assert built.returncode == 0, built.stderr
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def capmap(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in an environment of its own, which borrows no more than the dependencies."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, with_pip=True)
    (wheel,) = (path for path in archives if path.suffix == ".whl")
    pip = [folder / "bin/pip", "install", "--quiet", "--no-deps", "--no-index", wheel]
    installed = run_to_end([str(part) for part in pip])
    assert installed.returncode == 0, installed.stderr
    site = next(folder.glob("lib/python3*/site-packages"))
    (site / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"])
    return folder / "bin/capmap"


def call(command: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command as a user does, in a folder of theirs, without the checkout at hand."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return run_to_end([str(command), *arguments], cwd=folder, env=kept)


def read_names(archive: Path) -> list[str]:
    if archive.suffix == ".whl":
        return ZipFile(archive).namelist()
    with tarfile.open(archive) as members:
        return members.getnames()


def test_archives_hold_the_workflow_and_nothing_else(archives: list[Path]) -> None:
    assert [path.suffix for path in archives] == [".whl", ".gz"]
    for archive in archives:
        names = read_names(archive)
        assert archive.stat().st_size < MOST_BYTES
        assert any(name.endswith("workflow/rules/common.smk") for name in names)
        assert any(name.endswith("scripts/capmap/drafting/words.yaml") for name in names)
        # A board for GitHub brings its own folder of that name.
        own = [name for name in names if "data/board/" not in name]
        parts = {part for name in own for part in Path(name).parts}
        assert not OUTSIDE & parts
        assert not any(name.endswith((".pyc", ".parquet")) for name in names)


def test_the_readme_holds_word_by_word_and_again_when_a_seed_arrives(
    capmap: Path, tmp_path: Path
) -> None:
    readme = (PROJECT / "README.md").read_text("utf-8")
    (command,) = re.findall(r"^capmap (run \S+)", readme, re.MULTILINE)
    results = tmp_path / command.removeprefix("run ")
    results.write_text(LONG)
    before = {path: path.stat().st_mtime_ns for path in capmap.parents[1].rglob("*.smk")}
    page = tmp_path / "results/index.html"
    paper = tmp_path / "results/results/paper"
    for text in (LONG, LONG, LONG + SECOND_SEED):
        results.write_text(text)
        if paper.is_dir():
            (paper / "mine.tex").write_text("My own words.")
            (paper / "methods.tex").write_text("My own methods.")
        run = call(capmap, tmp_path, *command.split())
        assert run.returncode == 0, run.stdout + run.stderr
        assert run.stdout.splitlines()[-1] == f"Open {page}"
    assert page.is_file()
    assert (paper / "mine.tex").read_text() == "My own words."
    assert (paper / "methods.tex").read_text().startswith("% Written by each run of capmap")
    summary = json.loads((tmp_path / "results/results/validation.json").read_text())
    assert summary["counts"]["runs"] == (LONG + SECOND_SEED).count("accuracy")
    listed = {path.name for path in tmp_path.iterdir()}
    assert listed == {"results.csv", "results.yaml", "results", ".snakemake"}
    packed = call(capmap, tmp_path, "pack", "results")
    assert packed.returncode == 0, packed.stderr
    names = ZipFile(tmp_path / "results.zip").namelist()
    assert {"settings.yaml", "results/results/report.html"} <= {*names}
    assert before == {path: path.stat().st_mtime_ns for path in capmap.parents[1].rglob("*.smk")}


def test_what_has_to_be_decided_stops_the_first_run_only(capmap: Path, tmp_path: Path) -> None:
    lines = LONG.replace("accuracy", "zorch").replace(",0.", ",").splitlines(keepends=True)
    (tmp_path / "mine.csv").write_text("".join(line for line in lines if ",2," not in line))
    first = call(capmap, tmp_path, "run", "mine.csv")
    assert first.returncode == 3, first.stderr
    assert "Is a higher zorch better?" in first.stdout
    assert "capmap run mine.yaml" in first.stdout
    for _ in range(2):
        checked = call(capmap, tmp_path, "check")
        assert checked.returncode == 0, checked.stderr
        assert checked.stdout.splitlines()[-1] == "The exports of mine.yaml can be used."
        assert "Every model has one run per dataset" in checked.stderr
    second = call(capmap, tmp_path, "run", "mine.yaml", "--", TARGET)
    assert second.returncode == 0, second.stderr
    assert "mine, rank: 3 models" in second.stderr
    assert (tmp_path / TARGET).is_file()


def test_examples_and_mistakes(capmap: Path, tmp_path: Path) -> None:
    for model, found in (("ant", "{}"), ("bee", "{}")):
        (tmp_path / f"nothing/{model}").mkdir(parents=True)
        (tmp_path / f"nothing/{model}/x.json").write_text(f'{{"metrics": {found}}}')
    for arguments, text in [
        ([], "usage: capmap"),
        (["--version"], f"capmap {VERSION}"),
        (["example", "-h"], "  toy                     Toy benchmark, 3 models on 3 datasets"),
    ]:
        told = call(capmap, tmp_path, *arguments)
        assert told.returncode == 0, told.stderr
        assert text in told.stdout
    run = call(capmap, tmp_path, "example", "toy", "--", "results/toy/tables/ranking.csv")
    assert run.returncode == 0, run.stderr
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["tutorial"]
    assert (tmp_path / "results/toy/tables/ranking.csv").is_file()
    # A paper, of whose studies this one needs no network.
    paper = call(capmap, tmp_path, "example", "evaluma_tutorial", "--", "-n", "--config", "run=toy")
    assert paper.returncode == 0, paper.stderr
    assert (tmp_path / "papers/evaluma_tutorial/toy_mean.csv").is_file()
    for arguments, message in [
        (["example", "tou"], "Did you mean 'toy'?"),
        (["run", "nothing.csv"], "nothing.csv"),
        (["run", "nothing.yaml"], "nothing.yaml: it cannot be read"),
        (["draft", "nothing"], "no column holds scores"),
        (["draft", "s3://me:pw@store/a.csv"], "s3://store/a.csv: a draft looks at files here"),
    ]:
        refused = call(capmap, tmp_path, *arguments)
        assert refused.returncode == 1
        assert message in refused.stderr
        assert "Traceback" not in refused.stdout + refused.stderr


def list_module(source: str, prefix: str = "") -> str:
    option = f'    prefix: "{prefix}"\n' if prefix else ""
    options = f"    snakefile: {source}\n    config: config\n{option}"
    return f"module capmap:\n{options}use rule * from capmap\n"


def test_the_workflow_is_a_module_of_another(tmp_path: Path) -> None:
    prefix = "deep/"
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "mine.csv").write_text(LONG)
    (folder / "my.yaml").write_text(SETTINGS)
    source = f'"{PROJECT / "Snakefile"}"'
    (folder / "Snakefile").write_text(list_module(source, prefix))
    run = Checkout(folder).snakemake(prefix + TARGET, "--configfile", "my.yaml")
    assert run.status == 0, run.output
    assert (folder / prefix / TARGET).is_file()
    made = {path.name for path in folder.iterdir()} - {".snakemake"}
    assert made == {"mine.csv", "my.yaml", "Snakefile", Path(prefix + TARGET).parts[0]}


def test_a_project_deployed_from_a_repository_runs_with_the_wheel(
    capmap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As snakedeploy lays it out; git is told where the address is.
    repository = tmp_path / "hosted/owner/capmap"
    copy_project(repository)
    shutil.copytree(PROJECT / "config", repository / "config")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(repository)]
    for step in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "All"], ["tag", "v1"]):
        subprocess.run([*git, *step], check=True)
    for number, (name, value) in enumerate(
        {
            f"url.{(tmp_path / 'hosted').as_uri()}/.insteadOf": "https://github.com/",
            "safe.directory": "*",
        }.items()
    ):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", name)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
        monkeypatch.setenv("GIT_CONFIG_COUNT", str(number + 1))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "deployed"
    (folder / "workflow").mkdir(parents=True)
    shutil.copytree(repository / "config", folder / "config")
    source = 'github("owner/capmap", path="workflow/Snakefile", tag="v1")'
    text = f'configfile: "config/config.yaml"\n{list_module(source)}'
    (folder / "workflow/Snakefile").write_text(text)
    python = capmap.with_name("python")
    run = call(python, folder, "-m", "snakemake", "--cores", "1", TARGET)
    assert run.returncode == 0, run.stderr
    assert (folder / TARGET).is_file()
    refused = Checkout(folder).snakemake(TARGET)
    assert refused.status != 0
    assert "Install capmap of the same version" in refused.output
