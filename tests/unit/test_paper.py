"""The folder of a paper: its tables, what is said and cited, and that it compiles."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup
from matplotlib.figure import Figure

from capmap import latex
from capmap.analyses import list_figures
from capmap.paper import make_score_column, render_paper
from tests.report_pages import make_ranking

ROOT = Path(__file__).parents[2]
HOSTILE = [r"a_b & 50% $x$ \input{x}", "{[*]} #~^<>|", "中文 \u03b1 \u2212", "x" * 200]
WORDS = {
    "main": {"headline": "A leads.", "methods": "By t tests <cite>holm1979,tukey1963</cite>."},
    "pairwise": {"answer": '<bdi class="name">a_b</bdi> is 5% better.', "methods": ""},
    "leaderboard": {"answer": "No entry is complete.", "methods": ""},
}
TABLES = ("results_table", "ranking_table")
WORDS = {name: {k: Markup(v) for k, v in own.items()} for name, own in WORDS.items()}  # noqa: S704


def make_seeds(models, datasets, *, runs=3, seed=0):
    rng = np.random.default_rng(seed)
    cells = [(model, dataset) for model in models for dataset in datasets]
    table = pd.DataFrame(cells, columns=["model", "dataset"])
    std = rng.uniform(0.001, 0.05, len(cells)) if runs > 1 else np.nan
    return table.assign(n=runs, mean=rng.uniform(0.2, 0.9, len(cells)), std=std)


def make_bounds(datasets, directions=("max",)):
    kinds = [directions[place % len(directions)] for place in range(len(datasets))]
    return pd.DataFrame({"dataset": datasets, "metric": "acc", "direction": kinds})


def make_paper(models, datasets, *, ranking=None, seeds=None, **more):
    scopes = make_ranking(model=models, datasets=[len(datasets)] * len(models))
    tables = {
        "ranking": scopes if ranking is None else ranking,
        "seeds": make_seeds(models, datasets) if seeds is None else seeds,
        "bounds": make_bounds(datasets, ("max", "min")),
    }
    if "entries" in more:
        tables["leaderboard/entries"] = more["entries"]
    figures = more.get("figures", list_figures({"analyses": ["pairwise"]}))
    return render_paper(tables, WORDS, title="A study & more", figures=figures, level=0.95)


def read_cells(means, direction="max", stds=None):
    table = pd.DataFrame({"mean": means, "std": stds or [np.nan] * len(means)})
    column = make_score_column(["D"], direction, table)
    return [a + b for a, b in zip(column.cells, column.spreads, strict=True)]


def test_best_is_bold_and_second_underlined_by_the_direction():
    means = [0.5, 0.8, 0.6]
    assert read_cells(means) == ["0.500", r"\textbf{0.800}", r"\underline{0.600}"]
    assert read_cells(means, "min") == [r"\textbf{0.500}", "0.800", r"\underline{0.600}"]
    assert read_cells(means, "") == ["0.500", "0.800", "0.600"]


def test_all_that_read_the_same_are_marked_alike():
    # 0.80001 and 0.80004 both read 0.800 beside 0.3.
    cells = read_cells([0.80001, 0.80004, 0.5, 0.5, 0.3])
    assert cells == [r"\textbf{0.800}"] * 2 + [r"\underline{0.500}"] * 2 + ["0.300"]


def test_single_runs_have_no_spread_and_missing_cells_a_dash():
    cells = read_cells([84.12, np.nan, -3.0], stds=[1.25, np.nan, np.nan])
    assert cells == [r"\textbf{84.1}{\scriptsize$\,\pm\,$1.2}", "--", r"\underline{$-$3.0}"]


def test_models_without_a_rank_are_not_in_the_tables():
    ranking = make_ranking(model=["A", "B", "C"], datasets=[3, 3, 1], missing=[0, 0, 2])
    ranking = ranking.assign(rank=pd.array([1, 2, pd.NA], dtype="Int64"))
    paper = make_paper(["A", "B", "C"], ["x", "y", "z"], ranking=ranking)
    assert "2 models on 3 datasets" in paper["ranking_table"]
    nothing = make_paper(["C"], ["x"], ranking=ranking.iloc[2:])
    assert "Rank" not in nothing["ranking_table"]


def test_a_study_without_intervals_says_less():
    columns = dict.fromkeys(["ci_low", "ci_high", "rank_low", "rank_high", "may_be_best"], np.nan)
    ranking = make_ranking(model=["A", "B"], tie_group=["", ""]).assign(**columns)
    paper = make_paper(
        ["A", "B"], ["x", "y"], ranking=ranking, seeds=make_seeds(["A", "B"], ["x", "y"], runs=1)
    )
    assert "Ties" not in paper["ranking_table"]
    assert r"\pm" not in re.sub(r"\\caption.*", "", paper["results_table"])


def make_entries(models):
    table = make_ranking(model=models, datasets=[2] * len(models)).rename(columns={"score": "iqm"})
    half = len(models) // 2
    method = ["frozen"] * half + ["full_ft"] * (len(models) - half)
    return table.assign(method=method, name="Net", submission=models, complete=True)


def test_a_leaderboard_that_ranks_apart_has_a_table_per_method():
    models = ["A", "B", "C", "D"]
    paper = make_paper(models, ["x", "y"], entries=make_entries(models))
    labels = re.findall(r"\\label\{(.*?)\}", "".join(paper.values()))
    assert len(labels) == len(set(labels))
    assert {"tab:results", "tab:results-m2", "tab:ranking", "tab:ranking-m2"} <= set(labels)
    # Entries of a name are told apart by their submission; no figure shows all together.
    assert "Net (C)" in paper["ranking_table"]
    assert "{intervals.pdf}" not in paper["main"] + paper["appendix"]
    assert "A leads" not in paper["results"]


def test_a_board_without_complete_entries_says_so():
    entries = make_entries(["A", "B"]).assign(complete=False)
    paper = make_paper(["A", "B"], ["x", "y"], entries=entries)
    assert paper["results_table"] == paper["ranking_table"] == ""


def test_wide_studies_are_split_so_that_each_part_fits():
    models = [f"model_{place:02d}" for place in range(60)]
    datasets = [f"dataset_{place:02d}" for place in range(30)]
    text = make_paper(models, datasets)["results_table"]
    floats = re.findall(r"\\begin\{tabular\}\{(rl\w+)\}(.*?)\\bottomrule", text, re.DOTALL)
    assert len(floats) > 5
    # Each line of 0.812 takes 22 points at least, and each line 9.5; a row has two of them.
    assert max(len(align) - 2 for align, _ in floats) * 22 < latex.WIDTH
    assert max(body.count("\n") for _, body in floats) * 2 * 9.5 < 650
    cells = sum(body.count(r"\scriptsize") for _, body in floats)
    assert cells == 60 * 30
    assert "Part 1 of" in text


def test_headers_are_never_cut_inside_a_word_and_turned_where_that_saves_a_float():
    models, datasets = ["A", "B", "C"], ["BioMassters", "BigEarthNet-v2", "So2Sat"]
    text = make_paper(models, datasets)["results_table"]
    assert all(word in text for word in ("BioMassters", "BigEarthNet-", "So2Sat"))
    assert "rotatebox" not in text
    turned = make_paper(models, [f"BioMassters{place}" for place in range(9)])["results_table"]
    assert r"\rotatebox{90}{BioMassters8\,$\rightarrow$}" in turned
    assert turned.count(r"\begin{table}") == 1
    wide = make_paper(models, [f"D{place}" for place in range(40)])["results_table"]
    assert wide.count(r"\begin{table}") > 1


def test_the_article_has_four_floats_at_most_and_the_appendix_the_rest():
    for datasets in (3, 30, 200):
        paper = make_paper(["A", "B"], [f"D{place}" for place in range(datasets)])
        tables = {name: paper[name].count(r"\begin{table}") for name in TABLES}
        floats = {name: count_floats(paper[name], tables) for name in ("main", "appendix")}
        assert floats["main"] <= 4
        assert r"\input{ranking_table}" in paper["main"]
        figures = sum(paper[name].count(r"\includegraphics") for name in floats) - 2
        drawn = list_figures({"analyses": ["pairwise"]})
        shown = re.findall(r"\\showfigure\{(\w+).pdf\}", paper["main"] + paper["appendix"])
        assert sorted(shown) == sorted(drawn)
        assert figures == 0


def test_the_comparison_of_a_study_of_items_is_item_by_item():
    figures = ["intervals", "pairwise_reference", "item_differences"]
    paper = make_paper(["A", "B"], ["D", "E"], figures=figures)
    assert "item_differences.pdf" in paper["main"]
    assert "pairwise_reference.pdf" in paper["appendix"]


def count_floats(text, tables):
    own = sum(count for name, count in tables.items() if rf"\input{{{name}}}" in text)
    return own + text.count(r"\begin{figure}")


def test_names_are_printed_as_they_stand():
    paper = make_paper(HOSTILE, ["x_y", "50%"])
    text = "".join(paper.values())
    assert r"\input{x}" not in text.replace(r"\textbackslash{}input", "")
    assert "x" * 100 not in text
    assert r"\DeclareUnicodeCharacter{4E2D}{U+4E2D}" in paper["main"]


def test_broken_names_are_whole():
    for name in [*HOSTILE, "", "a-b_c" * 12]:
        assert "".join(latex.break_name(name, width=30)) == name


def test_words_are_paragraphs_and_references_hold_exactly_what_they_cite():
    paper = make_paper(["A", "B"], ["x", "y"])
    assert paper["methods"] == "By t tests \\citep{holm1979,tukey1963}.\n"
    assert paper["results"] == "A leads.\n\na\\_b is 5\\% better.\n"
    assert "No entry is complete." in paper["appendix"]
    keys = re.findall(r"^@\w+\{(\w+),", paper["references"], re.MULTILINE)
    assert keys == ["holm1979", "tukey1963"]


def test_every_reference_is_cited_somewhere_and_known():
    templates = (ROOT / "scripts/capmap/analyses").glob("*.j2")
    text = "".join(path.read_text("utf-8") for path in templates)
    for key, entry in latex.read_references().items():
        assert f'"{key}"' in text, key
        assert all(f"{field} = {{" in entry for field in ("author", "title", "year")), key
        assert f"year = {{{key[-4:]}}}" in entry


def read_studies():
    """Papers of a few kinds of study: hostile names, a wide one, single runs, apart."""
    wide = [f"net_{place:02d}" for place in range(60)]
    ties = ["a"] * 8 + ["b"] * 52
    holes = make_seeds(HOSTILE, ["x_1", "y"]).iloc[1:]
    return {
        "hostile": {"models": HOSTILE, "datasets": ["x_1", "y"], "seeds": holes},
        "wide": {
            "models": wide,
            "datasets": [f"a_long_dataset_{place:02d}" for place in range(30)],
            "ranking": make_ranking(
                model=wide,
                tie_group=ties,
                datasets=[30] * 60,
                may_be_best=[True] * 8 + [False] * 52,
            ),
        },
        "apart": {
            "models": ["A", "B", "C", "D"],
            "datasets": ["x", "y"],
            "entries": make_entries(["A", "B", "C", "D"]),
        },
    }


def render_study(study):
    return make_paper(**{"models": study["models"], **study})


@pytest.mark.skipif(
    not (shutil.which("pdflatex") and shutil.which("bibtex")),
    reason="LaTeX is not installed (make test-latex installs it for root)",
)
@pytest.mark.parametrize("kind", read_studies())
def test_the_paper_compiles_and_nothing_sticks_out(kind, tmp_path):
    paper = render_study(read_studies()[kind])
    for name, text in paper.items():
        suffix = "bib" if name == "references" else "tex"
        (tmp_path / f"{name}.{suffix}").write_text(text, "utf-8")
    # The figures are drawn by another job.
    for name in list_figures({"analyses": ["pairwise"]}):
        Figure(figsize=(7, 12)).savefig(tmp_path / f"{name}.pdf")
    for document in ("main", "appendix"):
        compile_document(document, tmp_path)


def compile_document(name, folder):
    cites = "bibliography" in (folder / f"{name}.tex").read_text("utf-8")
    for command in ("pdflatex", *["bibtex"] * cites, "pdflatex", "pdflatex"):
        options = ["-interaction=nonstopmode", "-halt-on-error"] if command == "pdflatex" else []
        run = subprocess.run([command, *options, name], cwd=folder, capture_output=True)
        assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]
    log = (folder / f"{name}.log").read_text("utf-8", errors="replace")
    assert not re.findall(
        r"^(?:!|LaTeX Warning: .*(?:undefined|multiply)|.*Float too large).*", log, re.M
    )
    assert not [
        line for line in log.splitlines() if re.match(r"Overfull \\hbox \((?:[2-9]|\d\d)", line)
    ]
