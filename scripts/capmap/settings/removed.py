"""Settings, and values of settings, that an earlier version knew, and what to use instead."""

REMOVED: dict[str, str] = {
    "attributes.datasets.cost": "leave it out; what to run next does not depend on costs.",
    "capabilities.method=ensemble": "leave it out; predictions are by the Bayesian factors.",
    "capabilities.starts": "leave it out; positions are fitted from one start.",
    "capabilities.unreported_worse": "leave it out; results are taken as missing at random.",
    "classify": "write the scores of your models as dumps and name them in exports.",
    "duplicates=sum": "set duplicates: mean, or add the rows up before the export.",
    "limits": "leave it out; pairs of more than 500 models are not compared.",
    "next": "leave it out; capabilities/next lists all models and datasets, and can be filtered.",
    "reading.delimiter": "it is found; write other tables with commas, semicolons, tabs or bars.",
    "take.step": "read the rows of the step only, as in where: {step: 500}.",
    "tracking": "export the runs by mlflow.search_runs().to_csv() and set preset: mlflow.",
}
