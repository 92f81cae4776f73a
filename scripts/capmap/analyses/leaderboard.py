"""Entries of a leaderboard, by method and dimension."""

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.leaderboard.scores import rank_entries, summarize_entries

ANALYSIS = Analysis(
    question="Who leads, and on what?",
    position=190,
    folder="leaderboard",
    tables={
        "entries": Table(
            "Entries of the leaderboard by their normalized score over all datasets, ranked "
            "within each method, with intervals of score and rank. Entries that share a letter "
            "cannot be separated, allowing for all pairs. Entries with runs on too few datasets "
            "have no rank.",
            "method rank model name backbone size submission iqm ci_low ci_high rank_low "
            "rank_high tie_group mean runs datasets expected complete",
            best={
                "iqm": "max",
            },
            formats="csv tex json",
        ),
        "dimensions": Table(
            "Normalized score and rank of each entry in each dimension, within its method, with "
            "intervals. Percentile intervals of few seeds are too narrow, most so for dimensions "
            "of few datasets. The error of the mean of the replicates is a numerical one and does"
            " not say how sure a score is.",
            "method dimension rank model name submission iqm ci_low ci_high rank_low rank_high "
            "tie_group bootstrap_mean bootstrap_sem runs datasets expected complete",
            text="dimension",
            formats="csv json",
        ),
        "best": Table(
            "The best complete entry of each backbone across submissions, ranked anew within each"
            " method. That the best of several was chosen is not in its interval.",
            "method rank backbone name size submission iqm ci_low ci_high submissions",
            best={
                "iqm": "max",
            },
            formats="csv json",
        ),
        "normalized": Table(
            "Normalized score over seeds on each dataset, with its interval and the rank among "
            "the entries of the method.",
            "method model name submission dataset seeds iqm ci_low ci_high rank",
            formats="csv json",
        ),
        "raw": Table(
            "Scores as they were submitted: mean over seeds on each dataset, in the units of its "
            "metric, and the standard error of that mean (empty with one seed).",
            "method model name submission dataset metric seeds mean sem",
            formats="csv json",
        ),
        "submissions": Table(
            "What each submission holds and what it says of itself.",
            "submission models runs datasets paper code license hpo_trials information comments",
            formats="csv json",
        ),
    },
    figures={
        "leaderboard_dimensions": Figure(
            "Normalized score of each entry in each dimension, with its interval and its rank "
            "within the method. Entries with runs on too few of the datasets have a bar and no "
            "rank.",
            draw="capmap.figures.leaderboard:draw_leaderboard_dimensions",
            reads=["dimensions"],
        ),
    },
    steps={
        "rank_entries": Step(
            rank_entries,
            tables=["entries", "dimensions", "best"],
            reads=["exported", "runs", "scopes", "bounds"],
            paths=["replicates", "descriptions", "benchmark"],
            options={
                "dimension_datasets": "leaderboard/dimensions",
                "confidence_level": "bootstrap/confidence",
            },
        ),
        "summarize_entries": Step(
            summarize_entries,
            tables=["normalized", "raw", "submissions"],
            reads=["exported", "scopes"],
            paths=["replicates", "descriptions", "benchmark"],
        ),
    },
    meanings={
        "bootstrap_mean": "Mean of the bootstrap replicates.",
        "bootstrap_sem": "Numerical error of the mean of the replicates; no measure of "
        "uncertainty.",
        "code": "Where the code of the submission is.",
        "comments": "What the submission says of itself.",
        "complete": "Whether the entry has enough runs on enough datasets to be ranked.",
        "hpo_trials": "Trials of the search for hyper-parameters.",
        "paper": "Where the paper of the submission is.",
        "submissions": "Number of submissions with this backbone.",
        "dimensions.dimension": "The dimension: a group of datasets, as configured.",
        "dimensions.expected": "Number of datasets that the dimension has.",
        "entries.expected": "Number of datasets that the leaderboard has.",
        "entries.mean": "Mean of normalized scores over datasets.",
        "submissions.information": "Further information of the submission.",
    },
)
