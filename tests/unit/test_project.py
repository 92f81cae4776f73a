"""The project keeps its own rules: pinned dependencies, one version, layers that point down."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from capmap.analyses import FIGURES, INDEX, STEPS, name_module

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
LIBRARY = sorted((ROOT / "scripts/capmap").rglob("*.py"))
RULES = sorted((ROOT / "workflow/rules").glob("*.smk"))
ENVIRONMENTS = sorted((ROOT / "envs").glob("*.yaml"))
# Packages whose import has another name, or that come with another package.
DISTRIBUTIONS = {
    "fontTools": "fonttools",
    "PIL": "pillow",
    "markupsafe": "jinja2",
    "python_calamine": "python-calamine",
    "umap": "umap-learn",
    "yaml": "pyyaml",
}
# What the scripts load that run what analyses declare.
LOADED = {
    "analyse.py": [name_module(owner) for owner in STEPS.values()],
    "plot.py": [INDEX[owner]["drawn"][name] for name, owner in FIGURES.items()],
}
LOCKS = ["requirements.lock", "requirements-dev.lock"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# Rooms of the library from the ground up. A room stands on lower floors and on itself only.
GROUND = [
    {"errors", "wording", "analyses"},
    {"settings"},
    {"problems", "rng", "metrics"},
    {"artifacts", "ranking table"},
    {"folders"},
    {"benchmarks", "claims", "patterns"},
]
# What the rules ask while Snakemake reads them. Only drafts, which are tried as rules would, stand
# on it.
INPUTS = {"inputs"}
BELOW_INPUTS = {"capmap.figures.style"}
TABLES = [{"tables"}]
STATISTICS = [
    {"exports", "normalization"},
    {"validation", "attributes", "ranking"},
    {"capabilities", "leaderboard", "multilabel"},
    {"methods"},
]
# Pages show finished tables, so no statistic is computed in them.
DRAFTING = {"drafting"}
# What a person types or imports; nothing else stands on it.
DOOR = {"cli", "public", "notebook"}
PAGES = [{"figures", "latex"}, {"rendering"}, {"pages", "paper"}]
# Files of a room on other floors: analyses compute, and what declares them does not.
APART = {
    **{("analyses", name): "analyses" for name in ("__init__", "columns")},
    # The bootstrap of dimensions and groups of datasets is a part of that of the ranking.
    ("analyses", "groups"): "ranking",
    ("analyses", "rendering"): "rendering",
    ("ranking", "__init__"): "ranking table",
}
GENERATORS = {"Generator", "BitGenerator", "SeedSequence", "SFC64"}


@cache
def read_tree(path):
    return ast.parse(path.read_text("utf-8"))


def list_imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def list_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id


def list_requirements(lock):
    """List the requirements of a lock file, each with the number of its hashes."""
    text = (ROOT / lock).read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            requirement, *hashes = re.split(r"\s--hash=sha256:", line)
            yield Requirement(requirement.strip()), len(hashes)


def pinned_versions(lock, python):
    return {
        requirement.name: str(requirement.specifier)
        for requirement, _ in list_requirements(lock)
        if requirement.marker is None
        or requirement.marker.evaluate(
            {
                "python_full_version": f"{python}.0",
                "python_version": python,
                "sys_platform": "linux",
                "platform_machine": "x86_64",
            }
        )
    }


def list_rules():
    """List the environment of each rule that runs a script, with the script."""
    text = "\n".join(path.read_text("utf-8") for path in RULES)
    return sorted(
        set(re.findall(r"(envs/\w+\.yaml)(?:(?!envs/).)*?(scripts/\w+\.py)", text, re.DOTALL))
    )


def find_files(module):
    """The files that an import of a module of the library, or of a name in one, reads."""
    parts = module.split(".")
    stems = [ROOT.joinpath("scripts", *parts[:depth]) for depth in range(2, len(parts) + 1)]
    files = [file for stem in stems for file in (stem / "__init__.py", stem.with_suffix(".py"))]
    return {file for file in files if file.is_file()}


def list_packages(files):
    """List the foreign packages that files import, directly or through the library."""
    todo, seen, packages = [*files, ROOT / "scripts/job.py"], set(), set()
    while todo:
        path = todo.pop()
        seen.add(path)
        for name in list_imports(read_tree(path)):
            head = name.partition(".")[0]
            if head == "capmap":
                todo += find_files(name) - seen
            elif head != "job" and head not in sys.stdlib_module_names:
                packages.add(head)
    return packages


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_requirement_is_exact_and_has_hashes(lock):
    requirements = list(list_requirements(lock))
    assert len(requirements) > 50
    for requirement, hashes in requirements:
        assert str(requirement.specifier).startswith("=="), requirement
        assert hashes > 0, requirement
        assert requirement.url is None
    text = (ROOT / lock).read_text("utf-8").replace("--no-emit-index-url", "")
    assert not re.search("://|--index|--find-links", text)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_larger_lock_holds_the_same_versions_as_the_smaller(python):
    runtime, development = (pinned_versions(lock, python) for lock in LOCKS)
    assert runtime.items() <= development.items()


def test_every_dependency_is_locked_at_a_version_it_allows():
    locked = pinned_versions("requirements.lock", "3.12")
    for dependency in map(Requirement, PROJECT["dependencies"]):
        version = locked[dependency.name].removeprefix("==")
        assert Version(version) in dependency.specifier, dependency


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.stem)
def test_environments_have_the_locked_versions(path):
    locked = pinned_versions("requirements-dev.lock", "3.12")
    content = yaml.safe_load(path.read_text("utf-8"))
    python, *packages = content["dependencies"]
    assert content["channels"] == ["conda-forge"]
    assert python == "python=3.12"
    assert packages == sorted(packages)
    for package in packages:
        name, pin, version = package.partition("==")
        # conda-forge calls these two without their optional parts matplotlib-base, seaborn-base.
        assert pin + version == locked[name.removesuffix("-base")], package


def test_the_image_holds_what_the_wheel_holds():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    held = set(wheel["targets"]["wheel"]["force-include"])
    copies = re.findall(
        r"^COPY (.+) \S+$", (ROOT / "packaging/Dockerfile").read_text("utf-8"), re.M
    )
    assert {name for copy in copies for name in copy.split()} == held | {
        "Makefile",
        "requirements.lock",
    }


@pytest.mark.parametrize(("environment", "script"), list_rules())
def test_environment_of_a_rule_holds_what_its_code_imports(environment, script):
    packages = yaml.safe_load((ROOT / environment).read_text("utf-8"))["dependencies"]
    offered = {re.split("==|-base", package)[0] for package in packages}
    loaded = LOADED.get(Path(script).name, ())
    needed = list_packages([ROOT / script, *(file for name in loaded for file in find_files(name))])
    assert {DISTRIBUTIONS.get(name, name) for name in needed} <= offered


def test_every_script_has_an_environment_and_a_rule_is_called_after_its_script():
    assert {Path(script) for _, script in list_rules()} == {
        path.relative_to(ROOT) for path in SCRIPTS if path.name != "job.py"
    }
    text = "\n".join(path.read_text("utf-8") for path in RULES)
    pattern = r"^rule (\w+):(?:(?!^rule).)*?scripts/(\w+)\.py"
    named = re.findall(pattern, text, re.MULTILINE | re.DOTALL)
    assert len(named) > 15
    assert all(script in (rule, "analyse", "validate") for rule, script in named)


def list_loaded(*lines: str) -> set[str]:
    """The modules that a fresh Python has after these lines."""
    python = [sys.executable, "-c", "\n".join([*lines, "import sys", "print(*sys.modules)"])]
    path = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    process = subprocess.run(python, env=path, capture_output=True, text=True, check=True)
    return set(process.stdout.split())


def test_reading_the_rules_imports_nothing_slow():
    # Every job on a cluster reads them, and so does a run with nothing to do.
    rules = "\n".join(path.read_text("utf-8") for path in RULES)
    lines = re.findall(r"^from capmap[\w.]* import (?:\([^)]*\)|.*)", rules, re.MULTILINE)
    assert any("capmap.inputs" in line for line in lines)
    slow = {"numpy", "pandas", "scipy", "pyarrow", "matplotlib", "boto3"}
    assert not slow & list_loaded(*lines)


def test_jobs_load_what_they_use():
    assert not {"numpy", "pandas"} & list_loaded("import index")
    # Figures and pages read the declarations of all analyses, and compute nothing.
    names = "pairwise, profiles, ranks, ratings, robustness, sample_size, strengths"
    loaded = list_loaded(f"from capmap.analyses import {names}", "import plot, report")
    assert not {"pydantic", "scipy.special", "scipy.stats"} & loaded


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_jobs_do_not_depend_on_what_the_rules_ask(path):
    # Else an edit of it would run their jobs again.
    assert not any(name.startswith("capmap.inputs") for name in list_imports(read_tree(path)))


def test_citation_and_changelog_have_the_version_of_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## \[?([\d.]+)", changelog, re.MULTILINE)[0] == PROJECT["version"]


@pytest.mark.parametrize(
    "path", [path for path in SCRIPTS if path.name != "job.py"], ids=lambda path: path.name
)
def test_script_has_one_public_function_of_its_own_name(path):
    tree = read_tree(path)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [name for name in functions if not name.startswith("_")] == [path.stem]
    assert not any(name.startswith("snakemake") for name in list_imports(tree))


def find_floors(tower):
    return {room: floor for floor, rooms in enumerate(tower) for room in rooms}


def find_room(name):
    """The room of a module or of a name in one; some rooms have files on several floors."""
    head, room, part, *_ = [*name.split("."), "", ""]
    if head != "capmap":
        return ""
    if not (ROOT / f"scripts/capmap/{room}/{part}.py").is_file():
        part = "__init__"
    return APART.get((room, part), "methods" if room == "analyses" else room)


@pytest.mark.parametrize(
    "path", LIBRARY, ids=lambda path: str(path.relative_to(ROOT / "scripts/capmap"))
)
def test_library_imports_point_down(path):
    room = find_room(".".join(path.relative_to(ROOT / "scripts").with_suffix("").parts))
    if room == "__init__":
        assert [*list_imports(read_tree(path))] == ["capmap.public.__getattr__"]
        return
    shown = room in set().union(*PAGES)
    tower = [*GROUND, *TABLES, *(PAGES if shown else STATISTICS)]
    tower = [*GROUND, INPUTS] if room in INPUTS else tower
    tower = [*tower, INPUTS, DRAFTING] if room in DRAFTING | DOOR else tower
    tower = [*tower, *PAGES, DOOR] if room in DOOR else tower
    floors = find_floors(tower)
    assert room in floors, "give this new room a floor"
    for name in list_imports(read_tree(path)):
        below = find_room(name)
        if room in INPUTS and name.rpartition(".")[0] in BELOW_INPUTS:
            continue
        if below and below != room:
            assert floors.get(below, len(tower)) < floors[room], f"{name} is not below {room}"


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name)
def test_library_knows_no_snakemake_and_never_prints(path):
    tree = read_tree(path)
    is_command = path.name == "cli.py"
    knows = is_command or path.parts[-2:] == ("inputs", "loading.py")
    assert knows or not any(name.startswith("snakemake") for name in list_imports(tree))
    names = {"print", "snakemake", "eval", "exec"} - ({"print"} if is_command else set())
    assert not names & set(list_names(tree))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name)
def test_library_draws_from_named_streams_only(path):
    tree = read_tree(path)
    assert "hash" not in set(list_names(tree)), "hash() differs between processes"
    assert not list(find_global_randomness(tree))


def find_global_randomness(tree):
    for name in list_imports(tree):
        head, _, last = name.rpartition(".")
        if name.partition(".")[0] == "random" or (
            head == "numpy.random" and last not in GENERATORS
        ):
            yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            is_numpy = isinstance(node.value.value, ast.Name) and node.value.value.id == "np"
            if is_numpy and node.value.attr == "random" and node.attr not in GENERATORS:
                yield f"np.random.{node.attr}"
