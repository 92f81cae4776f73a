"""The shipped exports are what their script makes, and the settings in the docs are valid."""

import re
import runpy
from pathlib import Path

import pytest
import yaml

from capmap.settings.checking import check_settings
from capmap.settings.sections import Config

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# What begins a study, or a part of one. Other blocks are of other tools, or of benchmarks.
STARTS = ("studies", "downloads", "analyses", "select", "figures", "exports", "multilabel")


def test_each_simulated_example_is_what_its_script_makes():
    files = runpy.run_path(str(ROOT / "data/make_examples.py"))["render_examples"]()
    assert len(files) == 12
    for name, text in files.items():
        assert (ROOT / "data" / name).read_bytes() == text.encode(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_settings_in_the_docs_are_valid(page):
    for text in re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        block = yaml.safe_load(text)
        if next(iter(block)) in STARTS:
            check_settings(block if "studies" in block else {"studies": {"mine": block}}, Config)
