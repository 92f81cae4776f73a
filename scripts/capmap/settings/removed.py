"""Settings, and values of settings, that an earlier version knew, and what to use instead."""

REMOVED: dict[str, str] = {
    "classify": "write the scores of your models as dumps and name them in exports.",
    "limits": "leave it out; pairs of more than 500 models are not compared.",
    "tracking": "export the runs by mlflow.search_runs().to_csv() and set preset: mlflow.",
}
