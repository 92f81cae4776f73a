"""How large this checkout is, against the budget in pyproject.toml; fails where it is larger.

Code is Python without docstrings, comments and blank lines. Product is the Snakefile, workflow/ and
scripts/; its front end is .js, .css and .html(.j2), its text templates other .j2.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def read(name):
    """The text of a file."""
    return Path(name).read_text("utf-8", "replace")


def lines(names):
    """How many lines files have."""
    return sum(len(read(name).splitlines()) for name in names)


def find_docstrings(tree):
    """The numbers of the lines of docstrings."""
    lines = set()
    for node in ast.walk(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            lines |= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    return lines


def count_code(name):
    """Lines of code of a Python file."""
    skipped = find_docstrings(ast.parse(read(name)))
    lines = enumerate(map(str.strip, read(name).splitlines()), 1)
    return sum(bool(line) and line[0] != "#" and number not in skipped for number, line in lines)


def list_imported(name, modules):
    """Modules of the library that a file imports, and the names it takes from them."""
    if not name.endswith(".py"):
        yield from ((m, "") for m in modules if re.search(rf"\b{re.escape(m)}\b", read(name)))
        return
    for node in ast.walk(ast.parse(read(name))):
        if isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if source.split(".")[0] == "capmap":
                for alias in node.names:
                    whole = f"{source}.{alias.name}"
                    yield (whole, alias.name) if whole in modules else (source, alias.name)
        elif isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if a.name.startswith("capmap"))


def count_functions(python):
    """How many functions have more than 8 parameters, and more than 60 lines without docstring."""
    many = long = 0
    for tree in map(ast.parse, map(read, python)):
        skipped = find_docstrings(tree)
        for node in (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)):
            own = node.args
            many += len([*own.posonlyargs, *own.args, *own.kwonlyargs]) > 8
            long += len({*range(node.lineno, node.end_lineno + 1)} - skipped) > 60
    return many, long


def measure():
    """All measures, by name."""
    files = subprocess.check_output(["git", "ls-files"], text=True).splitlines()
    files = [name for name in files if Path(name).is_file()]
    product = [f for f in files if f == "Snakefile" or f.startswith(("workflow/", "scripts/"))]
    front = [f for f in product if f.endswith((".js", ".css", ".html", ".html.j2"))]
    rules = [f for f in product if f.endswith((".smk", "Snakefile"))]
    python = [f for f in product if f.endswith(".py")]
    library = [f for f in python if f.startswith("scripts/capmap/")]
    tests = [f for f in files if f.startswith("tests/") and f.endswith(".py")]
    outside = [f for f in files if f.endswith(".py") and f not in tests]
    markdown = [f for f in files if f.endswith(".md")]
    modules = {f[8:-3].replace("/", ".").removesuffix(".__init__"): f for f in library}
    users, rooms = defaultdict(set), defaultdict(set)
    for name in [*python, *rules]:
        for module, _ in list_imported(name, modules):
            users[module] |= {name} - {modules.get(module)}
    leaves = {m: f for m, f in modules.items() if not f.endswith("__init__.py")}
    for folder, _, name in (f.rpartition("/") for f in leaves.values()):
        rooms[name].add(folder)
    many, long = count_functions(python)
    return {
        "product files": len(product),
        "product code lines": sum(map(count_code, python)),
        "code lines outside tests": sum(map(count_code, outside)),
        "product lines": lines(product),
        "rule lines": lines(rules),
        "front end lines": lines(front),
        "text template lines": lines(f for f in product if f.endswith(".j2") and f not in front),
        "test files": len(tests),
        "test lines": lines(tests),
        "benchmark files": sum(f.startswith("benchmarks/") for f in files),
        "docs words": sum(len(read(f).split()) for f in markdown if f.startswith("docs/")),
        "words of all .md": sum(len(read(f).split()) for f in markdown),
        "tracked files": len(files),
        "modules with one importer": sum(len(users[m]) == 1 for m in leaves),
        "file names in two rooms": sum(len(folders) > 1 for folders in rooms.values()),
        "functions with more than 8 parameters": many,
        "functions over 60 lines": long,
        "names that tests import": len({p for f in tests for p in list_imported(f, modules)}),
    }


if __name__ == "__main__":
    budget = tomllib.loads(read("pyproject.toml"))["tool"]["capmap"]["budget"]
    for name, value in (found := measure()).items():
        print(f"{name:40} {value:8} {budget.get(name, ''):>8}")
    sys.exit(", ".join(name for name in budget if found[name] > budget[name]) or None)
