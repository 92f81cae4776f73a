"""A study as the rules see it: its settings, its results, and the files that it reads."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any, TypeAlias, get_args
from zlib import crc32

from capmap.analyses import list_analyses, read_setting
from capmap.benchmarks import Benchmark, read_benchmark
from capmap.errors import ConfigError
from capmap.patterns import Cell, Pattern, has_fields, list_paths, match_dumps, order_paths
from capmap.settings.checking import find_faults
from capmap.settings.choices import SUBGROUPS, TableFormat
from capmap.settings.files import fill_preset, leads_out
from capmap.settings.sections import Config
from capmap.wording import (
    OPTION,
    find_bad_renames,
    find_nearest,
    join_words,
    list_names,
    quote_name,
    suggest,
    write_key,
)

Settings: TypeAlias = Mapping[str, Any]
TABLES = get_args(TableFormat)
# What the name of an input must not hold, as Snakemake would replace it.
REPLACED = re.compile(r"[{}]|<[a-z][a-z0-9_]*>")
RESULTS = "results_and_parameters.csv"
INFORMATION = "additional_info.json"
PATCHML = "PatchML"


@dataclass(frozen=True)
class Study:
    """A study: its name, its checked settings, and the prefix of its results in a module."""

    name: str
    settings: Settings
    prefix: str = ""

    def read(self, path: str) -> Any:
        """Give a setting by its path, such as ``bootstrap/replicates``."""
        return read_setting(self.settings, path)

    def find(self, what: str | Callable[..., Any], **given: Any) -> Any:
        """Give what a function finds for the study, or the setting of a path."""
        return self.read(what) if isinstance(what, str) else what(self, **given)

    def place(self, path: str) -> str:
        """Name one of its results for a rule, which puts the prefix before it."""
        return f"results/{self.name}/{path}"

    @property
    def folder(self) -> Path:
        """Where its results are."""
        return Path(f"{self.prefix}results", self.name)

    @property
    def patterns(self) -> list[str]:
        """What its setting `exports` lists."""
        exports = self.settings["exports"]
        return [exports] * bool(exports) if isinstance(exports, str) else exports

    def refuse(self, option: str, message: str) -> ConfigError:
        """Write the error of an option, which is called ``normalization.references``."""
        return ConfigError(f"studies.{self.name}.{option}: {message}")

    def miss(self, option: str, message: str, path: str) -> ConfigError:
        """Write the error of an option that names what is not there."""
        here = "Check it." if Path(path).is_absolute() else f"Paths are relative to {Path.cwd()}."
        return self.refuse(option, f"{message}. {_suggest_path(path)}{here}".rstrip())

    def check_path(self, option: str, path: str, *, kind: str = "file") -> str:
        """Give a path to a file or folder that is there, under a name that can be used."""
        is_kind = Path.is_file if kind == "file" else Path.is_dir
        if is_kind(Path(path)):
            return self.check_name(option, path)
        if Path(path).exists():
            other = "folder" if kind == "file" else "file"
            raise self.refuse(option, f"{path} is a {other}. Name a {kind}.")
        raise self.miss(option, f"there is no {kind} {path}", path)

    def look_for(self, option: str, path: str, kind: str = "file") -> Iterator[ConfigError]:
        """Give what is wrong with a path, if one is given."""
        try:
            if path:
                self.check_path(option, path, kind=kind)
        except ConfigError as error:
            yield error

    def check_name(self, option: str, path: str) -> str:
        """Give a path without braces and <names>, which Snakemake would replace, and of Unicode."""
        if not path.isascii() and any("\ud800" <= character <= "\udfff" for character in path):
            raise self.refuse(option, f"rename {path!a}; the name of the file is not Unicode.")
        if REPLACED.search(path):
            raise self.refuse(option, f"rename {path}; a name cannot have braces or <words>.")
        return path


def check_config(given: Settings) -> dict[str, Any]:
    """Check a configuration in itself and fill in presets and defaults."""
    filled, faults = _fill_presets(given)
    checked, found = find_faults(filled, Config)
    if faults or found:
        raise ConfigError("\n".join([*faults, *found]))
    return checked


def _fill_presets(given: Settings) -> tuple[Settings, list[str]]:
    studies, filled, faults = given.get("studies"), dict[str, Any](), list[str]()
    for name, study in studies.items() if isinstance(studies, Mapping) else ():
        filled[name] = study
        try:
            filled[name] = fill_preset(study) if isinstance(study, Mapping) else study
        except ConfigError as error:
            faults += [f"studies.{name}.preset: {line}" for line in str(error).splitlines()]
    return {**given, "studies": filled} if filled else given, faults


def find_study(known: Mapping[str, Settings], name: str, prefix: str) -> Study:
    """Give one of the studies, of which a result was asked for."""
    if name not in known:
        raise ConfigError(f"There {suggest_study(name, list(known))}")
    return Study(name, known[name], prefix)


def suggest_study(name: str, known: list[str]) -> str:
    """Say that there is no study of a name, and which is meant."""
    verb = "is" if len(known) == 1 else "are"
    hint = suggest(name, known, f"There {verb} {join_words(known)}." if known else "")
    return f"is no study {name!r}. {hint}".rstrip()


def match_studies(config: Settings, *formats: str) -> str:
    """Write a pattern of the studies whose exports have one of these formats."""
    known = config["studies"].items()
    names = [name for name, settings in known if settings["format"] in formats]
    return "|".join(map(re.escape, names)) or "(?!)"


def list_faults(check: Callable[..., object], *arguments: object) -> list[str]:
    """List what a function yields or refuses, a line for each fault."""
    faults: list[str] = []
    try:
        found = check(*arguments)
        for fault in found if isinstance(found, Iterator) else ():
            faults.append(str(fault))
    except ConfigError as error:
        faults += str(error).splitlines()
    return faults


def match_paths(pattern: str, *, recursive: bool = False) -> list[str]:
    """List the paths that a glob matches, in order; ``**`` stands for folders if `recursive`."""
    # Of an absolute pattern, too, and with the spelling of the pattern, unlike Path.glob.
    return order_paths(glob(pattern, recursive=recursive))  # noqa: PTH207


def _suggest_path(path: str) -> str:
    """Ask for what may be meant by a path that is not there, if anything."""
    if "\\" in path:
        return f"Write {path.replace(chr(92), '/')}, with / between folders. "
    folder, rest = Path(path).parent, Path(path).name
    while not folder.is_dir() and folder != folder.parent:
        folder, rest = folder.parent, f"{folder.name}/{rest}"
    name, _, inner = rest.partition("/")
    if has_magic(name) or not folder.is_dir():
        return ""
    # By their stems, as suffixes make short names alike.
    stems = {own.stem: own for own in sorted(folder.iterdir())}
    near = find_nearest(Path(name).stem, stems)
    return f"Did you mean {stems[near] / inner}? " if near else ""


def list_exports(study: Study) -> list[str]:
    """List the paths and addresses of the exports of a study."""
    if study.settings["format"] == "predictions":
        return list(find_dumps(study))
    if study.settings["format"] == "submission":
        return list_submission_files(study)
    if not study.patterns:
        raise study.refuse("exports", "name the files to read.")
    files: list[str] = []
    for pattern in study.patterns:
        if "://" in pattern:
            files.append(pattern)
        else:
            found = (_match_fields if has_fields(pattern) else _match_files)(study, pattern)
            files += [study.check_name("exports", path) for path in found]
    return list(dict.fromkeys(files))


def _match_files(study: Study, pattern: str) -> list[str]:
    """List the files that a path or a glob names."""
    is_glob = has_magic(pattern) and not Path(pattern).exists()
    found = match_paths(pattern, recursive=True) if is_glob else [pattern]
    found = [path for path in found if Path(path).is_file()]
    if not found and Path(pattern).is_dir():
        text = f"{pattern} is a folder. Name its files, such as {Path(pattern)}/*.csv."
        raise study.refuse("exports", text)
    if not found:
        raise study.miss("exports", f"no file matches {pattern!r}", pattern)
    return found


def _match_fields(study: Study, text: str) -> list[str]:
    """List the files that match a pattern; one that is like it but does not match is refused."""
    if study.settings["format"] not in TABLES:
        raise study.refuse("exports", f"{text}: only long and matrix exports take names in braces.")
    try:
        pattern = Pattern(text, "/")
        paths = [path for path in match_paths(pattern.glob, recursive=True) if Path(path).is_file()]
        others = [path for path in paths if pattern.match(path) is None]
    except ConfigError as error:
        raise study.refuse("exports", str(error)) from error
    if others:
        more = f", nor do {len(others) - 1} more" if len(others) > 1 else ""
        told = f"{others[0]} lies where {text} looks and does not match it{more}."
        raise study.refuse("exports", f"{told} Move it elsewhere, or correct the pattern.")
    if not paths:
        beginning = text.partition("{")[0].rpartition("/")[0]
        near = match_paths(str(Path(beginning, "**/*.*")), recursive=True)[:1]
        told = f"no file matches {text!r}" + "".join(f"; there is {path}" for path in near)
        raise study.miss("exports", told, text)
    return paths


def check_exports(study: Study) -> Iterator[ConfigError]:
    """Look for the exports, and refuse those named twice and those that the study itself writes."""
    for pattern in study.patterns:
        if os.path.abspath(pattern).startswith(f"{study.folder.absolute()}{os.sep}"):  # noqa: PTH100
            text = f"this study itself writes {pattern}. Name what it is made of."
            raise study.refuse("exports", text)
    names = list_exports(study)
    # A pattern that is repeated finds its files once.
    for found in (study.patterns, names):
        paths: dict[str, str] = {}
        for name in found:
            path = name if "://" in name else os.path.abspath(name)  # noqa: PTH100
            first = paths.setdefault(path, name)
            if first != name:
                raise study.refuse("exports", f"{first} and {name} are one file. Keep one of them.")
    for name in study.settings["checksums"]:
        if name not in names:
            hint = suggest(name, names, "Name a file as exports has it.")
            yield study.refuse("checksums", f"{quote_name(name)} is no export. {hint}")


def find_references(study: Study) -> list[str]:
    """Find the file of frozen bounds, if a study has one."""
    option = "normalization.references"
    path = study.read("normalization/references")
    if not path:
        return []
    if Path(path).resolve().is_relative_to(study.folder.resolve()):
        remedy = "Copy the file out of results/ and name the copy."
        raise study.refuse(option, f"this study itself writes {path}. {remedy}")
    return [path if "://" in path else study.check_path(option, path)]


def find_items(study: Study) -> list[str]:
    """Find where the scores of single items of a study are, if its exports have any."""
    has_items = study.read("format") in ("long", "matrix") and study.read("columns/item")
    return [study.place("items.parquet")] if has_items else []


def list_submissions(study: Study) -> list[str]:
    """List the folders of submissions of a study, each once; those of one export are sorted.

    An export is a folder that is a submission or holds some. A link out of it is refused.
    """
    if not study.patterns:
        raise study.refuse("exports", "name a folder of submissions.")
    folders: list[Path] = []
    for pattern in study.patterns:
        found = sorted(path for path in map(Path, match_paths(pattern)) if path.is_dir())
        if not found:
            raise study.miss("exports", f"no folder matches {pattern!r}", pattern)
        for folder in found:
            below = _look_into(folder)
            if outside := [path for path in below if leads_out(path, folder)]:
                text = f"{outside[0]} is a link out of {folder}."
                raise study.refuse("exports", f"{text} If it is yours, name where it leads.")
            folders += below
    if not folders:
        text = f"{study.settings['exports']!r} holds no folder of a submission"
        remedy = "Name the folder of one or of several."
        raise study.refuse("exports", f"{text}, with {RESULTS} and {INFORMATION}. {remedy}")
    return [study.check_name("exports", path.as_posix()) for path in dict.fromkeys(folders)]


def _look_into(folder: Path) -> list[Path]:
    if any((folder / name).is_file() for name in [RESULTS, INFORMATION]):
        return [folder]
    # A link to nowhere is a submission that has lost its files.
    below = [path for path in folder.iterdir() if not path.is_file()]
    return sorted(path for path in below if not path.name.startswith("."))


def list_submission_files(study: Study) -> list[str]:
    """List the files of all submissions of a study, as far as they are there."""
    names = (RESULTS, INFORMATION)
    files = [f"{folder}/{name}" for folder in list_submissions(study) for name in names]
    return [path for path in files if Path(path).is_file()]


def list_descriptions(study: Study) -> list[str]:
    """Name the file of what the submissions of a study say of themselves, if it has any."""
    is_submission = study.settings["format"] == "submission"
    return [study.place("submissions.json")] if is_submission else []


def find_benchmark_rules(study: Study) -> list[str]:
    """Find the definition of the benchmark, where its rules hold for the exports."""
    path, kind = study.settings["benchmark"], study.settings["format"]
    return [path] if path and kind in (*TABLES, "submission") else []


def _read_benchmark(study: Study) -> Benchmark:
    """Read the definition of the benchmark of a study, which is empty if it names none."""
    if not study.settings["benchmark"]:
        return Benchmark.model_construct(datasets={})
    path = study.check_path("benchmark", study.settings["benchmark"])
    try:
        return read_benchmark(path)
    except ConfigError as error:
        faults = [str(study.refuse("benchmark", line)) for line in str(error).splitlines()]
        raise ConfigError("\n".join(faults)) from error


def find_dimensions(study: Study) -> dict[str, Any]:
    """Find the datasets of each dimension of a study: of its benchmark, and its groups."""
    groups: Mapping[str, Any] = study.settings["groups"]
    own = {name: group["datasets"] for name, group in groups.items()}
    return {**_read_benchmark(study).dimensions, **own}


def find_descriptions(study: Study) -> dict[str, dict[str, str]]:
    """Find what the benchmark of a study says of its datasets and dimensions."""
    defined = _read_benchmark(study)
    datasets = {name: dataset.description for name, dataset in defined.datasets.items()}
    return {"datasets": datasets, "dimensions": defined.described}


def find_estimated(study: Study) -> dict[str, Any] | None:
    """Find the dimensions of the leaderboard of a study; None without one."""
    return find_dimensions(study) if "leaderboard" in list_analyses(study.settings) else None


def find_releases(study: Study) -> list[str]:
    """Find the tables that the user kept of former releases of a study, sorted."""
    pattern = study.read("leaderboard/releases")
    found = [path for path in match_paths(pattern) if Path(path).is_file()]
    if pattern and not found:
        remedy = f"When you publish, copy {study.place('leaderboard/entries.csv')} there."
        raise study.refuse("leaderboard.releases", f"no file matches {pattern!r}. {remedy}")
    return [study.check_name("leaderboard.releases", path) for path in found]


def find_dumps(study: Study) -> dict[str, Cell]:
    """Find the files of scores of a study, and what each is of, in the order of the cells.

    There are none only where the study composes the images first.
    """
    if not study.patterns:
        raise study.refuse("exports", "name the score dumps, such as dumps/{model}/{dataset}.npy.")
    cells: dict[Cell, str] = {}
    for pattern in study.patterns:
        try:
            found = match_dumps(pattern, match_paths(Pattern(pattern, "/").glob))
        except ConfigError as error:
            raise study.refuse("exports", str(error)) from error
        for path, cell in found.items():
            other = cells.setdefault(cell, path)
            if other != path:
                text = f"{other} and {path} are of the same model, dataset and seed. Remove one."
                raise study.refuse("exports", text)
    if not cells and not study.settings["patchml"]["images"]:
        first = study.patterns[0]
        raise study.miss("exports", f"no file matches {first!r}", first)
    return {path: cell for cell, path in sorted(cells.items())}


def shard_dumps(study: Study) -> dict[int, dict[str, Cell]]:
    """Spread the dumps of a study over shards: all of a model are in one, by its name alone."""
    number, shards = study.read("bootstrap/shards"), dict[int, dict[str, Cell]]()
    for path, cell in find_dumps(study).items():
        shard = crc32(cell.model.encode("utf-8", "surrogatepass")) % number
        shards.setdefault(shard, {})[path] = cell
    return dict(sorted(shards.items()))


def list_shards(study: Study) -> list[int]:
    """List the shards of the dumps of a study that have any."""
    return [*shard_dumps(study)] if study.settings["format"] == "predictions" else []


def list_dumps(study: Study, *, shard: int) -> list[str]:
    """List the dumps of a shard."""
    return list(shard_dumps(study)[shard])


def list_cells(study: Study, *, shard: int) -> list[list[str]]:
    """List what each dump of a shard is of: model, dataset and seed."""
    return [list(cell) for cell in shard_dumps(study)[shard].values()]


def list_objects(study: Study) -> list[str]:
    """List the manifest of composed images of a seed; others are alike.

    As long as there are no dumps, those of all seeds are listed: so the images are composed that
    models are to see.
    """
    patchml = study.settings["patchml"]
    if not patchml["images"]:
        return []
    seeds = patchml["seeds"][:1] if find_dumps(study) else patchml["seeds"]
    return [study.place(f"patchml/{seed}/manifest.csv") for seed in seeds]


def find_labels(study: Study) -> dict[str, dict[str, str]]:
    """Find the files of labels and ids of each dataset of a study; those of PatchML are made."""
    datasets: dict[str, dict[str, str]] = study.read("predictions/datasets")
    if not study.settings["patchml"]["images"]:
        return datasets
    made = {"labels": study.place("patchml/{seed}/labels.json")}
    return {PATCHML: {**made, "single": "", "images": ""}, **datasets}


def list_label_files(study: Study, *, shard: int) -> list[str]:
    """List the files of labels, ids and classes that the dumps of a shard need."""
    cells = shard_dumps(study)[shard].values()
    files = [path for path in [study.read("predictions/classes")] if path]
    for dataset, patterns in find_labels(study).items():
        files += list_paths([*patterns.values()], [own for own in cells if own.dataset == dataset])
    return files


def list_counted(study: Study) -> list[str]:
    """List the files of labels of published metrics, which have to be there."""
    files = study.read("multilabel/labels").items()
    return [study.check_path(f"multilabel.labels.{write_key(name)}", path) for name, path in files]


def rename(study: Study, name: str) -> str:
    """The name for readers of a model or dataset."""
    return str(study.read("figures/names").get(name, name))


def find_subgroups(study: Study) -> dict[str, list[int]]:
    """Find the numbers of labels over which the ASMA of each dataset averages.

    They stand by the names of datasets for readers; there are none where metrics were published.
    """
    if study.settings["format"] != "predictions":
        return {}
    given = study.read("multilabel/subgroups")
    datasets = {rename(study, cell.dataset) for cell in find_dumps(study).values()}
    rules = given if isinstance(given, dict) else dict.fromkeys(datasets, given)
    return {name: rules.get(name, list(SUBGROUPS)) for name in sorted(datasets)}


def check_predictions(study: Study) -> Iterator[ConfigError]:
    """Look for labels, classifiers and images of a study, and for the datasets that it names."""
    if study.settings["format"] != "predictions":
        list_counted(study)
        return
    yield from _check_files(study)
    cells = [*find_dumps(study).values()]
    yield from _check_labels(study, cells)
    if cells:
        present = {kind: {getattr(cell, kind) for cell in cells} for kind in ("model", "dataset")}
        for _, text, remedy in find_bad_renames(study.read("figures/names"), present):
            yield study.refuse(OPTION, f"{text} {remedy}")
        yield from _check_compared(study, {rename(study, cell.dataset) for cell in cells})


def _check_files(study: Study) -> Iterator[ConfigError]:
    """Look for what `predictions` and `patchml` name, except for files of labels."""
    patchml = study.settings["patchml"]
    if patchml["images"] and not patchml["annotations"]:
        yield study.refuse("patchml.annotations", "name the annotations of patchml.images.")
    yield from study.look_for("predictions.classes", study.read("predictions/classes"))
    yield from study.look_for("patchml.classes", patchml["classes"])
    yield from study.look_for("patchml.annotations", patchml["annotations"])
    yield from study.look_for("patchml.images", patchml["images"], "folder")


def _check_labels(study: Study, cells: Iterable[Cell]) -> Iterator[ConfigError]:
    """Look for the files of labels of all dumps, and for dumps without labels."""
    given, known = study.read("predictions/datasets"), find_labels(study)
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        own = [cell for cell in cells if cell.dataset == dataset]
        option = f"predictions.datasets.{write_key(dataset)}"
        if not known.get(dataset, {}).get("labels"):
            near = find_nearest(dataset, [name for name in given if name != dataset])
            hint = f"Did you mean this by {quote_name(near)}? " if near else ""
            text = f"there are score dumps of it, and no labels. {hint}Name the file of its labels."
            yield study.refuse(option, text)
        for key, pattern in given.get(dataset, {}).items():
            missing = [path for path in list_paths([pattern], own) if not Path(path).is_file()]
            for path in missing[:1]:
                yield from study.look_for(f"{option}.{key}", path)


def _check_compared(study: Study, known: Iterable[str]) -> Iterator[ConfigError]:
    """Refuse to compare, and to form subgroups of, datasets without dumps."""
    given = study.read("multilabel/subgroups")
    subgroups = given if isinstance(given, dict) else ()
    named = {"compare": study.read("multilabel/compare"), "subgroups": subgroups}
    for option, names in named.items():
        for name in names:
            if name not in known:
                hint = suggest(name, known, f"There are {list_names(sorted(known))}.")
                text = f"there are no dumps of the dataset {quote_name(name)}. {hint}"
                yield study.refuse(f"multilabel.{option}", text)
