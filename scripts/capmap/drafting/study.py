"""A study drafted from its files: what they say, what is likely, and what has to be decided."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from capmap.drafting.draft import Draft
from capmap.drafting.paths import Paths, list_files, name_file
from capmap.drafting.roles import (
    are_measures,
    assign_roles,
    choose_numbered,
    choose_score,
    find_spread,
    find_variants,
    is_named,
    is_part,
    list_rivals,
    list_scores,
    name_split,
    rate_measure,
    rate_score,
    read_heads,
)
from capmap.drafting.scores import settle
from capmap.drafting.tables import Column, Table, read_table
from capmap.drafting.words import (
    SPLITS,
    WORDS,
    find_complement,
    find_known,
    guess_direction,
    has_word,
    is_change,
    rate_role,
    rate_values,
    split_words,
)
from capmap.errors import ConfigError
from capmap.exports.files import PLAIN
from capmap.metrics import find_metric
from capmap.patterns import Pattern
from capmap.settings.presets import list_presets
from capmap.wording import count_things, list_names, quote_name

NAMES = ("model", "dataset", "metric", "seed")
# What scores are called of which no name says the metric.
UNNAMED = "score"
ARROW = "\u2193"
# A metric, or protocol, with a smaller part of the datasets of another is not proposed.
RARE = 0.5
# From this difference on, names say whether rows are models or datasets.
SURE = 0.3


def draft_study(exports: Sequence[str]) -> Draft:
    """Draft the settings of a study from its files.

    Parameters
    ----------
    exports : sequence of str
        Paths, globs or folders.

    Returns
    -------
    Draft
        Settings that were tried on the files, with notes.

    Raises
    ------
    ConfigError
        When there are no files, or they hold no scores.
    UnreadableExportError
        When a file cannot be read in any way that is tried.
    """
    chosen, others = list_files(exports)
    paths, draft = Paths(chosen), Draft()
    table = read_table(paths)
    for name, preset in list_presets().items():
        wanted = [Pattern(text) for text in preset.get("known_by", ())]
        if wanted and all(_matches_any(pattern, table.columns) for pattern in wanted):
            draft.put("preset", name, "found", "The files are of this kind.")
            _complete_preset(draft, paths, table, preset)
            break
    else:
        _draft_table(draft, paths, table)
    settle(draft, others)
    return draft


def _matches_any(pattern: Pattern, names: Iterable[str]) -> bool:
    return any(pattern.match(name) is not None for name in names)


def _complete_preset(draft: Draft, paths: Paths, table: Table, preset: Mapping[str, Any]) -> None:
    """Find what a preset leaves to the study."""
    columns, weak = preset.get("columns", {}), preset.get("weak", ())
    records = preset.get("reading", {}).get("records", "")
    for text in preset.get("paths", ()):
        if all(_matches_any(Pattern(text, "/"), [path]) for path in paths.paths):
            draft.settings["exports"] = text
            return
    own = {str(name) for name in columns.values()} | {*preset.get("where", {})}
    keep = [n for n in table.columns if n in table.labels or not (records or n in own)]
    table = Table(table.cells[keep], table.options, table.labels)
    named = {role for role in NAMES if role in columns or f"{{{role}}}" in records}
    named |= {*preset.get("fields", {})}
    found = assign_roles(table, taken={*named, "split", "step"} - {*weak})
    renamed = _settle_names(table, found, [])
    _put_names(draft, found)
    scores = [] if "score" in columns or records else list_scores(table, found.values())
    if best := max(scores, key=rate_score, default=None):
        _put_score(draft, best, scores)
        _put_metric(draft, [best.name], paths.paths)
    _put_constants(draft, paths, {*found, *named})
    draft.settings["exports"] = paths.write(renamed)


def _draft_table(draft: Draft, paths: Paths, table: Table) -> None:
    """Draft settings of files that no preset is for."""
    table = _leave_unfinished(draft, table)
    roles: dict[str, Any] = {**assign_roles(table)}
    if {"model", "dataset"} <= {*roles} and not (is_named(table, roles) or table.labels):
        text = (
            f"Are {quote_name(roles['model'])} models, and {quote_name(roles['dataset'])} datasets?"
        )
        draft.note("columns", "decide", text)
    scores = list_scores(table, roles.values())
    best = choose_score(table, roles, scores) if scores else []
    chosen = _choose_rows(draft, table, roles)
    variants = _choose_variants(draft, chosen, roles)
    renamed = _settle_names(table, roles, variants)
    table, parts = table.rename(renamed), [renamed.get(name, name) for name in variants]
    taken = [*(name for name in roles.values() if isinstance(name, str)), *parts]
    scores = list_scores(table, taken)
    if not scores:
        raise ConfigError(
            f"{paths.paths[0]}: no column holds scores; its columns are "
            f"{list_names(list(table.columns))}."
        )
    best = [renamed.get(name, name) for name in best] or choose_score(table, roles, scores)
    if len(best) > 1:
        pattern, said = read_heads(best, {"model": "", "dataset": ""})
        is_pattern = {*said} == {"metric"} and pattern != "{metric}"
        text = "Each row fills one of these columns: the metric of its dataset."
        draft.put("columns", {"score": pattern if is_pattern else best}, "found", text)
    elif best:
        _draft_long(draft, paths, table, roles, best[0])
    else:
        _draft_wide(draft, paths, table, roles, scores)
    _put_reading(draft, table)
    _put_names(draft, roles)
    _put_variants(draft, chosen.rename(renamed), roles, parts)
    _put_constants(draft, paths, {*roles})
    draft.settings["exports"] = paths.write(renamed)
    _put_steps(draft, table, roles)


def _leave_unfinished(draft: Draft, table: Table) -> Table:
    """Leave out runs that failed or still go on, where a column says so."""
    for name, column in table.columns.items():
        states = {text.casefold() for text in column.names}
        is_status = split_words(name)[-1:] in (["status"], ["state"]) and not column.is_field
        left = states - WORDS["finished"]
        if not is_status or not left or not left <= WORDS["unfinished"] or left == states:
            continue
        rows = column.texts.str.casefold().isin(WORDS["finished"])
        kept = sorted(column.texts[rows].unique())
        count = count_things(int((~rows).sum()), "row")
        text = f"By {quote_name(name)}, {count} of {len(rows)} read for this draft are left out."
        draft.put("where", {name: kept[0] if len(kept) == 1 else kept}, "guess", text)
        return table.select(rows)
    return table


def _choose_rows(draft: Draft, table: Table, roles: dict[str, str]) -> Table:
    """Keep the rows of one split, one metric per dataset and one protocol of a row per run."""
    if (split := roles.get("split")) and (best := name_split(table.columns[split].names)):
        names = sorted(table.columns[split].names)
        text = f"Of the splits {list_names(names)} one is reported."
        several = sum("test" in split_words(name) for name in names) > 1
        draft.put("where", {split: best}, "decide" if several else "guess", text)
        table = table.select(table.cells[split] == best)
    metric, dataset = roles.get("metric"), roles.get("dataset")
    if metric and table.count([metric, *filter(None, [dataset])]) > table.count(
        [dataset] if dataset else []
    ):
        table = _choose_value(draft, table, metric, dataset)
    keys = [name for role, name in roles.items() if role != "split"]
    for name, column in list(table.columns.items()):
        is_free = name not in roles.values() and not column.is_number and len(column.names) > 1
        is_protocol = is_free and not column.is_field and rate_role(name, "protocol") >= 2
        if is_protocol and table.count([*keys, name]) > table.count(keys):
            table = _choose_value(draft, table, name, dataset)
    return table


def _choose_value(draft: Draft, table: Table, name: str, dataset: str | None) -> Table:
    """Keep one metric or protocol: of those of most datasets a known merit, or of most rows."""
    rows = table.cells.loc[table.cells[name] != "", name].value_counts()
    places = table.cells.groupby(name)[dataset].nunique() if dataset else rows
    often = [value for value in rows.index if places[value] >= RARE * places.max()]
    merits = [value for value in often if _is_merit(value)]
    best = max(merits or often, key=lambda own: (has_word(own, {"test"}), rows[own]))
    others = [f"{quote_name(value)} ({rows[value]})" for value in rows.index if value != best]
    text = (
        f"Of {quote_name(name)}, {quote_name(best)} ({count_things(int(rows[best]), 'row')}) is "
        f"taken; there are also {', '.join(others)}."
    )
    kept = table.select(table.cells[name] == best)
    lacking = {*table.cells[dataset]} - {*kept.cells[dataset]} if dataset else set[str]()
    text += f" It is not given for {list_names(sorted(lacking))}." if lacking else ""
    draft.put("where", {name: best}, "guess" if len(merits) == 1 else "decide", text)
    return kept


def _is_merit(name: str) -> bool:
    known = find_metric(find_known(name)) if find_known(name) else None
    return known is not None and known.direction == "max"


def _choose_variants(draft: Draft, table: Table, roles: dict[str, Any]) -> list[str]:
    """Find what distinguishes rows of the same names: seeds, or parts of the names of models."""
    if "model" not in roles:
        return []
    is_log = "step" in roles or bool(table.options.names)
    is_log |= any(rate_role(name, "step") >= 2 for name in table.columns)
    names = [name for role, name in roles.items() if role != "split"]
    variants = find_variants(table, names, only_fields=is_log)
    seeds = [name for name in variants if _is_seed(table.columns[name], roles)]
    if seeds:
        rest = [name for name in [*names, *variants] if name != roles.get("seed")]
        is_needed = table.count([*names, *variants]) > table.count(rest)
        own = [roles["seed"], *seeds] if is_needed and "seed" in roles else seeds
        own = [name for name in table.columns if name in own]
        roles["seed"] = own if len(own) > 1 else own[0]
        said = [table.labels.get(name, name) or "part of path" for name in own]
        text = f"Runs are told apart by {list_names(said)}: this is taken as seed."
        draft.note("columns", "guess", text)
    return [name for name in variants if name not in seeds]


def _is_seed(column: Column, roles: Mapping[str, Any]) -> bool:
    is_number = column.is_field and column.is_whole and "seed" not in roles
    name = column.name if column.label is None else column.label
    return rate_role(name, "seed") == 3 or is_number


def _settle_names(table: Table, roles: dict[str, Any], variants: Sequence[str]) -> dict[str, str]:
    """Name columns whose names are free after their roles: of paths, and without header."""
    invented = table.options.names
    free = {*table.labels, *invented}
    renamed = {name: role for role, name in roles.items() if isinstance(name, str) and name in free}
    parts = [name for name in variants if name in free]
    parts += [n for name in roles.values() if isinstance(name, list) for n in name if n in free]
    renamed |= {name: f"variant{place or ''}" for place, name in enumerate(parts)}
    scores = list_scores(table, renamed) if invented else []
    if scores:
        renamed[scores[-1].name] = "score"
    if len(scores) > 1 and scores[0].is_whole and "step" not in roles:
        renamed[scores[0].name] = roles["step"] = "step"
    for role, name in roles.items():
        is_list = isinstance(name, list)
        roles[role] = [renamed.get(n, n) for n in name] if is_list else renamed.get(name, name)
    return renamed


def _put_score(draft: Draft, best: Column, scores: Sequence[Column]) -> None:
    """Put the column of scores, and ask where others may be it."""
    rivals = list_rivals(best, scores)
    text = f"Scores are in {quote_name(best.name)}."
    if rivals:
        text = f"Scores are in {quote_name(best.name)}: are they, or in {list_names(rivals)}?"
    elif has_word(best.name, WORDS["training"]):
        text = f"Scores are in {quote_name(best.name)}, of training: is there no test?"
        rivals = [best.name]
    if rivals or best.name != "score":
        draft.put("columns", {"score": best.name}, "decide" if rivals else "guess", text)


def _put_metric(
    draft: Draft, columns: Sequence[str], paths: Sequence[str], corner: str = ""
) -> None:
    """Put the metric of all files: that of their columns, of the corner above, or of paths."""
    stems = [PurePath(path).name.partition(".")[0] for path in paths]
    places = (columns, [corner], stems)
    if len(columns) == 1 and not _is_plain(columns[0]):
        known = "" if is_change(split_words(columns[0])) else find_known(columns[0])
        metric = known or _name_metric(columns) or columns[0]
        draft.put("metric", metric, "found", "The metric is that of the column.")
    elif named := next(((_name_metric(n), n) for n in places if _name_metric(n)), None):
        metric, names = named
        # Another word is rather a part of names, such as error in error detection.
        is_sure = find_metric(metric) is not None or all(
            split_words(name)[-1:] == split_words(metric)[-1:] for name in names
        )
        text = f"Is {quote_name(metric)} the metric, or part of a name?"
        text = f"The metric is called {quote_name(metric)}." if is_sure else text
        draft.put("metric", metric, "guess" if is_sure else "decide", text)
    elif all(ARROW in name for name in columns):
        draft.put("metric", "error", "guess", "Arrows say that lower is better.")
    else:
        draft.put("metric", UNNAMED, "guess", "No metric is named; any name will do.")
        draft.is_undirected = not any(all(map(guess_direction, names)) for names in places)


def _name_metric(names: Sequence[str]) -> str:
    """Name the metric that all names speak of; "" where they speak of none."""
    complements = {find_complement(name)[0] for name in names}
    if len(complements) == 1 and complements != {""}:
        return complements.pop()
    shared = [w for w in split_words(names[0]) if all(has_word(name, {w}) for name in names)]
    if is_change(shared):
        return " ".join(shared)
    known = [word for word in shared if find_metric(word)]
    known += [word for word in shared if guess_direction(word) and not _is_plain(word)]
    return known[0] if known else ""


def _is_plain(name: str) -> bool:
    """Whether a name of scores says nothing of them."""
    return all(
        word in SPLITS or rate_role(word, "score") or rate_role(word, "metric")
        for word in split_words(name)
    )


def _draft_long(
    draft: Draft, paths: Paths, table: Table, roles: Mapping[str, str], best: str
) -> None:
    """Draft a table with a row per run."""
    _put_score(draft, table.columns[best], list_scores(table, [*map(str, roles.values())]))
    if "metric" not in roles:
        _put_metric(draft, [best], paths.paths)
    if beside := find_spread(table, best):
        draft.put("columns", beside, "found", "Each row is a mean, with its spread beside it.")
    if beside or table.columns[best].is_summary:
        _put_summary(draft, is_counted="count" in beside)


def _put_summary(draft: Draft, *, is_counted: bool = False) -> None:
    """Put that cells stand for several runs, whose number a column may say."""
    runs = {} if is_counted else {"runs": 3}
    text = f"A mean with its spread{'' if is_counted else ', of how many runs'}: is it std or sem?"
    draft.put("summary", {**runs, "spread": "std"}, "decide", text)


def _draft_wide(
    draft: Draft, paths: Paths, table: Table, roles: dict[str, Any], scores: Sequence[Column]
) -> None:
    """Draft a table with several columns of scores; `roles` gets what its rows are."""
    scores = choose_numbered(scores)
    names = [column.name for column in scores]
    _name_rows(draft, table, roles, names)
    pattern, said = read_heads(names, roles)
    is_split = {*said} == {"split"}
    if is_split or are_measures(names, roles, said):
        rated = {own.name: own for own in scores}
        best = rated[name_split(names)] if is_split else max(scores, key=rate_measure)
        if "metric" in roles and len(table.columns[roles["metric"]].names) == 1:
            del roles["metric"]
        _put_score(draft, best, [] if is_split else scores)
        _put_metric(draft, [best.name], paths.paths)
        return
    _put_heads(draft, pattern, said, names)
    taken = [name for name in roles.values() if isinstance(name, str)]
    files = [name for name in table.columns if name not in table.labels]
    if unused := [name for name in files if name not in {*taken, *names}]:
        draft.put("columns", {"ignore": unused}, "guess", "What is ignored holds no scores.")
    if "metric" not in {*said, *roles}:
        corners = [roles[role] for role in ("dataset", "model") if role in roles]
        corner = next((name for name in corners if name not in table.labels), "")
        _put_metric(draft, names, paths.paths, corner)
    if any(column.is_summary for column in scores):
        _put_summary(draft)


def _put_heads(
    draft: Draft, pattern: str, said: Mapping[str, set[str]], names: Sequence[str]
) -> None:
    """Put what the names of columns of scores say, and which of them count."""
    if pattern == "{dataset}":
        draft.put("format", "matrix", "found", "Columns are datasets.")
        return
    text = f"Columns such as {quote_name(names[0])} hold scores."
    draft.put("columns", {"score": pattern}, "found", text)
    cells = [{role: str(text) for role, text in _read(pattern, name).items()} for name in names]
    heads = Table(pd.DataFrame(cells, dtype="str"), PLAIN)
    kind = "dataset" if "dataset" in said else "model"
    if len(said.get("metric", ())) > 1 and kind in said:
        _choose_value(draft, heads, "metric", kind)
    if split := name_split(said.get("split", ())):
        text = f"Of the splits {list_names(sorted(said['split']))} one is reported."
        draft.put("where", {"split": split}, "guess", text)
    if "seed" in said and not rate_role(pattern.partition("{seed")[0], "seed"):
        text = f"The numbers {list_names(sorted(said['seed']))} are taken as runs: are they?"
        draft.note("columns", "decide" if " / " in pattern else "guess", text)


def _read(pattern: str, name: str) -> dict[str, str]:
    return Pattern(pattern).match(name) or {}


def _name_rows(draft: Draft, table: Table, roles: dict[str, Any], names: Sequence[str]) -> None:
    """Take a column of text as that of models, or datasets, where none is known."""
    texts = [own for own in table.columns.values() if not own.is_number and own.names]
    if {"model", "dataset"} & {*roles} or not texts or table.labels:
        return
    # Names stand in the first column, without a header too, and repeat less than settings.
    first, most = texts[0], max(len(own.names) for own in texts)
    rows = first if 2 * len(first.names) > most else max(texts, key=lambda own: len(own.names))
    as_models = rate_values(rows.names, "model") - rate_values(rows.names, "dataset")
    as_models += rate_values(names, "dataset") - rate_values(names, "model")
    kind = "dataset" if as_models < 0 else "model"
    roles[kind] = rows.name
    if abs(as_models) < SURE:
        text = f"Are the rows {kind}s? No name says so."
        draft.note("columns", "decide" if as_models else "guess", text)


def _put_reading(draft: Draft, table: Table) -> None:
    """Put how the files are read."""
    reading = {
        name: list(value) if name == "names" else value
        for name, value in vars(table.options).items()
        if value and value != getattr(PLAIN, name)
    }
    if count := reading.pop("header_rows", 0):
        draft.put("header_rows", count, "found", "Names of columns stand in several rows.")
    texts = {
        "names": "The tables have no header.",
        "sheet": "Of several tables, this one holds most numbers.",
    }
    if reading:
        draft.settings["reading"] = reading
    for name in reading.keys() & texts:
        draft.note("reading", "guess", texts[name])


def _put_names(draft: Draft, roles: Mapping[str, Any]) -> None:
    """Put the columns of names that are not called after their roles."""
    columns = {role: roles[role] for role in NAMES if roles.get(role, role) != role}
    if columns:
        draft.settings["columns"] = {**columns, **draft.settings.get("columns", {})}


def _put_variants(
    draft: Draft, table: Table, roles: Mapping[str, Any], variants: Sequence[str]
) -> None:
    """Join columns that distinguish rows into the names of models, or of datasets."""
    parts = [name for name in variants if is_part(table, name, roles)]
    for role, own in (("dataset", parts), ("model", [n for n in variants if n not in parts])):
        if not own:
            continue
        settings = [n for n in own if n not in table.labels and not has_word(n, WORDS["variants"])]
        is_open = role == "model" and bool(settings)
        text = (
            f"Rows of one name are told apart by {list_names(own)}, which is made part of {role}s."
        )
        if is_open:
            name, values = settings[0], sorted(table.columns[settings[0]].names)
            text += (
                f" Is it, or is one setting to be chosen, as with where: {{{name}: {values[0]}}}, "
                "or does it say which run it is (columns: seed)?"
            )
        draft.put("columns", {role: [roles[role], *own]}, "decide" if is_open else "guess", text)
    columns = draft.settings.get("columns", {})
    if "ignore" in columns:
        columns["ignore"] = [name for name in columns["ignore"] if name not in variants]


def _put_constants(draft: Draft, paths: Paths, known: set[str]) -> None:
    """Put the name of the one model, or dataset, that all files are of."""
    score = str(draft.settings.get("columns", {}).get("score", ""))
    heads = score or {"matrix": "{dataset}"}.get(draft.settings.get("format", ""), "")
    for role in ("model", "dataset"):
        if role not in known and f"{{{role}}}" not in heads:
            text = f"No column or path names the {role}s, so all is of one."
            name = name_file(paths.paths[0]) if len(paths.paths) == 1 else "all"
            draft.put("fields", {role: name}, "decide", text)


def _put_steps(draft: Draft, table: Table, roles: Mapping[str, Any]) -> None:
    """Put that the last step of a log counts."""
    named = [name for role, name in roles.items() if role != "step" and isinstance(name, str)]
    if "step" in roles and table.count([*table.labels, *named]) < table.size:
        draft.put("columns", {"step": roles["step"]}, "guess", "A run has several steps.")
        draft.put("take", "last", "guess", "The row of the highest step counts.")
