"""Rankings as authors print them: the interval in one cell, sets of ranks, letters."""

from dataclasses import dataclass

import pandas as pd

from capmap.claims import (
    find_candidates,
    has_letters,
    label_entries,
    ranks_apart,
)
from capmap.paper.latex import (
    ARROWS,
    Column,
    Sheet,
    make_name_column,
    measure,
    render_sheet,
    shorten,
    write_name,
)
from capmap.ranking import choose_ranked
from capmap.tables import write_scores
from capmap.wording import (
    SHARED_LETTERS,
    find_statistic,
    format_count,
    format_percent,
    name_statistic,
    spell_statistic,
)

STAR = r"$^{\star}$"
NONE = "--"
# What intervals hold for, by their unit.
OVER = {
    "runs": "new runs on these datasets",
    "seeds": "new seeds on these datasets",
    "items": "other items like these on these datasets",
    "runs_and_datasets": "other datasets like these",
}
COLUMNS = ["model", "name", "score", "ci_low", "ci_high", "rank", "rank_low", "rank_high"]
COLUMNS += ["tie_group", "datasets", "filled"]


@dataclass(frozen=True)
class Ranking:
    """Models that are ranked together.

    Parameters
    ----------
    models : pandas.DataFrame
        Columns `COLUMNS`, ordered by rank; ``name`` is what is printed of ``model``.
    statistic, unit : str
        What ranks them, and what their intervals are over.
    within : str
        What is ranked on its own, such as a method; empty where a study ranks all together.
    suffix : str
        Of the labels of its tables, such as ``-m2`` of the second ranking.
    candidates : sequence of str
        Models that may be the best.
    datasets : int
        On how many some of them have runs.
    """

    models: pd.DataFrame
    statistic: str
    unit: str
    within: str
    suffix: str
    candidates: list[str]
    datasets: int

    @property
    def is_sure(self) -> bool:
        """Whether some model has an interval."""
        return bool(self.models["ci_low"].notna().any())

    @property
    def has_groups(self) -> bool:
        """Whether letters mark which models cannot be separated."""
        return bool(self.models["tie_group"].map(has_letters).any())


def list_rankings(
    ranking: pd.DataFrame,
    seeds: pd.DataFrame,
    entries: pd.DataFrame | None = None,
) -> list[Ranking]:
    """List the rankings of a study.

    Parameters
    ----------
    ranking : pandas.DataFrame
        The columns of ``tables/ranking.csv``.
    seeds : pandas.DataFrame
        The columns ``model`` and ``dataset`` of ``tables/seeds.csv``.
    entries : pandas.DataFrame, optional
        The columns of ``leaderboard/entries.csv``.

    Returns
    -------
    list of Ranking
        One, or of a leaderboard that ranks apart one per method, of complete entries only; none
        where nothing is ranked.
    """
    tables = {} if entries is None else {"leaderboard/entries": entries}
    first, unit = choose_ranked(ranking), str(ranking["unit"].iloc[0])
    if entries is not None and ranks_apart(tables):
        return _list_methods(entries, seeds, unit)
    if first.empty:
        return []
    names = {}
    if entries is not None:
        names = dict(zip(entries["model"], label_entries(entries), strict=True))
    models = first.assign(name=[names.get(name, name) for name in first["model"]])
    return [
        Ranking(
            models[COLUMNS].reset_index(drop=True),
            str(first["statistic"].iloc[0]),
            unit,
            "",
            "",
            find_candidates(first),
            _count_datasets(models, seeds),
        )
    ]


def _list_methods(entries: pd.DataFrame, seeds: pd.DataFrame, unit: str) -> list[Ranking]:
    statistic = find_statistic(entries.columns)
    complete = entries[entries["complete"]].fillna({"method": ""})
    rankings = []
    for number, (method, own) in enumerate(complete.groupby("method", sort=True), start=1):
        models = own.assign(name=label_entries(own), score=own[statistic], filled=0)
        models = models.sort_values(["rank", "model"])[COLUMNS].reset_index(drop=True)
        count = _count_datasets(models, seeds)
        suffix = "" if number == 1 else f"-m{number}"
        rankings.append(Ranking(models, statistic, unit, str(method), suffix, [], count))
    return rankings


def _count_datasets(models: pd.DataFrame, seeds: pd.DataFrame) -> int:
    return int(seeds.loc[seeds["model"].isin(models["model"]), "dataset"].nunique())


def write_percent(level: float) -> str:
    r"""Write a level, such as ``95\%``."""
    return format_percent(level).replace("%", r"\%")


def write_score(row: "pd.Series[float]") -> str:
    """Write a score with its interval as one cell.

    Examples
    --------
    >>> write_score(pd.Series({"score": 0.6521, "ci_low": 0.643, "ci_high": 0.6628}))
    '0.652 [0.643, 0.663]'
    """
    score = f"{row['score']:z.3f}"
    if pd.isna(row["ci_low"]):
        return _write_minus(score)
    return _write_minus(f"{score} [{row['ci_low']:z.3f}, {row['ci_high']:z.3f}]")


def render_rankings(rankings: list[Ranking], *, level: float) -> str:
    """Write the rankings as floats with caption and label.

    Parameters
    ----------
    rankings : list of Ranking
        Those of a study.
    level : float
        Of intervals and sets of ranks, between 0 and 1.
    """
    return "\n".join(render_sheet(_make_sheet(ranking, level)) for ranking in rankings)


def describe_size(ranking: Ranking) -> str:
    """Say how many models and datasets a ranking has."""
    count = len(ranking.models)
    models = (
        format_count(count, "entry", "entries") if ranking.within else format_count(count, "model")
    )
    return f"{models} on {format_count(ranking.datasets, 'dataset')}"


def name_within(ranking: Ranking) -> str:
    """Say what a ranking is of, in LaTeX; empty where it is of the whole study."""
    return f" with the method {write_name(ranking.within)}" if ranking.within else ""


def _make_sheet(ranking: Ranking, level: float) -> Sheet:
    models = ranking.models
    statistic, percent = name_statistic(ranking.statistic), format_percent(level)
    names, lines = make_name_column(models["name"].tolist())
    header = f"{statistic} [{percent} interval]" if ranking.is_sure else statistic
    scores = [write_score(row) for _, row in models.iterrows()]
    columns = [_make_column(header[:1].upper() + header[1:], scores)]
    if models["datasets"].min() < models["datasets"].max():
        columns.append(_make_column("Datasets", [f"{count:.0f}" for count in models["datasets"]]))
    if ranking.is_sure:
        columns.append(_make_column("Ranks", _write_sets(models, ranking.candidates)))
    if ranking.has_groups:
        columns.append(_make_column("Ties", [_write_ties(ties) for ties in models["tie_group"]]))
    caption = _describe_ranking(ranking, level)
    return Sheet(
        [_make_ranks(ranking), names], columns, caption, f"tab:ranking{ranking.suffix}", lines
    )


def _make_ranks(ranking: Ranking) -> Column:
    return _make_column("Rank", [f"{rank:.0f}" for rank in ranking.models["rank"]])


def _describe_ranking(ranking: Ranking, level: float) -> str:
    text = (
        f"Ranking{name_within(ranking)} by {spell_statistic(ranking.statistic)} of normalized "
        f"scores, {describe_size(ranking)}."
    )
    if ranking.is_sure:
        text += (
            f" In brackets: {write_percent(level)} intervals, over {OVER[ranking.unit]}. Ranks: "
            f"{write_percent(level)} confidence sets of each model's rank."
        )
    if ranking.has_groups:
        text += f" {SHARED_LETTERS}"
    if ranking.candidates:
        text += f" {STAR}The set holds rank 1: the model may be the best."
    if ranking.models["filled"].any():
        text += (
            " On datasets that a model lacks, its score is the one expected from the other models."
        )
    if not ranking.is_sure:
        text += " Nothing separates differences from chance: no model has an interval."
    return text


def _make_column(header: str, cells: list[str]) -> Column:
    shown = [cell.replace(STAR, "*").replace("$-$", "-") for cell in cells]
    return Column(header.split(", "), cells, max(map(measure, shown)))


def _write_sets(models: pd.DataFrame, candidates: list[str]) -> list[str]:
    known = zip(models["model"], models["rank_low"], models["rank_high"], strict=True)
    return [
        NONE if pd.isna(low) else _write_set(low, high) + STAR * (model in candidates)
        for model, low, high in known
    ]


def _write_set(low: float, high: float) -> str:
    return f"{low:.0f}" if low == high else f"{low:.0f}--{high:.0f}"


def _write_ties(ties: object) -> str:
    return str(ties) if has_letters(ties) else NONE


def _write_minus(text: str) -> str:
    return text.replace("-", "$-$")


def render_results(rankings: list[Ranking], seeds: pd.DataFrame, bounds: pd.DataFrame) -> str:
    """Write the scores of all models on all datasets as floats with caption and label.

    Parameters
    ----------
    rankings : list of Ranking
        Those of the study; each has a table of its own.
    seeds : pandas.DataFrame
        The columns of ``tables/seeds.csv``.
    bounds : pandas.DataFrame
        The columns of ``normalized/bounds.csv``.

    Returns
    -------
    str
        LaTeX. Models are in the order of the ranking. Values are compared as printed: all that
        read the same as the best are bold, and all that read the same as the next are underlined.
    """
    return "\n".join(
        render_sheet(_make_score_sheet(ranking, seeds, bounds)) for ranking in rankings
    )


def make_score_column(header: list[str], direction: str, scores: pd.DataFrame) -> Column:
    r"""Write the scores on a dataset, the best in bold and the second underlined.

    Parameters
    ----------
    header : list of str
        The dataset, and its metric if that has to be said.
    direction : {"max", "min", ""}
        Which is better; nothing is marked where that is not known.
    scores : pandas.DataFrame
        Columns ``mean`` and ``std``, a row per model; missing where it has no run, and ``std``
        where it has one.

    Examples
    --------
    >>> column = make_score_column(["D"], "max", pd.DataFrame({"mean": [0.5, 0.8], "std": 0.01}))
    >>> print(*column.cells, column.spreads[0])
    \underline{0.500} \textbf{0.800} {\scriptsize$\,\pm\,$0.010}
    """
    texts = write_scores(scores, direction)
    marks = {0: "{}", 1: r"\textbf{{{}}}", 2: r"\underline{{{}}}"}
    return Column(
        header,
        [marks[place].format(_write_minus(mean)) if mean else NONE for mean, _, place in texts],
        # Bold is wider.
        max(measure(mean or NONE) for mean, _, _ in texts) + 3,
        spreads=[rf"{{\scriptsize$\,\pm\,${spread}}}" if spread else "" for _, spread, _ in texts],
        spread_width=max(measure(f"+{spread}") if spread else 0.0 for _, spread, _ in texts),
        direction=direction if direction in ARROWS else "",
    )


def _make_score_sheet(ranking: Ranking, seeds: pd.DataFrame, bounds: pd.DataFrame) -> Sheet:
    own = seeds[seeds["model"].isin(ranking.models["model"])]
    rules = bounds.drop_duplicates("dataset").set_index("dataset")[["metric", "direction"]]
    rules = rules.reindex(sorted(own["dataset"].unique())).fillna("").astype("str")
    metrics = sorted({*rules["metric"]} - {""})
    columns = []
    for dataset, metric, direction in rules.itertuples():
        scores = own[own["dataset"] == dataset].set_index("model")[["mean", "std"]]
        header = [shorten(str(dataset)), *([shorten(metric)] if len(metrics) > 1 else [])]
        own_scores = scores.reindex(ranking.models["model"])
        columns.append(make_score_column(header, direction, own_scores))
    names, lines = make_name_column(ranking.models["name"].tolist())
    caption = _describe_results(ranking, own, metrics)
    return Sheet(
        [_make_ranks(ranking), names], columns, caption, f"tab:results{ranking.suffix}", lines
    )


def _describe_results(ranking: Ranking, own: pd.DataFrame, metrics: list[str]) -> str:
    metric = write_name(metrics[0]) if len(metrics) == 1 else "in the units of the metrics"
    text = (
        f"Scores{name_within(ranking)}, {metric}, {describe_size(ranking)}: "
        rf"{_describe_spread(own)}. $\uparrow$ higher is better, $\downarrow$ lower is better. "
    )
    if len(ranking.models) > 1:
        text += r"Best in \textbf{bold}, next \underline{underlined}, as printed. "
        text += f"Models in the order of their {spell_statistic(ranking.statistic)}."
    if len(own) < len(ranking.models) * own["dataset"].nunique():
        text += f" {NONE}: no run."
    return text.rstrip()


def _describe_spread(own: pd.DataFrame) -> str:
    low, high = int(own["n"].min()), int(own["n"].max())
    if high == 1:
        return "single runs"
    counts = format_count(high, "run") if low == high else f"{low} to {high} runs"
    return rf"mean $\pm$ standard deviation over {counts}"
