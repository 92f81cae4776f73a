"""What the steps of analyses and the figures read, as the catalog declares it."""

SHARED = {name for name in STEPS if find_owner(name, "steps").shared}
FILES = {file: path for step in STEPS.values() for file, path in step.files.items()}
# What is no table and no file of a step; all but the first few depend on the study.
ARTIFACTS = {
    "bounds": "results/{study}/normalized/bounds.csv",
    "exported": "results/{study}/runs.parquet",
    "evaluations": "results/{study}/leaderboard/evaluations.parquet",
    "runs": shards_in("normalized"),
    "others": shards_of_conditions,
    "model_file": attributes_of("models"),
    "dataset_file": attributes_of("datasets"),
    "folds": folds_of,
    "places": map_of,
    "evaluated": parts_of("scores.parquet"),
    "outcomes": parts_of("outcomes.parquet"),
    "facts": parts_of("facts.json"),
    "estimates": shards_in("leaderboard/entries"),
    "cells": shards_in("leaderboard/cells"),
    "descriptions": described_submissions,
    "benchmark": benchmark_of,
    "releases": releases_of,
}
# Options that are worked out from several settings.
WORKED_OUT = {
    "leaderboard/dimensions": dimensions_of,
    "predictions/order": datasets_in_order,
}


def list_steps(study):
    """The steps of the analyses of a study."""
    return [name for made in list_analyses(study) for name in ANALYSES[made].steps]


def list_drawn(study):
    """The figures of a study that finished tables make."""
    names = list_figures(config["studies"][study])
    return [name for name in names if FIGURES[name].draw]


def find_artifact(name, owner):
    """The path, or the function that finds the paths, of what an analysis reads."""
    if place := place_table(name, owner):
        return f"results/{{study}}/{place}.csv"
    return ARTIFACTS.get(name) or f"results/{{study}}/{FILES[name]}"


def inputs_of_steps(*names):
    """What steps read, by name."""
    return {
        read: find_artifact(read, find_owner(name, "steps"))
        for name in names
        for read in [*STEPS[name].reads, *STEPS[name].paths]
    }


def outputs_of_steps(*names):
    """The files that steps write."""
    paths = []
    for name in names:
        step, owner = STEPS[name], find_owner(name, "steps")
        for made in step.tables:
            paths += table(made, owner.folder, owner.tables[made].formats)
        paths += [f"results/{{study}}/{path}" for path in step.files.values()]
        if step.describe:
            paths += text(next(key for key in ANALYSES if ANALYSES[key] is owner))
    return paths


def options_of_steps(*names):
    """What steps are told, by parameter."""
    return lambda wildcards: {
        name: read_options(STEPS[name].options, wildcards) for name in names
    }


def read_options(options, wildcards):
    """The values of options, by parameter."""
    study = config["studies"][wildcards.study]
    return {
        parameter: (
            WORKED_OUT[path](wildcards)
            if path in WORKED_OUT
            else read_setting(study, path)
        )
        for parameter, path in options.items()
    }


def list_forms(name):
    """What the files of a step's tables depend on beside its code: not on captions."""
    tables = find_owner(name, "steps").tables
    for made in STEPS[name].tables:
        yield tables[made].columns, tables[made].best, tables[made].formats


def code_of_steps(*names):
    """Digests of the code of steps, worked out once the rule has a job."""
    return lambda wildcards: {
        name: library.digest_functions(
            STEPS[name].run,
            STEPS[name].describe,
            "capmap.tables:write_declared",
            declared=repr([STEPS[name], *list_forms(name)]),
        )
        for name in names
    }


def list_reads(name):
    """What a figure reads, by name; ``order`` is the table that orders the models."""
    drawn, owner = FIGURES[name], find_owner(name, "figures")
    reads = {read: find_artifact(read, owner) for read in drawn.reads}
    return reads | ({"order": find_artifact(drawn.order, owner)} if drawn.order else {})


def fill_path(place, wildcards):
    """A path of the job's study."""
    return place(wildcards) if callable(place) else place.format(study=wildcards.study)


def inputs_of_figures(*names):
    """The files that figures are made of."""
    return lambda wildcards: list(
        dict.fromkeys(
            fill_path(place, wildcards)
            for name in names
            for place in list_reads(name).values()
        )
    )


def reads_of_figures(*names):
    """The files that each figure is made of, by name."""
    return lambda wildcards: {
        name: {
            read: fill_path(place, wildcards)
            for read, place in list_reads(name).items()
        }
        for name in names
    }


def options_of_figures(*names):
    """What the functions of figures are told, by parameter."""
    return lambda wildcards: {
        name: read_options(FIGURES[name].options, wildcards) for name in names
    }


def code_of_figures(*names):
    """Digests of the code that draws figures, worked out once the rule has a job."""
    return lambda wildcards: {
        name: library.digest_functions(
            FIGURES[name].draw,
            "capmap.figures.style:save_figure",
            "capmap.tables:read_declared",
            declared=repr(FIGURES[name].options),
        )
        for name in names
    }
