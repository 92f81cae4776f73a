"""What multi-label evaluation reads: dumps of scores, labels and images."""

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from capmap.errors import ConfigError
from capmap.inputs.studies import Study, list_faults, match_paths
from capmap.multilabel.dumps import Cell, list_paths, match_dumps
from capmap.patterns import Pattern
from capmap.renaming import OPTION, find_bad_renames
from capmap.settings.choices import SUBGROUPS
from capmap.wording import find_nearest, list_names, quote_name, write_key

PATCHML = "PatchML"


def list_objects(study: Study) -> list[str]:
    """List the tables of objects that are in no composed image; all seeds have as many.

    As long as there are no dumps, those of all seeds are listed: so the images are composed that
    models are to see.
    """
    patchml = study.settings["patchml"]
    if not patchml["images"]:
        return []
    seeds = patchml["seeds"][:1] if find_dumps(study) else patchml["seeds"]
    return [
        study.place(f"patchml/{name}")
        for name in ("skipped.csv", *(f"{seed}/composed.csv" for seed in seeds))
    ]


def find_dumps(study: Study) -> dict[str, Cell]:
    """Find the files of scores of a study, and what each is of.

    Parameters
    ----------
    study : Study
        Its exports are paths with ``{model}`` and ``{dataset}``, and perhaps ``{seed}``.

    Returns
    -------
    dict of str to Cell
        In the order of the cells; none only where the study composes the images first.

    Raises
    ------
    ConfigError
        When there is none, a path can be read in two ways, or two are of one cell.
    """
    exports = study.settings["exports"]
    if not exports:
        raise study.refuse("exports", "name the score dumps, such as dumps/{model}/{dataset}.npy.")
    patterns = [exports] if isinstance(exports, str) else exports
    cells: dict[Cell, str] = {}
    for pattern in patterns:
        try:
            found = match_dumps(pattern, match_paths(Pattern(pattern, "/").glob))
        except ConfigError as error:
            raise study.refuse("exports", str(error)) from error
        for path, cell in found.items():
            if other := cells.get(cell):
                text = f"{other} and {path} are of the same model, dataset and seed. Remove one."
                raise study.refuse("exports", text)
            cells[cell] = path
    if not cells and not study.settings["patchml"]["images"]:
        raise study.miss("exports", f"no file matches {patterns[0]!r}", patterns[0])
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
        own = [cell for cell in cells if cell.dataset == dataset]
        files += list_paths(list(patterns.values()), own)
    return files


def list_counted(study: Study) -> list[str]:
    """List the files of labels of published metrics.

    Raises
    ------
    ConfigError
        When one is not there.
    """
    files = study.read("multilabel/labels").items()
    return [study.find_file(f"multilabel.labels.{write_key(name)}", path) for name, path in files]


def list_counted_datasets(study: Study) -> list[list[str]]:
    """List the datasets of `list_counted` as configured, each with its name for readers."""
    return [[name, _rename(study, name)] for name in study.read("multilabel/labels")]


def list_datasets(study: Study) -> list[str]:
    """List the datasets of a study as configured, by their names for readers."""
    return [_rename(study, name) for name in study.read("predictions/datasets")]


def find_subgroups(study: Study) -> dict[str, list[int]]:
    """Find the numbers of labels over which the ASMA of each dataset averages.

    Returns
    -------
    dict of str to list of int
        By the names of datasets for readers; empty where metrics were published.
    """
    if study.settings["format"] != "predictions":
        return {}
    given = study.read("multilabel/subgroups")
    datasets = [_rename(study, cell.dataset) for cell in find_dumps(study).values()]
    rules = given if isinstance(given, dict) else dict.fromkeys(datasets, given)
    return {name: rules.get(name, list(SUBGROUPS)) for name in sorted({*datasets})}


def _rename(study: Study, name: str) -> str:
    return str(study.read("figures/names").get(name, name))


def check_predictions(study: Study) -> None:
    """Look for labels, classifiers and images of a study, and for the datasets that it names.

    Raises
    ------
    ConfigError
        When some are not there; with a line for each.
    """
    if study.settings["format"] != "predictions":
        list_counted(study)
        return
    faults = [
        *_find_missing_files(study),
        *list_faults(_check_labels, study),
        *list_faults(_check_names, study),
        *list_faults(_check_compared, study),
    ]
    if faults:
        raise ConfigError("\n".join(faults))


def _find_missing_files(study: Study) -> Iterator[str]:
    """Look for what `predictions` and `patchml` name, except for files of labels."""
    patchml = study.settings["patchml"]
    if patchml["images"] and not patchml["annotations"]:
        text = "name the annotations of patchml.images."
        yield str(study.refuse("patchml.annotations", text))
    files = {
        "predictions.classes": study.read("predictions/classes"),
        "patchml.classes": patchml["classes"],
    }
    folders = {"patchml.images": patchml["images"]}
    if Path(patchml["annotations"]).is_dir():
        folders["patchml.annotations"] = patchml["annotations"]
    else:
        files["patchml.annotations"] = patchml["annotations"]
    for look, named in ((study.find_file, files), (study.find_folder, folders)):
        for option, path in named.items():
            yield from list_faults(look, option, path) if path else ()


def _check_labels(study: Study) -> None:
    """Look for the files of labels of all dumps, and for dumps without labels."""
    given, known = study.read("predictions/datasets"), find_labels(study)
    cells = list(find_dumps(study).values())
    faults = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        own = [cell for cell in cells if cell.dataset == dataset]
        option = f"predictions.datasets.{write_key(dataset)}"
        if not known.get(dataset, {}).get("labels"):
            near = find_nearest(dataset, [name for name in given if name != dataset])
            hint = f"Did you mean this by {quote_name(near)}? " if near else ""
            text = f"there are score dumps of it, and no labels. {hint}Name the file of its labels."
            faults.append(str(study.refuse(option, text)))
        for key, pattern in given.get(dataset, {}).items():
            missing = [path for path in list_paths([pattern], own) if not Path(path).is_file()]
            for path in missing[:1]:
                faults += list_faults(study.find_file, f"{option}.{key}", path)
    if faults:
        raise ConfigError("\n".join(faults))


def _check_names(study: Study) -> None:
    """Refuse names for models and datasets without dumps, and those that others have."""
    cells = list(find_dumps(study).values())
    present = {kind: {getattr(cell, kind) for cell in cells} for kind in ("model", "dataset")}
    faults = list(find_bad_renames(study.read("figures/names"), present))
    if faults:
        texts = [f"{text} {remedy}" for _, text, remedy in faults]
        raise ConfigError("\n".join(str(study.refuse(OPTION, text)) for text in texts))


def _check_compared(study: Study) -> None:
    """Refuse to compare, and to form subgroups of, datasets without dumps."""
    known = {_rename(study, cell.dataset) for cell in find_dumps(study).values()}
    if not known:
        return
    given = study.read("multilabel/subgroups")
    for option, names in (
        ("compare", study.read("multilabel/compare")),
        ("subgroups", given if isinstance(given, dict) else ()),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            near = find_nearest(unknown[0], known)
            hint = f"Did you mean {quote_name(near)}?" if near else ""
            hint = hint or f"There are {list_names(sorted(known))}."
            text = f"there are no dumps of the dataset {quote_name(unknown[0])}. {hint}"
            raise study.refuse(f"multilabel.{option}", text)
