"""The words of all analyses: short, true to the tables, and the same in HTML and LaTeX.

``python -m pytest tests/workflow/test_words.py --refresh`` writes `tests/golden` again.
"""

import os
import re
from collections.abc import Callable, Iterator
from html import unescape
from inspect import signature
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
import pytest
import yaml
from markupsafe import Markup

from capmap.analyses import INDEX, load_analysis, place_read, rendering
from capmap.claims import find_candidates
from capmap.latex import name_reference, read_references
from capmap.ranking import choose
from capmap.settings.sections import OF_SCORES
from capmap.tables import LATEX
from tests.whole_studies import FEW_RESULTS, PROJECT, Told, open_workflow, run_study, tell

GOLDEN = PROJECT / "tests/golden"
TEMPLATES = PROJECT / "scripts/capmap/analyses"
MOST_WORDS = {"answer": 60, "headline": 60, "methods": 70}
MOST_OF_RANKING = 180
NAME = re.compile(r'<bdi class="name">(.*?)</bdi>')
CITED = re.compile(r"<cite>(.*?)</cite>")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
# What holds digits and is no number: dates, and the names of methods.
NO_NUMBER = re.compile(r"\d{4}-\d\d-\d\d|top-1|[Ll]2\b")
HOSTILE = [
    "$x_1$ <b> 50% & ~^\\alpha {#}",
    "'quoted' \"twice\"",
    "ДА\u202e 模型",
    "a" * 500,
    "two\nlines",
    "{{ 7 * 7 }} {% raw %}",
    "<cite>holm1979</cite>",
]
HOLES = """\
model,dataset,metric,seed,score
A,d,acc,0,0.9
A,d,acc,1,0.91
A,d,acc,2,
A,e,acc,0,0.7
A,e,acc,1,0.72
A,f,acc,0,0.8
B,d,acc,0,0.8
B,d,acc,1,0.84
B,e,acc,0,0.5
B,e,acc,1,0.55
C,e,acc,0,0.4
C,e,acc,1,0.42
C,f,acc,0,0.3
C,f,acc,1,0.31
D,f,acc,0,0.2
"""
PRINTED = "model,iqm\nA,0.8\nB,0.9\n"
OWN = {"group": "", "unit": "runs", "statistic": "iqm"}
IMAGENET = [
    *("tf_efficientnet_b7.ns_jft_in1k", "seresnet50.ra2_in1k", "res2net101_26w_4s.in1k"),
    *("dla102.in1k", "densenet121.ra_in1k", "vgg13_bn.tv_in1k"),
]
VIEWS = [f"{name} / asma" for name in ("ImageNetV1", "ImageNetV2", "PatchML")]
# Shipped studies, made small where they are slow, and one that lacks cells and a run.
CHANGES: dict[str, dict[str, Any]] = {
    "benchmark": {},
    "seeded": {},
    "holes": {
        "exports": "holes.csv",
        "failed": "worst",
        "incomplete": "adjust",
        "analyses": [*OF_SCORES, "published"],
        "groups": {"two": {"datasets": ["d", "e"]}},
        "published": {
            "Table 1": {
                "file": "printed.csv",
                "table": "tables/ranking",
                "columns": {"iqm": {"column": "score", "where": OWN}},
            }
        },
        "claims": {
            "A is good": {
                "table": "tables/ranking",
                "where": OWN | {"model": "A"},
                "column": "score",
            }
            | {"low": "ci_low", "high": "ci_high", "above": 0.5}
        },
    },
    "literature": FEW_RESULTS,
    "imagenet": {"select": {"models": IMAGENET, "datasets": VIEWS}},
    "leaderboard": {"analyses": ["leaderboard", "releases", "winners_curse", "new_dataset"]},
    "trainings": {},
    "items": {},
}

each = pytest.mark.parametrize("study", CHANGES)


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Told]]:
    """Make a study in a folder of its own, once, and say what its analyses say."""
    folder = tmp_path_factory.mktemp("studies")
    config = yaml.safe_load((PROJECT / "config.yaml").read_text())
    known = {name: config["studies"].get(name, {}) | own for name, own in CHANGES.items()}
    (folder / "my.yaml").write_text(yaml.safe_dump({"run": [*known], "studies": known}))
    (folder / "holes.csv").write_text(HOLES)
    (folder / "printed.csv").write_text(PRINTED)
    (folder / "data").symlink_to(PROJECT / "data")
    before = Path.cwd()
    os.chdir(folder)
    with open_workflow(folder / "my.yaml") as (rules, studies):
        os.chdir(before)
        made: dict[str, Told] = {}

        def make(study: str) -> Told:
            if study not in made:
                os.chdir(folder)
                if study == "seeded":
                    run_study(rules, "benchmark", studies["benchmark"])
                run_study(rules, study, studies[study])
                made[study] = tell(study, studies[study])
                os.chdir(before)
            return made[study]

        yield make


def list_paragraphs(found: Told) -> Iterator[tuple[str, str, Markup]]:
    """Analysis, block and text of all that a study says."""
    for name, blocks in found.words.items():
        # Jinja gives them in any order.
        for block, text in sorted(blocks.items()):
            if text:
                yield name, block, text


def find_read(name: str, tables: dict[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """The tables that the words of an analysis are made of."""
    parameters = signature(load_analysis(name).find_facts).parameters
    places = [place_read(read, name).removesuffix(".csv") for read in parameters]
    return [tables[place] for place in places if place in tables]


@each
def test_paragraphs_are_short_finished_and_have_no_gaps(told: Any, study: str) -> None:
    for name, block, text in list_paragraphs(told(study)):
        plain = NAME.sub("name", CITED.sub("(cited)", text))
        about = f"{study}, {name}, {block}: {text}"
        most = (
            MOST_OF_RANKING if (name, block) == ("main", "methods") else MOST_WORDS.get(block, 60)
        )
        assert len(plain.split()) <= most, about
        assert plain[0].isupper() or plain[0].isdigit() or plain.startswith("name"), about
        assert plain.endswith("."), about
        assert not re.search(r"\b(nan|NaN|NA|None|inf|undefined)\b", plain), about
        assert not re.search(r"  |\( *\)|\( | \)|\.\.| [,.;:]|not available", plain), about


@each
def test_every_analysis_answers(told: Any, study: str) -> None:
    for name, blocks in told(study).words.items():
        assert blocks["headline" if name == "main" else "answer"], name
        assert "methods" in blocks, name


@each
def test_every_number_of_an_answer_stands_in_a_table(told: Any, study: str) -> None:
    found = told(study)
    for name, block, text in list_paragraphs(found):
        if block == "methods":
            continue
        known = list_numbers(find_read(name, found.tables), found.options[name])
        plain = NO_NUMBER.sub("", unescape(NAME.sub("", text)))
        for written in NUMBER.findall(plain):
            number, decimals = float(written.replace(",", "")), len(written.partition(".")[2])
            is_known = np.isclose(known.round(decimals), number, atol=1e-9).any()
            assert is_known, f"{written} in {study}, {name}: {text}"


def list_numbers(tables: list[pd.DataFrame], options: dict[str, Any]) -> np.ndarray:
    """Numbers of tables and settings, counts of rows and of names, also as percentages."""
    numbers = [0.001, 1, 2]
    for value in options.values():
        numbers += [value, 1 - value] if isinstance(value, int | float) else []
    for table in tables:
        numbers += range(len(table) + 1)
        numbers += table.select_dtypes("number").to_numpy(dtype=float).ravel().tolist()
        # Such as models and datasets together.
        numbers += [table[column].nunique() for column in table]
    return np.abs([*numbers, *(100 * number for number in numbers)])


@each
def test_citations_are_in_the_bibliography(told: Any, study: str) -> None:
    for name, block, text in list_paragraphs(told(study)):
        cited = {key for keys in CITED.findall(text) for key in keys.split(",")}
        assert cited <= read_references().keys(), name
        assert block == "methods" or not cited, name


@each
def test_the_headline_and_the_rank_sets_agree_with_the_claims(told: Any, study: str) -> None:
    found = told(study)
    scopes = choose(found.tables["ranking"], unit=None)
    for unit, own in scopes[scopes["rank"].notna()].groupby("unit"):
        # The star of figures, page and paper is where the rank set holds 1.
        assert find_candidates(own) == own.loc[own["rank_low"] == 1, "model"].tolist(), unit
    headline = str(found.words["main"]["headline"])
    claims = found.claims[found.claims["section"] == "main"]
    best = claims.loc[claims["relation"] == "is best", "subject"]
    if found.options.keys() & {"leaderboard"}:
        return
    assert {unescape(name) for name in re.findall(rf"{NAME.pattern} is best", headline)} == {*best}


def read_latex(text: str) -> str:
    """LaTeX as plain text, with names of citations."""
    text = re.sub(r"\\citep\{(.*?)\}", lambda found: cite_plainly(found[1]), text)
    for character, code in sorted(LATEX.items(), key=lambda item: -len(item[1])):
        text = text.replace(code, character) if character not in "{}" else text
    return re.sub(r"\\([{}])", r"\1", re.sub(r"(?<!\\)\{\}", "", text))


def cite_plainly(keys: str) -> str:
    """The citation of some keys on a page."""
    return f"({'; '.join(map(name_reference, keys.split(',')))})"


@each
def test_page_plain_text_and_latex_have_the_same_words(told: Any, study: str) -> None:
    for name, _, text in list_paragraphs(told(study)):
        page = unescape(re.sub(r"<[^>]*>", "", rendering.write_page(text)))
        assert read_latex(rendering.write_latex(text)) == page, name
        assert rendering.write_plain(text).replace("'", "") == page.replace("'", ""), name


@each
@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_are_data(told: Any, study: str, hostile: str) -> None:
    found = told(study)
    columns = ["model", "dataset", "group", "model_a", "model_b", "opponent", "published", "claim"]
    names = {
        name
        for table in found.tables.values()
        for column in {*columns} & {*table.columns}
        for name in table[column].dropna().astype(str)
    }
    swap = dict.fromkeys(names, hostile) if study == "benchmark" else {min(names): hostile}
    tables = {place: table.replace(swap) for place, table in found.tables.items()}
    for name, options in found.options.items():
        words = rendering.describe_analysis(name, tables, options)
        for block, text in words.items():
            page = rendering.write_page(text)
            assert not re.sub(r"</?bdi( class=\"name\")?>", "", page).count("<"), name
            latex = re.sub(r"\\citep\{[\w,]+\}", "", rendering.write_latex(text))
            assert not re.search(r"(?<!\\)[$#%&_]", latex), (name, block)
            assert "49" not in page or "49" in str(found.words[name][block]), name


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.j2")), ids=lambda path: path.stem)
def test_literal_text_has_no_character_that_is_special(path: Path) -> None:
    tokens = jinja2.Environment(autoescape=True).lex(path.read_text("utf-8"))
    literal = "".join(text for _, kind, text in tokens if kind == "data")
    assert not set("%&<>_#$~^{}\\") & set(literal)
    assert literal.isascii()


def test_every_block_is_rendered_here(told: Any) -> None:
    blocks = re.findall(r"{% block (\w+) %}", "".join(map(Path.read_text, TEMPLATES.glob("*.j2"))))
    words = [item for study in CHANGES for item in told(study).words.items()]
    assert {name for name, _ in words} == {*INDEX}
    assert sorted(blocks) == sorted({f"{name}_{block}" for name, said in words for block in said})


@each
def test_the_texts_are_those_that_were_read(
    told: Any, study: str, pytestconfig: pytest.Config
) -> None:
    text = "".join(
        f"## {name}, {block}\n{rendering.write_plain(text)}\n\n"
        for name, block, text in list_paragraphs(told(study))
    )
    path = GOLDEN / f"{study}.txt"
    if pytestconfig.getoption("refresh"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text
