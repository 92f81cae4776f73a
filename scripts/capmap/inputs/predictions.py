"""What multi-label evaluation reads: dumps of scores, labels, images, and classifiers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capmap.errors import ConfigError
from capmap.inputs.studies import Study, list_faults, match_paths
from capmap.multilabel.dumps import Cell, list_paths, match_dumps, name_cell, write_glob
from capmap.renaming import OPTION, find_bad_renames
from capmap.settings.choices import SUBGROUPS
from capmap.shards import split_shards
from capmap.wording import find_nearest, list_names, quote_name, write_key

PATCHML = "PatchML"


def list_classified(study: Study) -> list[Cell]:
    """List the cells that a study's own classifiers make, by model.

    Raises
    ------
    ConfigError
        When images of PatchML have no annotations.
    """
    classify, patchml = study.settings["classify"], study.settings["patchml"]
    if patchml["images"] and not patchml["annotations"]:
        raise study.refuse("patchml.annotations", "name the annotations of patchml.images.")
    cells = [(dataset, "") for dataset in classify["datasets"]]
    if patchml["images"]:
        cells += [(PATCHML, str(seed)) for seed in patchml["seeds"]]
    return [Cell(model, *cell) for model in classify["models"] for cell in cells]


def place_dump(study: Study, cell: Cell, seed: str) -> str:
    """Say where a study's own classifier writes, without suffix; "0" stands for no seed."""
    folder = name_cell(Cell(cell.model, cell.dataset))
    return study.place(f"dumps/{folder}/{seed or 0}")


def place_images(study: Study, dataset: str, seed: str) -> str:
    """Say where the images of a dataset are that a study classifies."""
    if dataset == PATCHML:
        return study.place(f"patchml/{seed}/images")
    return str(study.settings["classify"]["datasets"][dataset]["images"])


def list_objects(study: Study) -> list[str]:
    """List the tables of objects that are in no composed image; all seeds have as many."""
    patchml = study.settings["patchml"]
    names = ["skipped.csv", f"{patchml['seeds'][0]}/composed.csv"] if patchml["images"] else []
    return [study.place(f"patchml/{name}") for name in names]


def find_dumps(study: Study) -> dict[str, Cell]:
    """Find the files of scores of a study, and what each is of.

    Parameters
    ----------
    study : Study
        Its exports are a path with ``{model}`` and ``{dataset}``, and perhaps ``{seed}``.

    Returns
    -------
    dict of str to Cell
        Those that the study's own classifiers make come first.

    Raises
    ------
    ConfigError
        When there is none, or a path can be read in two ways.
    """
    made = {f"{place_dump(study, cell, cell.seed)}.npy": cell for cell in list_classified(study)}
    pattern = study.settings["exports"]
    if not isinstance(pattern, str):
        raise study.refuse(
            "exports",
            "predictions have one path with {model} and {dataset}, "
            "such as dumps/{model}/{dataset}.npy, and no list.",
        )
    if not pattern and not made:
        raise study.refuse(
            "exports",
            "name the score dumps, such as "
            "dumps/{model}/{dataset}.npy, or the models and datasets in `classify` that make them.",
        )
    found: dict[str, Cell] = {}
    if pattern:
        try:
            found = match_dumps(pattern, match_paths(write_glob(pattern)))
        except ConfigError as error:
            raise study.refuse("exports", str(error)) from error
    if not found and not made:
        raise study.miss("exports", f"no file matches {pattern!r}", pattern)
    return made | found


def shard_dumps(study: Study) -> dict[int, dict[str, Cell]]:
    """Spread the dumps of a study over shards; all of a model are in one."""
    dumps = find_dumps(study)
    models = {cell.model for cell in dumps.values()}
    return {
        shard: {path: cell for path, cell in dumps.items() if cell.model in names}
        for shard, names in split_shards(models, study.read("bootstrap/shards")).items()
    }


def list_dumps(study: Study, *, shard: int) -> list[str]:
    """List the dumps of a shard."""
    return list(shard_dumps(study)[shard])


def list_cells(study: Study, *, shard: int) -> list[list[str]]:
    """List what each dump of a shard is of: model, dataset and seed."""
    return [list(cell) for cell in shard_dumps(study)[shard].values()]


def find_labels(study: Study) -> dict[str, dict[str, str]]:
    """Find the files of labels and ids of each dataset of a study; those of PatchML are made."""
    datasets = {name: dict(files) for name, files in study.read("predictions/datasets").items()}
    # All classifiers see the images of a folder in the same order.
    for cell in reversed(list_classified(study)):
        seed = "{seed}" if cell.seed else ""
        files = datasets.setdefault(cell.dataset, {"single": "", "classes": ""})
        files["images"] = f"{place_dump(study, cell, seed)}.txt"
        if cell.dataset == PATCHML:
            files["labels"] = study.place("patchml/{seed}/labels.json")
    return datasets


def list_label_files(study: Study, *, shard: int) -> list[str]:
    """List the files of labels, ids and classes that the dumps of a shard need."""
    cells = shard_dumps(study)[shard].values()
    files = find_classes(study, "predictions")
    for dataset, patterns in find_labels(study).items():
        own = [cell for cell in cells if cell.dataset == dataset]
        files += list_paths(list(patterns.values()), own)
    return files


def list_parts(study: Study, name: str) -> list[str]:
    """List what every shard of a study wrote, such as "facts.json", or the published metrics."""
    stem, suffix = name.split(".")
    if study.settings["format"] != "predictions":
        counted = ["multilabel/counted.json"] if study.read("multilabel/labels") else []
        made = {"scores": ["multilabel/published.parquet"], "facts": counted}
        return [study.place(path) for path in made.get(stem, [])]
    return [study.place(f"multilabel/{stem}/{shard}.{suffix}") for shard in shard_dumps(study)]


def list_counted(study: Study) -> list[str]:
    """List the files of labels of published metrics.

    Raises
    ------
    ConfigError
        When one is not there.
    """
    files = study.read("multilabel/labels").items()
    return [study.find_file(f"multilabel.labels.{write_key(name)}", path) for name, path in files]


def list_counted_datasets(study: Study) -> list[str]:
    """List the datasets of `list_counted`, by their names for readers."""
    return [_rename(study, name) for name in study.read("multilabel/labels")]


def find_classified(study: Study, cell: str) -> Cell:
    """Find the model and the dataset whose files have the name of a cell.

    Raises
    ------
    ConfigError
        When the study classifies none of that name.
    """
    for classified in list_classified(study):
        if name_cell(Cell(classified.model, classified.dataset)) == cell:
            return classified
    raise ConfigError(f"No model and dataset of {study.name} are {cell}.")


def find_images(study: Study, *, cell: str, number: str) -> str:
    """Find the folder of images that a classifier sees; of PatchML that of a seed."""
    return place_images(study, find_classified(study, cell).dataset, number)


def read_classifier(study: Study, option: str, *, cell: str) -> Any:
    """Give a setting of the classifier of a cell."""
    return study.settings["classify"]["models"][find_classified(study, cell).model][option]


def find_classes(study: Study, section: str) -> list[str]:
    """Name the file of class names in a section of a study's settings, if any."""
    path = study.settings[section]["classes"]
    return [path] if path else []


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


def list_example_cells(study: Study) -> list[Cell]:
    """List the cells of a compared dataset that a study classifies; of seeds the first."""
    cells = list_classified(study)
    named = [_rename(study, cell.dataset) for cell in cells]
    known = list(dict.fromkeys([*list_datasets(study), *named]))
    compared = study.read("multilabel/compare") or known[:2]
    for dataset in [*reversed(compared), *known]:
        own = [cell for cell, name in zip(cells, named, strict=True) if name == dataset]
        if own:
            return [cell for cell in own if cell.seed == own[0].seed]
    return []


def list_example_dumps(study: Study) -> list[str]:
    """List the scores of the images from which examples are chosen, by each model."""
    return [f"{place_dump(study, cell, cell.seed)}.npy" for cell in list_example_cells(study)]


def list_example_models(study: Study) -> list[str]:
    """List the models of `list_example_dumps`."""
    return [_rename(study, cell.model) for cell in list_example_cells(study)]


def find_example_dataset(study: Study) -> str:
    """Name the dataset of `list_example_dumps`, "" where there is none."""
    return next((_rename(study, cell.dataset) for cell in list_example_cells(study)), "")


def find_example_images(study: Study) -> list[str]:
    """Find the folder of the images from which examples are chosen, if any."""
    cells = list_example_cells(study)[:1]
    return [place_images(study, cell.dataset, cell.seed) for cell in cells]


def find_example_labels(study: Study, kind: str) -> list[str]:
    """Find the "labels" or ids ("images") of the images from which examples are chosen, if any."""
    cells = list_example_cells(study)[:1]
    sources = find_labels(study)
    return list_paths([sources[cell.dataset][kind] for cell in cells], cells)


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
    """Look for what `predictions`, `classify` and `patchml` name, except for files of labels."""
    classify, patchml = study.settings["classify"], study.settings["patchml"]
    files = {
        "predictions.classes": study.read("predictions/classes"),
        "patchml.classes": patchml["classes"],
        **{
            f"classify.models.{name}.file": model["file"]
            for name, model in classify["models"].items()
        },
    }
    folders = {
        "patchml.images": patchml["images"],
        **{
            f"classify.datasets.{name}.images": shown["images"]
            for name, shown in classify["datasets"].items()
        },
    }
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
            # The ids of images that the study classifies are made.
            if pattern and pattern == known[dataset][key]:
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
