"""A study drafted from its files: what they say, what is likely, and what has to be decided."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from capmap.drafting import roles as guess
from capmap.drafting import words
from capmap.drafting.draft import Certainty, Draft, settle
from capmap.drafting.roles import PART, Column, Table, read_table
from capmap.drafting.words import (
    WORDS,
    Paths,
    has_word,
    list_files,
    rate_role,
    split_words,
    write_pattern,
)
from capmap.errors import ConfigError
from capmap.exports.files import PLAIN, has_suffix
from capmap.exports.sheets import NESTED
from capmap.metrics import find_metric
from capmap.patterns import Pattern
from capmap.settings.files import list_presets
from capmap.wording import count_things, list_names, quote_name

NAMES = ("model", "dataset", "metric", "seed")
# What scores are called of which no name says the metric.
UNNAMED = "score"
# A metric, or protocol, with a smaller part of the datasets of another is not proposed, nor is a
# metric that is so much worse than another a rival of it.
RARE = 0.5
# A part that is left out, or missing, and is told without a question.
FEW = 0.2
CLEARLY = 0.4


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
    table, asked = read_table(paths)
    if asked:
        draft.note("reading", "decide", asked)
    for name, preset in list_presets().items():
        if exports := _fit_preset(preset, paths, table):
            draft.put("preset", name, "found", "The files are of this kind.")
            draft.settings["exports"] = exports
            _note_metrics(draft, table, preset)
            break
    else:
        _draft_table(draft, paths, table)
    settle(draft, others)
    return draft


def _fit_preset(preset: Mapping[str, Any], paths: Paths, table: Table) -> str | list[str]:
    """Write the exports of files that a preset reads; "" where it does not."""
    known = [Pattern(text) for text in preset.get("known_by", ())]
    if not known or not all(_matches_any(pattern, table.columns) for pattern in known):
        return ""
    for text in preset.get("paths", ()):
        depth = text.count("/") + 1
        ends = ["/".join(path.split("/")[-depth:]) for path in paths.paths]
        if all(Pattern(text, "/").match(end) for end in ends):
            roots = {path.removesuffix(end) for path, end in zip(paths.paths, ends, strict=True)}
            return f"{roots.pop() if len(roots) == 1 else '**/'}{text}"
    return "" if "paths" in preset else paths.write({})


def _matches_any(pattern: Pattern, names: Iterable[str]) -> bool:
    return any(pattern.match(name) is not None for name in names)


def _note_metrics(draft: Draft, table: Table, preset: Mapping[str, Any]) -> None:
    """Note which other metrics than that of a preset there are, and what has not that one."""
    records = preset.get("reading", {}).get("records", "")
    metric = preset.get("where", {}).get("metric", "")
    if not (metric and "{metric}" in records):
        return
    pattern = Pattern(records.replace("{metric}", "{metric,[^.,]+}"))
    numbers = [name for name, own in table.columns.items() if own.is_number]
    found = [said for name in numbers if (said := pattern.match(name))]
    found = [said for said in found if not words.is_beside(said["metric"])]
    others = sorted({said["metric"] for said in found} - {metric})
    every = {said.get("dataset", "") for said in found}
    lacking = every - {said.get("dataset", "") for said in found if said["metric"] == metric}
    text = f"Of metrics, {quote_name(metric)} is taken; there are {list_names(others)}."
    text += f" It is not given for {list_names(sorted(lacking))}." if lacking else ""
    if others:
        draft.note("preset", "decide" if len(lacking) > FEW * len(every) else "guess", text)


def _draft_table(draft: Draft, paths: Paths, table: Table) -> None:
    """Draft settings of files that no preset is for."""
    table = _leave_unfinished(draft, table)
    roles = guess.name_columns(table)
    columns = [own for own in guess.list_scores(table, roles.values()) if own.filled]
    if not columns:
        raise ConfigError(
            f"{paths.paths[0]}: no column holds scores; its columns are "
            f"{list_names(list(table.columns))}."
        )
    scores = guess.choose_scores(columns, roles)
    left = [own for own in columns if own not in scores]
    whole, table = table, guess.melt(table, scores, roles)
    if "metric" in table.labels.values() and table.count([roles.get("metric", PART)]) == 1:
        roles["metric"] = f"{PART}0"
    roles |= guess.name_columns(table, taken=roles)
    if asked := guess.fill_gaps(table, roles):
        draft.note("columns", "decide", asked)
    if {"model", "dataset"} <= {*roles}:
        roles["model"] = guess.narrow(table, roles)
    table = _choose_rows(draft, table, roles)
    names = _join_names(draft, table, roles)
    _put_scores(draft, paths, table, names, [own.name for own in scores])
    _limit_heads(draft, table, [own.name for own in left])
    if any(own.is_summary for own in scores):
        _put_summary(draft)
    odd = [own.name for own in left if not own.is_whole or own.largest <= guess.PERCENT]
    odd = list(dict.fromkeys([*odd, *guess.list_alike(whole, scores)]))
    if odd and draft.settings.get("columns", {}).get("ignore"):
        text = f"Are {list_names(odd)} scores? Other columns of scores are of another kind."
        draft.note("columns", "decide", text)
    _put_reading(draft, table)
    _put_constants(draft, paths, names)
    _finish(draft, paths, table, names)


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


def _choose_rows(draft: Draft, table: Table, roles: Mapping[str, Any]) -> Table:
    """Keep the rows of one split, of one metric for each dataset, and of one protocol."""
    split, metric = roles.get("split"), roles.get("metric")
    if split and (best := guess.name_split(table.columns[split].names)):
        names = sorted(table.columns[split].names)
        text = f"Of the splits {list_names(names)} one is reported."
        several = sum("test" in split_words(name) for name in names) > 1
        several |= any(has_word(name, WORDS["training"]) for name in names) and not has_word(
            best, {"test", "holdout"}
        )
        draft.put("where", {split: best}, "decide" if several else "guess", text)
        table = table.select(table.cells[split] == best)
    keys = [roles[role] for role in ("model", "dataset", "seed") if role in roles]
    datasets = [roles["dataset"]] if "dataset" in roles else []
    if metric and table.count([metric, *datasets]) > table.count(datasets):
        table = _choose_value(draft, table, metric, datasets)
    if len(table.pieces) == 1 and f"{PART}0" not in roles.values():
        table = _choose_value(draft, table, f"{PART}0", datasets)
    for name, column in list(table.columns.items()):
        is_text = not column.is_number and not column.is_field and name not in roles.values()
        is_protocol = is_text and rate_role(name, "protocol") >= 2
        if is_protocol and table.count([*keys, name]) > table.count(keys):
            table = _choose_value(draft, table, name, datasets)
    return table


def _choose_value(draft: Draft, table: Table, name: str, datasets: Sequence[str]) -> Table:
    """Keep one metric or protocol: of those of most datasets a known merit, or of most rows."""
    rows = table.cells.loc[table.cells[name] != "", name].value_counts(sort=False)
    places = table.cells.groupby(name)[datasets[0]].nunique() if datasets else rows
    often = [value for value in rows.index if places[value] >= RARE * places.max()]

    def rate(value: str) -> tuple[float, bool, int]:
        is_merit = words.guess_direction(words.find_known(value) or value) == "max"
        return words.rate_score(value), is_merit, int(rows[value])

    best = max(often, key=rate)
    rivals = [v for v in often if v != best and rate(v)[0] >= min(rate(best)[0] - CLEARLY, 9)]
    rivals = [v for v in rivals if rate(v)[0] or not rate(best)[0]]
    kept = table.select(table.cells[name] == best)
    others = ", ".join(f"{quote_name(v)} ({rows[v]})" for v in rows.index if v != best)
    place = "columns of scores" if name in table.labels else quote_name(name)
    text = f"Of {place}, {quote_name(best)} ({rows[best]} rows) is taken; there are {others}."
    text += " Is it right?" if rivals else ""
    if datasets and (lacking := {*table.cells[datasets[0]]} - {*kept.cells[datasets[0]]}):
        text += f" It is not given for {list_names(sorted(lacking))}."
    draft.put("where", {name: best}, "decide" if rivals else "guess", text)
    return kept


def _join_names(draft: Draft, table: Table, roles: Mapping[str, str]) -> dict[str, list[str]]:
    """Join to seeds, datasets and models the columns that distinguish rows of the same names."""
    names = {role: [name] for role, name in roles.items()}
    is_log = bool(table.options.names) or any(rate_role(n, "step") >= 2 for n in table.columns)
    keys = [name for role, name in roles.items() if role != "split"]
    variants = guess.find_variants(table, keys, only_fields=is_log) if "model" in roles else []
    seeds = [name for name in variants if _is_seed(table.columns[name])]
    if seeds:
        rest = [name for name in [*keys, *variants] if name != roles.get("seed")]
        is_needed = table.count([*keys, *variants]) > table.count(rest)
        own = [roles.get("seed"), *seeds] if is_needed else seeds
        names["seed"] = [name for name in table.columns if name in own]
        text = f"Runs are told apart by {_say(table, names['seed'])}: this is taken as seed."
        draft.note("columns", "guess", text)
    parts = [name for name in variants if guess.is_part(table, name, roles)]
    others = [name for name in variants if name not in {*parts, *seeds}]
    for role, own in (("dataset", parts), ("model", others)):
        if not own:
            continue
        names[role] = [roles[role], *own]
        text = f"Rows of one name are told apart by {_say(table, own)}: it is made part of {role}s."
        unsure = [n for n in own if n not in table.labels and not has_word(n, WORDS["variants"])]
        if is_open := role == "model" and bool(unsure):
            value = min(table.columns[unsure[0]].names)
            text += (
                f" Is it, or is one setting to be chosen, as with where: {{{unsure[0]}: {value}}}, "
                "or does it say which run it is (columns: seed)?"
            )
        draft.note("columns", "decide" if is_open else "guess", text)
    return names


def _say(table: Table, names: Sequence[str]) -> str:
    return list_names([table.labels.get(name, name) or "part of path" for name in names])


def _is_seed(column: Column) -> bool:
    is_number = column.is_field and column.is_whole
    name = column.name if column.label is None else column.label
    is_split = rate_role(name, "split") == 3 and column.is_whole
    return rate_role(name, "seed") == 3 or is_number or is_split


def _put_scores(
    draft: Draft, paths: Paths, table: Table, roles: dict[str, list[str]], names: Sequence[str]
) -> None:
    """Put which columns hold scores."""
    where, notes = draft.settings.get("where", {}), draft.notes
    kept = [*dict.fromkeys(table.cells[PART])] if table.pieces else names
    if table.pieces and len(kept) == 1:
        # A column was chosen, not rows.
        names = kept
        for role in [role for role, own in roles.items() if own[0].startswith(PART)]:
            del roles[role]
        for name in [name for name in where if name.startswith(PART)]:
            del where[name]
            notes["columns"] = [*notes.get("columns", []), *notes.pop("where", [])]
        if not where:
            draft.settings.pop("where", None)
    if len(names) == 1:
        _put_column(draft, paths, table, roles, names[0])
    elif roles.get("metric") == [f"{PART}0"] and len(table.pieces) == 1:
        text = "Each row fills one of these columns: the metric of its dataset."
        draft.put("columns", {"score": [*names]}, "found", text)
        del roles["metric"]
    else:
        _put_heads(draft, paths, table, roles, names)


def _put_column(
    draft: Draft, paths: Paths, table: Table, roles: dict[str, list[str]], name: str
) -> None:
    """Put the one column of scores."""
    if name != "score":
        draft.put("columns", {"score": name}, "found", "")
    if has_word(name, WORDS["training"]):
        text = f"Scores are in {quote_name(name)}, of training: is there no test?"
        draft.note("columns", "decide", text)
    if "metric" in roles and words.guess_direction(name) == "min":
        said = {words.guess_direction(text) for text in table.columns[roles["metric"][0]].names}
        if "max" in said:
            (column,) = roles.pop("metric")
            text = (
                f"{quote_name(column)} names metrics of which higher is better, {name} is not one."
            )
            draft.note("columns", "guess", text)
    if "metric" not in roles:
        _put_metric(draft, [name], paths.paths)
    if beside := guess.find_spread(table, name):
        draft.put("columns", beside, "found", "Each row is a mean, with its spread beside it.")
        is_error = has_word(beside["spread"], {"stderr", "sem", "se", "error"})
        _put_summary(draft, is_counted="count" in beside, spread="sem" if is_error else "std")


def _put_summary(draft: Draft, *, is_counted: bool = False, spread: str = "std") -> None:
    """Put that cells stand for several runs, whose number a column may say."""
    runs = {} if is_counted else {"runs": 3}
    text = f"A mean with its spread{'' if is_counted else ', of how many runs'}: is it std or sem?"
    draft.put("summary", {**runs, "spread": spread}, "decide", text)


def _put_heads(
    draft: Draft, paths: Paths, table: Table, roles: dict[str, list[str]], names: Sequence[str]
) -> None:
    """Put what the names of several columns of scores say."""
    named = _name_fields(table, roles)
    heads = {name: text for name, text in named.items() if name.startswith(PART)}
    fields = {int(name.removeprefix(PART)): text for name, text in heads.items()}
    pattern = write_pattern(table.pieces, fields)
    if pattern == "{dataset}":
        draft.put("format", "matrix", "found", "Columns are datasets.")
    elif has_suffix(paths.paths[0], NESTED) and re.match(r"[^{}.]+\.", pattern):
        # A file without results, such as that of a failed run, has no such columns.
        draft.put("reading", {"records": pattern}, "found", "Scores stand below these keys.")
    else:
        text = f"Columns such as {quote_name(names[0])} hold scores."
        draft.put("columns", {"score": pattern}, "found", text)
    for name in heads.keys() & draft.settings.get("where", {}):
        draft.settings["where"][heads[name]] = draft.settings["where"].pop(name)
    if " / {seed" in pattern:
        draft.note("columns", "decide", "Are the numbers in the header numbers of runs?")
    used = {name for own in roles.values() for name in own}
    rest = [name for name in table.columns if name not in {*table.labels, *used}]
    if rest and len(table.pieces) == 1:
        draft.put("columns", {"ignore": rest}, "guess", "What is ignored holds no scores.")
    if "metric" not in roles:
        corners = [roles[role][0] for role in ("dataset", "model") if role in roles]
        corner = next((name for name in corners if name not in table.labels), "")
        _put_metric(draft, names, paths.paths, corner)


def _limit_heads(draft: Draft, table: Table, left: Sequence[str]) -> None:
    """Name the metrics that are read where a pattern finds other columns as well."""
    score = draft.settings.get("columns", {}).get("score")
    text = draft.settings.get("reading", {}).get("records", score)
    if not isinstance(text, str) or "{metric}" not in text:
        return
    pattern, where = Pattern(text), draft.settings.get("where", {})
    found = [(name, pattern.match(name)) for name in [*table.cells[PART].unique(), *left]]
    kept = sorted({said["metric"] for name, said in found if said and name not in left})
    if len(kept) < len({said["metric"] for _, said in found if said}) and "metric" not in where:
        text = f"Of the metrics below these keys, {list_names(kept)} are taken."
        draft.put("where", {"metric": kept}, "guess", text)


def _name_fields(table: Table, roles: Mapping[str, list[str]]) -> dict[str, str]:
    """Name parts of paths and headers after their roles, and others after variants."""
    named: dict[str, str] = {}
    for role, own in roles.items():
        for place, name in enumerate(own):
            count = sum(text.startswith("variant") for text in named.values())
            if name in table.labels:
                named[name] = f"variant{count or ''}" if place else role
    return named


def _put_metric(
    draft: Draft, columns: Sequence[str], paths: Sequence[str], corner: str = ""
) -> None:
    """Put the metric of all files: that of their columns, of the corner above, or of paths."""
    stems = [PurePath(path).name.partition(".")[0] for path in paths]
    places = (columns, [corner], stems)
    if len(columns) == 1 and not _is_plain(columns[0]):
        known = "" if words.is_turned(columns[0]) else words.find_known(columns[0])
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
    elif all("\u2193" in name for name in columns):
        draft.put("metric", "error", "guess", "Arrows say that lower is better.")
    else:
        draft.put("metric", UNNAMED, "guess", "No metric is named; any name will do.")
        directed = [all(map(words.guess_direction, names)) for names in places]
        draft.is_undirected = not any(directed)


def _name_metric(names: Sequence[str]) -> str:
    """Name the metric that all names speak of; "" where they speak of none."""
    if any(map(words.is_turned, names)):
        return ""
    shared = [w for w in split_words(names[0]) if all(has_word(name, {w}) for name in names)]
    known = [word for word in shared if find_metric(word)]
    known += [word for word in shared if words.guess_direction(word) and not _is_plain(word)]
    return known[0] if known else ""


def _is_plain(name: str) -> bool:
    """Whether a name of scores says nothing of them."""
    own = split_words(name)
    return all(w in words.SPLITS or rate_role(w, "score") or rate_role(w, "metric") for w in own)


def _put_reading(draft: Draft, table: Table) -> None:
    """Put how the files are read."""
    reading = {
        name: list(value) if name == "names" else value
        for name, value in vars(table.options).items()
        if value and value != getattr(PLAIN, name)
    }
    if count := reading.pop("header_rows", 0):
        draft.put("header_rows", count, "found", "Names of columns stand in several rows.")
    if reading:
        draft.put("reading", reading, "guess", "So the files are written.")


def _finish(draft: Draft, paths: Paths, table: Table, roles: Mapping[str, list[str]]) -> None:
    """Put the columns of names, what all files are of, and the paths."""
    named = _name_fields(table, roles)
    columns: dict[str, Any] = {}
    for role in NAMES:
        said = [named.get(name, name) for name in roles.get(role, [])]
        if said and said != [role]:
            columns[role] = said if len(said) > 1 else said[0]
    keys = [name for own in roles.values() for name in own]
    if step := guess.find_step(table, list(dict.fromkeys([*keys, *table.labels]))):
        columns["step"] = step
        draft.put("take", "last", "guess", "The row of the highest step of a run counts.")
    if columns:
        draft.settings["columns"] = {**columns, **draft.settings.get("columns", {})}
    draft.settings["exports"] = paths.write(named)


def _put_constants(draft: Draft, paths: Paths, roles: Collection[str]) -> None:
    """Put the name of the one model, or dataset, that all files are of."""
    for role in [role for role in ("model", "dataset") if role not in roles]:
        text = f"No column or path names the {role}s, so all is of one."
        is_one = len(paths.paths) == 1
        name = PurePath(paths.paths[0]).stem if is_one else "all"
        certainty: Certainty = "guess" if is_one and role == "dataset" else "decide"
        draft.put("fields", {role: name}, certainty, text)
