"""Benchmarks as data: their datasets with metrics, their dimensions, and the models they know."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from capmap.errors import ConfigError
from capmap.settings.checking import check_settings
from capmap.settings.choices import Direction
from capmap.settings.files import read_yaml
from capmap.settings.sections import ABSENT, Name, Number, Section
from capmap.wording import ALL, find_nearest, list_names, quote_name


class StoredErrors(Section):
    """How errors were stored as scores."""

    std: Number = Field(gt=0, description="A stored score is 1 minus the error times std.")


class StoredTransform(Section):
    """How stored scores were made, by the transform's name."""

    scale_rmse: StoredErrors = Field(ABSENT)


class DefinedDataset(Section):
    """A dataset of a benchmark."""

    metric: Name = Field(description="Name of the metric in submissions.")
    direction: Direction = Field(description="Which stored score is better.")
    description: str = Field("")
    stored_as: str = Field("")
    transform: StoredTransform = Field(ABSENT)


class DefinedModel(Section):
    """A model that a benchmark knows."""

    name: Name = Field(description="Name of the model in tables and figures.")
    size: str = Field("")


class Definition(Section):
    """A benchmark."""

    title: str = Field("")
    description: str = Field("")
    datasets: dict[str, DefinedDataset] = Field(
        min_length=1, description="Each dataset with its metric and direction."
    )
    dimensions: dict[str, Annotated[list[Name], Field(min_length=1)]] = Field({})
    described: dict[str, str] = Field({}, description="What each dimension is.")
    models: dict[str, DefinedModel] = Field({})


@dataclass(frozen=True)
class BenchmarkDataset:
    """A dataset of a benchmark.

    Parameters
    ----------
    metric : str
        Name of its metric in submissions.
    direction : {"max", "min"}
        Which stored score is better.
    description, stored_as : str
        What it is, and how its scores are stored, in words.
    transform : mapping
        How stored scores were made of errors, such as ``{"scale_rmse": {"std": 0.25}}``; empty
        where the metric is stored as it is.
    """

    metric: str
    direction: Direction
    description: str = ""
    stored_as: str = ""
    transform: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class BenchmarkModel:
    """How a model is shown: its name and its size."""

    name: str
    size: str = ""


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark consists of.

    Parameters
    ----------
    title, description : str
        What people call it, and what it is.
    datasets : dict of str to BenchmarkDataset
        In the order of the file.
    dimensions : dict of str to list of str
        Named groups of datasets, in the order of the file.
    described : dict of str to str
        What each dimension is, in words.
    models : dict of str to BenchmarkModel
        The models that it knows, by the key of their backbone.
    """

    title: str
    description: str
    datasets: dict[str, BenchmarkDataset]
    dimensions: dict[str, list[str]]
    models: dict[str, BenchmarkModel]
    described: dict[str, str] = field(default_factory=dict)


def read_benchmark(path: str) -> Benchmark:
    """Read the definition of a benchmark.

    Parameters
    ----------
    path : str
        YAML with the keys ``title``, ``description``, ``datasets``, ``dimensions``, ``described``
        and ``models``.

    Returns
    -------
    Benchmark
        With all defaults filled in.

    Raises
    ------
    ConfigError
        When the file cannot be read or anything is wrong with it; one line per fault with the file
        and the key.

    Notes
    -----
    A name that YAML reads as a number or a truth value has to be quoted. A key that stands twice is
    a fault. ``All`` cannot be the name of a dimension, because tables call all datasets so.
    """
    content = read_yaml(path)
    if not isinstance(content, Mapping):
        raise ConfigError(f"{path}: expected a section with the key datasets.")
    try:
        checked = check_settings(content, Definition)
    except ConfigError as error:
        faults = str(error).splitlines()
    else:
        faults = _check_dimensions(checked["dimensions"], checked["datasets"])
    if faults:
        raise ConfigError("\n".join(f"{path}: {fault}" for fault in faults))
    return Benchmark(
        title=checked["title"],
        description=checked["description"],
        datasets={name: BenchmarkDataset(**rule) for name, rule in checked["datasets"].items()},
        dimensions=checked["dimensions"],
        models={key: BenchmarkModel(**model) for key, model in checked["models"].items()},
        described=checked["described"],
    )


def complete_rules(
    datasets: Mapping[str, Any], benchmark: Benchmark | None, present: Iterable[str]
) -> dict[str, Any]:
    """Add what a benchmark says of its datasets to a study's rules, which win.

    Parameters
    ----------
    datasets : mapping
        The study's rules of datasets.
    benchmark : Benchmark or None
        Its metrics and directions are added; None adds nothing.
    present : iterable of str
        The datasets that have runs; others get no rule of the benchmark.

    Returns
    -------
    dict
        Rules of datasets: those of the study first, then the others by name.

    Notes
    -----
    A rule that names a transform keeps the direction of the benchmark out, because the transform
    says which converted score is better.
    """
    rules = {name: dict(rule) for name, rule in datasets.items()}
    known = benchmark.datasets if benchmark else {}
    for name in sorted(set(present) & set(known)):
        own = rules.get(name, {})
        given = {"metric": known[name].metric}
        if "transform" not in own:
            given["direction"] = known[name].direction
        rules[name] = {**given, **own}
    return rules


def _check_dimensions(
    dimensions: Mapping[str, list[str]], datasets: Mapping[str, Any]
) -> list[str]:
    faults = []
    for dimension, names in dimensions.items():
        place = (
            f"dimensions.{dimension}" if dimension.isidentifier() else f"dimensions: {dimension!r}"
        )
        if dimension == ALL:
            faults.append(f"{place}: all datasets together are called so; choose another name.")
        for name, count in Counter(names).items():
            if count > 1:
                faults.append(f"{place}: the dataset {quote_name(name)} stands {count} times.")
            if name not in datasets:
                near = find_nearest(name, datasets)
                hint = f"Did you mean {quote_name(near)}?" if near else ""
                known = hint or f"Known are {list_names(sorted(datasets))}."
                faults.append(f"{place}: there is no dataset {quote_name(name)}. {known}")
    return faults
