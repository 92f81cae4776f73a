"""Benchmarks as data: their datasets with metrics, their dimensions, and the models they know."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field

from capmap.errors import ConfigError
from capmap.settings.checking import ABSENT, Name, Section, Transform, Unique, check_settings
from capmap.settings.choices import Direction
from capmap.settings.files import read_yaml
from capmap.wording import ALL, list_names, quote_name, suggest, write_key


class BenchmarkDataset(Section):
    """A dataset of a benchmark."""

    metric: Name = Field(description="Name of the metric in submissions.")
    direction: Direction = Field(description="Which stored score is better.")
    description: str = Field("", description="What it is, in words.")
    stored_as: str = Field("", description="How its scores are stored, in words.")
    transform: Transform = Field(
        ABSENT, description="How stored scores were made of errors, as {scale_rmse: {std: 0.25}}."
    )


class BenchmarkModel(Section):
    """How a model that a benchmark knows is shown."""

    name: Name = Field(description="Name of the model in tables and figures.")
    size: str = Field("", description="Its size, such as 90M.")


class Benchmark(Section):
    """What a benchmark consists of, in the order of its file."""

    title: str = Field("", description="What people call it.")
    description: str = Field("", description="What it is.")
    datasets: dict[str, BenchmarkDataset] = Field(
        min_length=1, description="Each dataset with its metric and direction."
    )
    dimensions: dict[str, Annotated[Unique[Name], Field(min_length=1)]] = Field(
        {}, description="Named groups of datasets."
    )
    described: dict[str, str] = Field({}, description="What each dimension is.")
    models: dict[str, BenchmarkModel] = Field({}, description="By the key of their backbone.")


def read_benchmark(path: str) -> Benchmark:
    """Read the definition of a benchmark from YAML; a fault is told with the file and the key.

    A name that YAML reads as a number or a truth value has to be quoted. ``All`` cannot be the name
    of a dimension, because tables call all datasets so.
    """
    content = read_yaml(path)
    try:
        checked = check_settings(content, Benchmark)
    except ConfigError as error:
        faults = str(error).splitlines()
    else:
        faults = _check_dimensions(checked["dimensions"], checked["datasets"])
    if faults:
        raise ConfigError("\n".join(f"{path}: {fault}" for fault in faults))
    return Benchmark(**checked)


def complete_rules(
    datasets: Mapping[str, Any], benchmark: Benchmark | None, present: Iterable[str]
) -> dict[str, Any]:
    """Add what a benchmark says of the present datasets to a study's rules, which win.

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
        place = f"dimensions.{write_key(dimension)}"
        if dimension == ALL:
            faults.append(f"{place}: all datasets together are called so; choose another name.")
        for name in names:
            if name not in datasets:
                known = suggest(name, datasets, f"Known are {list_names(sorted(datasets))}.")
                faults.append(f"{place}: there is no dataset {quote_name(name)}. {known}")
    return faults
