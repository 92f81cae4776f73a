"""The sections of a page that a study asks for: paragraph, figures and tables of each analysis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from capmap.report.views import View, make_view

HEADINGS = {
    "pairwise": "Which differences are real?",
    "ranks": "Do the mean ranks differ?",
    "profiles": "How far is each model from the best?",
    "ratings": "How often does each model win?",
    "improvability": "How much error is left to the best model?",
    "robustness": "What would change the order?",
    "groups": "Which model is best at what?",
    "conditions": "Does the order depend on the condition?",
    "sample_size": "What should be run next?",
    "capabilities": "What is each model good at?",
    "placements": "Where do models with few results stand?",
    "next_results": "Which result would tell most?",
    "drift": "Does the map stay put over time?",
    "transfer": "Does it carry over to other datasets?",
    "multilabel": "What changes once several labels are right?",
    "leaderboard": "Who leads, and on what?",
    "releases": "How did the ranks move from release to release?",
    "checkpoints": "Which checkpoint is best, and what is the choice worth?",
}
SHARE = 40_000
LABELS = {
    "model_a": "Model a",
    "model_b": "Model b",
    "ci_low": "From",
    "ci_high": "To",
    "wilcoxon_p": "Wilcoxon p",
    "wilcoxon_p_holm": "p, Holm corrected",
    "p_improvement": "P(improvement)",
    "p_improvement_low": "P(improvement) from",
    "p_improvement_high": "P(improvement) to",
    "p_a_better": "P(a better)",
    "p_equivalent": "P(equivalent)",
    "p_b_better": "P(b better)",
    "p_reference_better": "P(reference better)",
    "p_model_better": "P(model better)",
    "rope": "ROPE",
    "iqm": "IQM",
    "elo": "Elo",
    "p_best": "P(best)",
    "p_top": "P(top)",
    "p": "p",
    "df1": "df 1",
    "df2": "df 2",
    "std": "SD",
    "rank_low": "Rank from",
    "rank_high": "Rank to",
    "kendall_tau": "Kendall's tau",
}


@dataclass(frozen=True)
class Outcome:
    """What an analysis made.

    Parameters
    ----------
    name : str
        Name of the analysis.
    paragraphs : sequence of str
        Its account in plain text.
    tables, figures : sequence of str
        Names of its tables, with their folder as in ``tables/elo``, and of its figures.
    """

    name: str
    paragraphs: Sequence[str]
    tables: Sequence[str]
    figures: Sequence[str]


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    name, heading : str
        Its anchor and title.
    paragraphs : sequence of str
        Plain text.
    latex : str
        The file with the paragraphs for a paper, relative to the page.
    figures : sequence of str
        Names of its figures.
    views : list of View
        Its tables.
    """

    name: str
    heading: str
    paragraphs: Sequence[str]
    latex: str
    figures: Sequence[str]
    views: list[View]


def show_analyses(
    outcomes: Sequence[Outcome],
    tables: Mapping[str, pd.DataFrame],
    *,
    captions: Mapping[str, str],
    files: Mapping[str, str],
) -> list[Section]:
    """Prepare the sections of a study's analyses.

    Parameters
    ----------
    outcomes : sequence of Outcome
        In the order of the page.
    tables : mapping of str to pandas.DataFrame
        Finished tables by the same names.
    captions : mapping of str to str
        What each table shows, by its name.
    files : mapping of str to str
        Where the page finds tables and paragraphs (as LaTeX).

    Returns
    -------
    list of Section
        Tables are cut to their share of the page.
    """
    return [
        Section(
            name=outcome.name,
            heading=HEADINGS[outcome.name],
            paragraphs=outcome.paragraphs,
            latex=files[f"text/{outcome.name}"],
            figures=outcome.figures,
            views=[
                make_view(
                    tables[name],
                    name=name,
                    caption=captions[name],
                    max_bytes=SHARE,
                    file=files[name],
                    labels=_label_columns(tables[name]),
                )
                for name in outcome.tables
            ],
        )
        for outcome in outcomes
    ]


def _label_columns(table: pd.DataFrame) -> dict[str, str]:
    return {key: LABELS.get(key, key.replace("_", " ").capitalize()) for key in table.columns}
