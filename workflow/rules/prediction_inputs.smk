"""The inputs of rules that evaluate predictions: dumps of scores, labels and images."""

from glob import glob

from capmap.multilabel.dumps import (
    Cell,
    fill_pattern,
    list_paths,
    match_dumps,
    name_cell,
    write_glob,
)
from capmap.shards import split_shards

PATCHML = "PatchML"


def list_classified(study):
    """The cells that the study's own classifiers make."""
    settings = config["studies"][study]
    if settings["patchml"]["images"] and not settings["patchml"]["annotations"]:
        raise WorkflowError(
            f"studies.{study}.patchml.annotations: name the annotations of patchml.images."
        )
    cells = [(dataset, "") for dataset in settings["classify"]["datasets"]]
    if settings["patchml"]["images"]:
        cells += [(PATCHML, str(seed)) for seed in settings["patchml"]["seeds"]]
    return [
        Cell(model, *cell) for model in settings["classify"]["models"] for cell in cells
    ]


def place_dump(study, cell, seed):
    """Where a study's own classifier writes, without suffix; one file where there is no seed."""
    folder = name_cell(Cell(cell.model, cell.dataset))
    return f"results/{study}/dumps/{folder}/{seed or 0}"


def place_images(study, dataset, seed):
    """The folder of images of a dataset that a study classifies."""
    if dataset == PATCHML:
        return f"results/{study}/patchml/{seed}/images"
    return config["studies"][study]["classify"]["datasets"][dataset]["images"]


def find_dumps(study):
    """The files of scores of a study, and what each is of."""
    made = {
        f"{place_dump(study, cell, cell.seed)}.npy": cell
        for cell in list_classified(study)
    }
    pattern = config["studies"][study]["exports"]
    if not isinstance(pattern, str):
        raise WorkflowError(
            f"studies.{study}.exports: predictions have one path with {{model}} and {{dataset}}, "
            "such as dumps/{model}/{dataset}.npy, and no list."
        )
    if not pattern and not made:
        raise WorkflowError(
            f"studies.{study}.exports: name the score dumps, such as "
            "dumps/{model}/{dataset}.npy, or the models in `classify` that make them."
        )
    found = {}
    if pattern:
        try:
            found = match_dumps(pattern, sorted(glob(write_glob(pattern))))
        except ConfigError as error:
            raise WorkflowError(f"studies.{study}.exports: {error}")
    if not found and not made:
        raise WorkflowError(
            f"studies.{study}.exports: no file matches {pattern!r}. "
            f"Paths are relative to {Path.cwd()}."
        )
    return made | found


def shard_cells(study):
    """The dumps of a study by shard; all of a model are in one."""
    dumps = find_dumps(study)
    shards = split_shards(
        {cell.model for cell in dumps.values()},
        config["studies"][study]["bootstrap"]["shards"],
    )
    return {
        shard: {path: cell for path, cell in dumps.items() if cell.model in models}
        for shard, models in shards.items()
        if models
    }


def find_labels(study):
    """The files of labels and ids of each dataset of a study; those of PatchML are made."""
    datasets = {
        name: dict(files)
        for name, files in config["studies"][study]["predictions"]["datasets"].items()
    }
    # All classifiers see the images of a folder in the same order.
    for cell in reversed(list_classified(study)):
        seed = "{seed}" if cell.seed else ""
        files = datasets.setdefault(cell.dataset, {"single": "", "classes": ""})
        files["images"] = f"{place_dump(study, cell, seed)}.txt"
        if cell.dataset == PATCHML:
            files["labels"] = f"results/{study}/patchml/{{seed}}/labels.json"
    return datasets


def dumps_of(wildcards):
    """The dumps of the job's shard."""
    return list(shard_cells(wildcards.study)[int(wildcards.shard)])


def cells_of(wildcards):
    """What each dump of the job's shard is of."""
    return [
        list(cell)
        for cell in shard_cells(wildcards.study)[int(wildcards.shard)].values()
    ]


def labels_of(wildcards):
    """The files of labels, ids and classes that the dumps of the job's shard need."""
    cells = shard_cells(wildcards.study)[int(wildcards.shard)].values()
    classes = config["studies"][wildcards.study]["predictions"]["classes"]
    files = [classes] if classes else []
    for dataset, patterns in find_labels(wildcards.study).items():
        own = [cell for cell in cells if cell.dataset == dataset]
        files += list_paths(list(patterns.values()), own)
    return files


def datasets_of(wildcards):
    """The files of labels of each dataset of the job's study."""
    return find_labels(wildcards.study)


def parts_of(name):
    """What every shard of the job's study wrote, or the published metrics."""

    def find_parts(wildcards):
        stem, suffix = name.split(".")
        folder = f"results/{wildcards.study}/multilabel"
        if wildcards.study not in find_studies("predictions"):
            return [f"{folder}/published.parquet"] if stem == "scores" else []
        return [
            f"{folder}/{stem}/{shard}.{suffix}"
            for shard in shard_cells(wildcards.study)
        ]

    return find_parts


def classified_cell(wildcards):
    """The model and the dataset that a job classifies."""
    for cell in list_classified(wildcards.study):
        if name_cell(Cell(cell.model, cell.dataset)) == wildcards.cell:
            return cell
    raise WorkflowError(
        f"No model and dataset of {wildcards.study} are {wildcards.cell}."
    )


def images_to_classify(wildcards):
    """The folder of images that a job classifies."""
    cell = classified_cell(wildcards)
    return place_images(wildcards.study, cell.dataset, wildcards.number)


def classifier_setting(name):
    """A setting of the classifier of a job."""
    return lambda wildcards: config["studies"][wildcards.study]["classify"]["models"][
        classified_cell(wildcards).model
    ][name]


def known_classes(section):
    """The file of class names of a section of the job's study, if any."""

    def find_classes(wildcards):
        path = config["studies"][wildcards.study][section]["classes"]
        return [path] if path else []

    return find_classes


def datasets_in_order(wildcards):
    """The datasets of the job's study as configured."""
    return list(config["studies"][wildcards.study]["predictions"]["datasets"])


def example_cells(wildcards):
    """The cells of a compared dataset that the study classifies; of seeds the first."""
    settings = config["studies"][wildcards.study]
    cells = list_classified(wildcards.study)
    known = [*settings["predictions"]["datasets"], *(cell.dataset for cell in cells)]
    known = list(dict.fromkeys(known))
    compared = settings["multilabel"]["compare"] or known[:2]
    for dataset in [*reversed(compared), *known]:
        own = [cell for cell in cells if cell.dataset == dataset]
        if own:
            return [cell for cell in own if cell.seed == own[0].seed]
    return []


def example_dumps(wildcards):
    """The scores of the images from which examples are chosen, by each model."""
    study = wildcards.study
    return [
        f"{place_dump(study, cell, cell.seed)}.npy" for cell in example_cells(wildcards)
    ]


def example_labels(kind):
    """A file of labels or ids of the images from which examples are chosen, if any."""

    def find_file(wildcards):
        cells = example_cells(wildcards)[:1]
        sources = find_labels(wildcards.study)
        return list_paths([sources[cell.dataset][kind] for cell in cells], cells)

    return find_file


def example_images(wildcards):
    """The folder of the images from which examples are chosen, if any."""
    return [
        place_images(wildcards.study, cell.dataset, cell.seed)
        for cell in example_cells(wildcards)[:1]
    ]


def example_models(wildcards):
    """The models of `example_dumps`."""
    return [cell.model for cell in example_cells(wildcards)]


def example_dataset(wildcards):
    """The dataset of `example_dumps`, empty where there is none."""
    return next((cell.dataset for cell in example_cells(wildcards)), "")
