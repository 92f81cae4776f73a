"""Settings, and values of settings, that an earlier version knew, and what to use instead."""

REMOVED: dict[str, str] = {
    "classify": "write the scores of your models as dumps and name them in exports.",
    "duplicates=sum": "set duplicates: mean, or add the rows up before the export.",
    "limits": "leave it out; pairs of more than 500 models are not compared.",
    "reading.delimiter": "it is found; write other tables with commas, semicolons, tabs or bars.",
    "take.step": "read the rows of the step only, as in where: {step: 500}.",
    "tracking": "export the runs by mlflow.search_runs().to_csv() and set preset: mlflow.",
"""What users may still write that is gone, and what to use instead."""

REMOVED: dict[str, str] = {
    "aggregate": "Leave it out: mean, trimmed mean and median are always given.",
    "analyses=publications": "columns: {seed: COLUMN} makes a run of each publication.",
    "bootstrap.interval=basic": "Use calibrated, which holds its level with few runs.",
    "bootstrap.interval=bca": "Use calibrated, which holds its level with few runs.",
    "bootstrap.statistics": "Leave it out: all statistics have intervals.",
    "bootstrap.weights": "Leave it out: each dataset weighs the same, however many runs it has.",
    "columns.publication": "Use columns: {seed: COLUMN}, which makes a run of each publication.",
    "comparison.missing": "For datasets that all models have, set incomplete: drop_datasets.",
    "groups.<name>.incomplete=impute": "Use adjust, which expects what is missing from the others.",
    "groups.<name>.incomplete=keep": "Use adjust, which expects what is missing from the others.",
    "incomplete=impute": "Use adjust, which expects what is missing from the other scores.",
    "incomplete=keep": "Use adjust, drop_models or drop_datasets; min_datasets says who is ranked.",
    "leaderboard.complete": "Use min_datasets; in a dimension an entry needs all datasets.",
    "rank_by=optimality_gap": "Use mean; the optimality gap is in tables/intervals.",
    "ratings": "Leave it out: mean scores meet, equal ones are ties, and 1000 is the mean rating.",
    "robustness.top": "Leave it out; rank sets over datasets say how ranks depend on them.",
    "sample_size": "Leave it out: tables/detectable is for a power of 80%.",
}
