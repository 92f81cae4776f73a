"""A study drafted from its files: what they say, what is likely, and what has to be decided."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from capmap.drafting import words
from capmap.drafting.draft import Certainty, Draft, settle
from capmap.drafting.table import (
    CLASS_PATH,
    LIKELY,
    MOST_ROWS,
    PART,
    Column,
    Table,
    choose_scores,
    find_better,
    find_repeats,
    leave_averages,
    list_odd,
    list_scores,
    melt,
    name_columns,
    read_table,
)
from capmap.drafting.words import (
    WORDS,
    Paths,
    has_word,
    list_files,
    rate_role,
    rate_values,
    split_words,
    write_pattern,
)
from capmap.errors import ConfigError
from capmap.exports.doubts import is_attribute
from capmap.exports.records import PLAIN, has_suffix
from capmap.exports.sheets import NESTED
from capmap.metrics import find_metric
from capmap.patterns import Pattern
from capmap.settings.files import list_presets
from capmap.wording import list_names, quote_name, write_key

# A metric, or protocol, of a smaller part of the datasets than that of another is not proposed, nor
# is a metric that is so much worse than another a rival of it.
RARE = 0.5
CLEARLY = 0.4
# The share of the rows that a step tells apart, and how many more pairs than names models and
# datasets have at least.
MOSTLY_APART = 0.9
CROSSED = 1.2


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
            if metric := preset.get("where", {}).get("metric"):
                text = f"Of metrics, {quote_name(metric)} is read. Are there datasets without it?"
                draft.note("preset", "decide", text)
            break
    else:
        _draft_table(draft, paths, table)
    settle(draft, others)
    return draft


def _fit_preset(preset: Mapping[str, Any], paths: Paths, table: Table) -> str | list[str]:
    """Write the exports of files that a preset reads; "" where it does not."""
    known = [Pattern(text) for text in preset.get("known_by", ())]
    if not known or not all(_match_any(pattern, table.columns) for pattern in known):
        return ""
    for text in preset.get("paths", ()):
        depth = text.count("/") + 1
        ends = ["/".join(path.split("/")[-depth:]) for path in paths.paths]
        if all(Pattern(text, "/").match(end) for end in ends):
            roots = {path.removesuffix(end) for path, end in zip(paths.paths, ends, strict=True)}
            return f"{roots.pop() if len(roots) == 1 else '**/'}{text}"
    return "" if "paths" in preset else paths.write({})


def _match_any(pattern: Pattern, names: Iterable[str]) -> bool:
    return any(pattern.match(name) is not None for name in names)


def _draft_table(draft: Draft, paths: Paths, table: Table) -> None:
    """Draft settings of files that no preset is for."""
    _ask_unfinished(draft, table)
    roles = name_columns(table)
    columns = list_scores(table, roles.values())
    if not columns:
        raise ConfigError(
            f"{paths.paths[0]}: no column holds scores; its columns are "
            f"{list_names(list(table.columns))}."
        )
    scores = leave_averages(choose_scores(columns, roles))
    odd = list_odd(table, scores, roles.values())
    draft.better = find_better(table, scores)
    if "seed" not in roles and (repeats := find_repeats(table, scores)):
        roles["seed"] = repeats
        text = f"{quote_name(repeats)} numbers runs, as scores do not change with it."
        draft.note("columns", "guess", text)
    table = melt(table, scores, roles)
    if "metric" in table.labels.values() and table.count([roles.get("metric", PART)]) == 1:
        roles["metric"] = f"{PART}0"
    roles |= name_columns(table, taken=roles)
    if asked := _fill_gaps(table, roles):
        draft.note("columns", "decide", asked)
    table = _choose_rows(draft, table, roles)
    names = _join_names(draft, table, roles)
    _put_scores(draft, paths, table, names, [own.name for own in scores])
    if any(own.is_summary for own in scores):
        _put_summary(draft)
    if odd and draft.settings.get("columns", {}).get("ignore"):
        draft.note("columns", "decide", f"Are {list_names(odd)} scores? They are not read.")
    _put_reading(draft, table)
    _put_names(draft, paths, table, names)


def _ask_unfinished(draft: Draft, table: Table) -> None:
    """Ask about runs that failed or still go on, where a column says so."""
    for name, column in table.columns.items():
        left = [text for text in column.names if text.casefold() in WORDS["unfinished"]]
        if left and split_words(name)[-1:] in (["status"], ["state"]):
            text = f"{quote_name(name)} says {list_names(sorted(left))}. Do these runs count? If "
            text += f"not, where: {{{write_key(name)}: …}} with what it says of the others."
            draft.note("where", "decide", text)


def _fill_gaps(table: Table, roles: dict[str, str]) -> str:
    """Let parts of paths and headers, and columns of text, be what no name says; return a doubt."""
    free = [own for name, own in table.columns.items() if name not in roles.values()]
    fields = [own for own in free if own.is_field and own.label != "metric"]
    paths = [own for own in fields if not own.name.startswith(PART)]
    heads = [own for own in fields if own.name.startswith(PART)]
    rows = [own for own in free if not own.is_field and not own.is_number and len(own.names) > 1]
    # The first column of text that says something else in each row of the files may be an index.
    size = table.count([name for name in table.columns if name not in table.labels])
    keys = [own for own in rows if len(own.names) == size]
    rows = [own for own in rows if not _is_of_rows(own, table)] or ([] if paths else keys[:1])
    rows.sort(key=lambda own: -len(own.names))
    missing = [role for role in ("model", "dataset") if role not in roles]
    asked = ""
    ordered = fields if len(fields) > 1 else [*rows[:1], *fields]
    if len(missing) == 2 and ordered:
        first, *others = ordered[:2]
        lean = _lean(first) - sum(map(_lean, others))
        missing = missing[::-1] if lean < 0 else missing
        if abs(lean) < LIKELY and (lean or first.is_field):
            asked = f"Are {list_names(sorted(first.names)[:3])} {missing[0]}s? No name says so."
        roles[missing.pop(0)] = first.name
    known = [table.columns[roles[role]] for role in ("model", "dataset") if role in roles]
    dense = [own for own in rows if any(_is_crossed(table, own, other) for other in known)]
    for column in dict.fromkeys([*paths, *dense, *heads, *rows]):
        known = [table.columns[roles[role]] for role in ("model", "dataset") if role in roles]
        if not missing or column in known or _repeat(table, column, known):
            continue
        if not column.is_field and len(rows) > 1:
            asked = f"Are {column.name!r} {missing[0]}s? No name says so."
        roles[missing.pop(0)] = column.name
    return asked


def _lean(column: Column) -> float:
    """How much rather names look like those of models than of datasets, from -1 to 1."""
    # An average is one over datasets.
    is_averaged = any(map(words.is_average, column.names))
    return rate_values(column.names, "model") - rate_values(column.names, "dataset") - is_averaged


def _is_crossed(table: Table, column: Column, other: Column) -> bool:
    """Whether most values of two columns stand beside each other."""
    sizes = len(column.names), len(other.names)
    return min(sizes) > 1 and 2 * table.count([column.name, other.name]) >= sizes[0] * sizes[1]


def _repeat(table: Table, column: Column, others: Sequence[Column]) -> bool:
    """Whether a column differs nearly as another does, as names of models and datasets do not."""
    sizes = [max(len(own.names), len(column.names)) for own in others]
    counts = [table.count([column.name, own.name]) for own in others]
    return any(1 < n < CROSSED * size for size, n in zip(sizes, counts, strict=True))


def _is_of_rows(column: Column, table: Table) -> bool:
    """Whether a column of text names rows, classes or protocols, rather than models."""
    size, count = len(table.cells), len(column.names)
    is_protocol = rate_role(column.name, "protocol") >= 2 or is_attribute(column.name)
    is_key = split_words(column.name)[-1:] == ["id"] and 2 * count <= size
    is_metadata = words.is_metadata(column.name) and not is_key
    is_path = all(map(CLASS_PATH.fullmatch, column.names))
    return count == size > MOST_ROWS or is_protocol or is_metadata or is_path


def _choose_rows(draft: Draft, table: Table, roles: dict[str, str]) -> Table:
    """Keep the rows of one split, of one metric for each dataset, and of one protocol."""
    keys = [roles[role] for role in ("model", "dataset", "seed") if role in roles]
    metric, split = roles.get("metric", ""), roles.get("split", "")
    datasets = [roles["dataset"]] if "dataset" in roles else []
    if split and len(table.columns[split].names) > 1:
        table = _choose_value(draft, table, roles, split)
    # A chosen split may have left one column of scores, whose header names no metric any more.
    if metric in table.columns and table.count([metric, *datasets]) > table.count(datasets):
        table = _choose_value(draft, table, roles, metric)
    if len(table.pieces) == 1 and f"{PART}0" not in roles.values():
        table = _choose_value(draft, table, roles, f"{PART}0")
    for name, column in list(table.columns.items()):
        is_text = not column.is_number and not column.is_field and name not in roles.values()
        is_protocol = is_text and rate_role(name, "protocol") >= 2
        if is_protocol and table.count([*keys, name]) > table.count(keys):
            table = _choose_value(draft, table, roles, name)
    for role in [role for role, name in roles.items() if name not in table.columns]:
        del roles[role]
    return table


def _choose_value(draft: Draft, table: Table, roles: dict[str, str], name: str) -> Table:
    """Keep one split, metric or protocol: of those of most datasets a known merit, or most rows."""
    datasets = [roles["dataset"]] if "dataset" in roles else []
    rows = table.cells.loc[table.cells[name] != "", name].value_counts(sort=False)
    places = table.cells.groupby(name)[datasets[0]].nunique() if datasets else rows
    often = [value for value in rows.index if places[value] >= RARE * places.max()]

    def rate(value: str) -> tuple[float, bool, int]:
        is_merit = words.guess_direction(words.find_known(value) or value) == "max"
        own = [own in split_words(value) for own in words.SPLITS]
        by_split = (len(own) - own.index(True)) / len(own) if any(own) else 0
        rating = words.rate_score(value) + by_split + words.rate_primary(value)
        return rating, is_merit, int(rows[value])

    best = max(often, key=rate)
    rivals = [v for v in often if v != best and rate(v)[0] >= rate(best)[0] - CLEARLY]
    if usual := words.rate_primary(best):
        is_plain = words.find_known(best).casefold() in words.PRIMARY
        rivals = [v for v in rivals if words.rate_primary(v) == usual and not is_plain]
    kept = table.select(table.cells[name] == best)
    others = ", ".join(f"{quote_name(v)} ({rows[v]})" for v in rows.index if v != best)
    place = "columns of scores" if name in table.labels else quote_name(name)
    text = f"Of {place}, {quote_name(best)} ({rows[best]} rows) is taken; there are {others}."
    text += " Is it right?" if rivals else ""
    if datasets and (lacking := {*table.cells[datasets[0]]} - {*kept.cells[datasets[0]]}):
        text += f" It is not given for {list_names(sorted(lacking))}."
    certainty: Certainty = "decide" if rivals else "guess"
    if table.pieces and len(kept.cells[PART].unique()) == 1:
        # A column was chosen, not rows: its header says nothing more.
        draft.note("columns", certainty, text)
        return kept.leave_headers()
    role = next((role for role, own in roles.items() if own == name), name)
    draft.put("where", {role if name in table.labels else name: best}, certainty, text)
    return kept


def _join_names(draft: Draft, table: Table, roles: Mapping[str, str]) -> dict[str, list[str]]:
    """Join to seeds, datasets and models the columns that distinguish rows of the same names."""
    names = {role: [name] for role, name in roles.items()}
    keys = [name for role, name in roles.items() if role != "split"]
    variants = _find_variants(table, keys) if "model" in roles else []
    seeds = [name for name in variants if _is_seed(table.columns[name])]
    if seeds:
        names["seed"] = [name for name in table.columns if name in {roles.get("seed"), *seeds}]
        text = f"Runs are told apart by {_say(table, names['seed'])}: this is taken as seed."
        draft.note("columns", "guess", text)
    parts = [name for name in variants if _is_part(table, name, roles)]
    others = [name for name in variants if name not in {*parts, *seeds}]
    for role, own in (("dataset", parts), ("model", others)):
        if not own:
            continue
        names[role] = [roles[role], *own]
        text = f"Rows of one name are told apart by {_say(table, own)}: it is made part of {role}s."
        unsure = [n for n in own if n not in table.labels and not has_word(n, WORDS["variants"])]
        # Numbers that tell rows of models apart may be the datasets where none is named.
        unsure += [n for n in own if table.columns[n].is_number and "dataset" not in roles]
        if is_open := role == "model" and bool(unsure):
            text += " Or is one to be chosen (where), or does it say which run it is (seed)?"
        draft.note("columns", "decide" if is_open else "guess", text)
    return names


def _say(table: Table, names: Sequence[str]) -> str:
    return list_names([table.labels.get(name, name) or "part of path" for name in names])


def _find_variants(table: Table, names: Sequence[str]) -> list[str]:
    """Find the columns that distinguish rows of the same names, such as settings of models.

    Parts of paths come first, then columns of text, then of numbers that are settings; none is
    needed that tells no further rows apart. Rows of one log may repeat.
    """
    is_log = bool(table.options.names) or bool(_find_step(table, names))
    free = [
        own
        for name, own in table.columns.items()
        if name not in names
        and (own.is_field or (_may_name(own, table) and not (is_log and own.is_number)))
    ]
    free.sort(key=lambda own: (not own.is_field, own.is_number, len(own.names)))
    chosen: list[str] = []
    for column in free:
        known = [*names, *chosen]
        if table.count([*known, column.name]) > table.count(known):
            chosen.append(column.name)
    for name in chosen[:-1]:
        rest = [other for other in chosen if other != name]
        if table.count([*names, *rest]) == table.count([*names, *chosen]):
            chosen = rest
    return chosen


def _find_step(table: Table, names: Sequence[str]) -> str:
    """Find the column of the steps at which runs of some names were evaluated, or say none."""
    if table.count(names) == len(table.cells):
        return ""
    for name, column in table.columns.items():
        is_step = column.is_number and rate_role(name, "step") >= 2 and not has_word(name, {"best"})
        is_shared = 1 < len(column.names) <= len(table.cells) / 2
        told = table.count([*names, name]) if is_step and is_shared and name not in names else 0
        if told >= MOSTLY_APART * len(table.cells):
            return name
    return ""


def _may_name(column: Column, table: Table) -> bool:
    """Whether a column may be part of names: words, or numbers of a setting, such as the shots."""
    count, name, size = len(column.names), column.name, len(table.cells)
    if words.is_metadata(name) or not 1 < count < size:
        return False
    if not column.is_number:
        return column.share == 0
    is_other = words.is_statistic(name) or words.is_average(name) or words.rate_score(name) > 0
    return not is_other and 2 * count <= size


def _is_seed(column: Column) -> bool:
    name = column.name if column.label is None else column.label
    is_number = column.is_whole and (column.is_field or rate_role(name, "split") == 3)
    return rate_role(name, "seed") == 3 or is_number


def _is_part(table: Table, name: str, roles: Mapping[str, str]) -> bool:
    """Whether what a column names is of one dataset each, but of several models."""
    if not {"model", "dataset"} <= {*roles} or len(table.columns[roles["dataset"]].names) < 2:
        return False
    of_models, of_datasets = (table.count([name, roles[role]]) for role in ("model", "dataset"))
    return table.count([name]) == of_datasets < of_models


def _put_scores(
    draft: Draft, paths: Paths, table: Table, roles: dict[str, list[str]], names: Sequence[str]
) -> None:
    """Put which columns hold scores."""
    if PART in table.cells and not table.pieces:
        names = table.cells[PART].unique().tolist()
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
        # A column of errors beside the names of merits holds no merits.
        roles.pop("metric")
    if "metric" not in roles:
        _put_metric(draft, [name], paths.paths)
    if beside := _find_spread(table, name):
        draft.put("columns", beside, "found", "Each row is a mean, with its spread beside it.")
        is_error = has_word(beside["spread"], {"stderr", "sem", "se", "error"})
        _put_summary(draft, is_counted="count" in beside, spread="sem" if is_error else "std")


def _find_spread(table: Table, score: str) -> dict[str, str]:
    """Find the columns of the spread and the number of the runs behind a column of means."""
    own, found = split_words(score), dict[str, str]()
    rests: tuple[list[str], ...] = ([], own, own[:-1], own[1:])
    for role in ("spread", "count"):
        for name, column in table.columns.items():
            said = split_words(name)
            rest = [word for word in said if word not in words.ROLES[role]]
            is_beside_it = (rest != said and rest in rests) or "".join(said) in words.ROLES[role]
            if column.is_number and name != score and is_beside_it:
                found.setdefault(role, name)
    return found if "spread" in found else {}


def _put_summary(draft: Draft, *, is_counted: bool = False, spread: str = "std") -> None:
    """Put that cells stand for several runs, whose number a column may say."""
    if is_counted:
        draft.put("summary", {"spread": spread}, "found", "")
        return
    text = (
        "Cells are means with spreads of a number of runs that is not said. Spreads are taken as "
        "standard errors, which makes intervals rather too wide. If they are standard deviations, "
        "of N runs, write: {runs: N, spread: std}."
    )
    draft.put("summary", {"runs": 3, "spread": "sem"}, "guess", text)


def _put_heads(
    draft: Draft, paths: Paths, table: Table, roles: dict[str, list[str]], names: Sequence[str]
) -> None:
    """Put what the names of several columns of scores say."""
    heads = {k: text for k, text in _name_fields(table, roles).items() if k.startswith(PART)}
    fields = {int(name.removeprefix(PART)): text for name, text in heads.items()}
    pattern = write_pattern(table.pieces, fields)
    try:
        _match_any(Pattern(pattern), table.columns)
    except ConfigError:
        pattern = write_pattern(table.pieces, fields, is_strict=True)
    if pattern == "{dataset}":
        draft.put("format", "matrix", "found", "Columns are datasets.")
    elif has_suffix(paths.paths[0], NESTED) and re.match(r"[^{}.]+\.", pattern):
        # A file without results, such as that of a failed run, has no such columns.
        draft.put("reading", {"records": pattern}, "found", "Scores stand below these keys.")
    else:
        text = f"Columns such as {quote_name(names[0])} hold scores."
        draft.put("columns", {"score": pattern}, "found", text)
    if " / {seed" in pattern:
        draft.note("columns", "decide", "Are the numbers in the header numbers of runs?")
    used = {name for own in roles.values() for name in own}
    rest = [name for name in table.columns if name not in {*table.labels, *used}]
    if len(table.pieces) > 1:
        rest = [name for name in rest if words.is_average(name) and Pattern(pattern).match(name)]
    if rest:
        text = "What is ignored holds no scores, or averages."
        draft.put("columns", {"ignore": rest}, "guess", text)
    if "metric" not in roles:
        _put_metric(draft, names, paths.paths)
    elif "metric" in heads.values() and "metric" not in draft.settings.get("where", {}):
        place = next(name for name, text in heads.items() if text == "metric")
        kept = sorted(table.cells[place].unique())
        draft.put("where", {"metric": kept}, "guess", f"The metrics {list_names(kept)} are read.")


def _name_fields(table: Table, roles: Mapping[str, list[str]]) -> dict[str, str]:
    """Name parts of paths and headers after their roles, and others after variants."""
    named: dict[str, str] = {}
    for role, own in roles.items():
        for place, name in enumerate(own):
            count = sum(text.startswith("variant") for text in named.values())
            if name in table.labels:
                named[name] = f"variant{count or ''}" if place else role
    return named


def _put_metric(draft: Draft, columns: Sequence[str], paths: Sequence[str]) -> None:
    """Put the metric of all files: that of their columns, or of paths."""
    stems = [PurePath(path).name.partition(".")[0] for path in paths]
    places = (columns, stems)
    if len(columns) == 1 and not _is_plain(columns[0]):
        known = "" if words.is_turned(columns[0]) else words.find_known(columns[0])
        metric = known or _name_metric(columns) or columns[0]
        draft.put("metric", metric, "found", "The metric is that of the column.")
    elif named := next((names for names in places if _name_metric(names)), None):
        metric = _name_metric(named)
        # Another word is rather a part of names, such as error in error detection.
        certainty: Certainty = "guess" if find_metric(metric) else "decide"
        text = f"{quote_name(metric)} is taken as the metric, unless it is part of a name."
        draft.put("metric", metric, certainty, text)
    else:
        draft.put("metric", "score", "guess", "No metric is named; any name will do.")
        draft.is_undirected = not any(all(map(words.guess_direction, names)) for names in places)


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


def _put_names(draft: Draft, paths: Paths, table: Table, roles: Mapping[str, list[str]]) -> None:
    """Put the columns of names and of steps, what all files are of, and the paths."""
    for role in [role for role in ("model", "dataset") if role not in roles]:
        is_one = len(paths.paths) == 1
        name = PurePath(paths.paths[0]).stem if is_one else "all"
        text = f"No column or path names the {role}s, so all is of one."
        certainty: Certainty = "guess" if is_one and role == "dataset" else "decide"
        draft.put("fields", {role: name}, certainty, text)
    named = _name_fields(table, roles)
    columns: dict[str, Any] = {}
    for role in ("model", "dataset", "metric", "seed"):
        said = [named.get(name, name) for name in roles.get(role, [])]
        if said and said != [role]:
            columns[role] = said if len(said) > 1 else said[0]
    keys = dict.fromkeys([name for own in roles.values() for name in own] + [*table.labels])
    if step := _find_step(table, [*keys]):
        columns["step"] = step
        draft.put("take", "last", "guess", "The row of the highest step of a run counts.")
    if columns:
        draft.settings["columns"] = {**columns, **draft.settings.get("columns", {})}
    draft.settings["exports"] = paths.write(named)
