"""Analyses of leaderboards: entries, releases and checkpoints."""

from capmap.catalog.declarations import Analysis, Figure, Step, Table

LEADERBOARD = Analysis(
    question="Who leads, and on what?",
    folder="leaderboard",
    tables={
        "entries": Table(
            "Entries of the leaderboard by their normalized score over all datasets, ranked "
            "within each method, with intervals of score and rank. Entries that share a letter "
            "cannot be separated, allowing for all pairs. Entries with runs on too few datasets "
            "have no rank.",
            "method rank model name backbone size submission iqm ci_low ci_high rank_low "
            "rank_high tie_group mean runs datasets expected complete",
            best={"iqm": "max"},
            formats="csv md tex json",
        ),
        "dimensions": Table(
            "Normalized score and rank of each entry in each dimension, within its method, "
            "with intervals. Percentile intervals of few seeds are too narrow, most so for "
            "dimensions of few datasets. The error of the mean of the replicates is a numerical "
            "one and does not say how sure a score is.",
            "method dimension rank model name submission iqm ci_low ci_high rank_low "
            "rank_high tie_group bootstrap_mean bootstrap_sem runs datasets expected complete",
            text="dimension",
            formats="csv md tex json",
        ),
        "best": Table(
            "The best complete entry of each backbone across submissions, ranked anew within "
            "each method. That the best of several was chosen is not in its interval.",
            "method rank backbone name size submission iqm ci_low ci_high submissions",
            best={"iqm": "max"},
            formats="csv md tex json",
        ),
        "normalized": Table(
            "Normalized score over seeds on each dataset, with its interval and the rank among "
            "the entries of the method.",
            "method model name submission dataset seeds iqm ci_low ci_high rank",
            formats="csv md tex json",
        ),
        "raw": Table(
            "Scores as they were submitted: mean over seeds on each dataset, in the units of "
            "its metric, and the standard error of that mean (empty with one seed).",
            "method model name submission dataset metric seeds mean sem",
            formats="csv md tex json",
        ),
        "submissions": Table(
            "What each submission holds and what it says of itself.",
            "submission models runs datasets paper code license hpo_trials information comments",
            formats="csv md tex json",
        ),
    },
    figures={
        "leaderboard_dimensions": Figure(
            "Normalized score of each entry in each dimension, with its interval and its rank "
            "within the method. Entries with runs on too few of the datasets have a bar and no "
            "rank.",
            draw="capmap.figures.leaderboard:draw_leaderboard_dimensions",
            reads=["dimensions"],
        )
    },
    steps={
        "rank_entries": Step(
            "capmap.leaderboard.scores:rank_entries",
            tables=["entries", "dimensions", "best"],
            reads=["exported", "runs", "scopes", "bounds"],
            paths=["replicates", "descriptions", "benchmark"],
            options={
                "dimension_datasets": "leaderboard/dimensions",
                "confidence_level": "bootstrap/confidence",
            },
            describe="capmap.prose.leaderboard:describe_leaderboard",
        ),
        "summarize_entries": Step(
            "capmap.leaderboard.scores:summarize_entries",
            tables=["normalized", "raw", "submissions"],
            reads=["exported", "scopes"],
            paths=["replicates", "descriptions", "benchmark"],
        ),
    },
)

RELEASES = Analysis(
    question="How did the ranks move from release to release?",
    needs="leaderboard/releases",
    tables={
        "rank_history": Table(
            "Rank and score of each entry in each release, as published at the time. Scores of "
            "two releases compare only where both rest on the same bounds of normalization.",
            "release method model name rank iqm",
            formats="csv md tex json",
        )
    },
    figures={
        "rank_history": Figure(
            "Ranks of the entries from release to release, as published at the time. A gap "
            "is a release that does not rank the entry.",
            draw="capmap.figures.leaderboard:draw_rank_history",
            reads=["rank_history"],
        )
    },
    steps={
        "track_releases": Step(
            "capmap.leaderboard.history:track_releases",
            tables=["rank_history"],
            paths=["releases"],
            describe="capmap.prose.leaderboard:describe_releases",
        )
    },
)

CHECKPOINTS = Analysis(
    question="Which checkpoint is best, and what is the choice worth?",
    tables={
        "selected": Table(
            "The chosen checkpoint of each training: its value where it was chosen and where "
            "it is compared, and how much better it is than the mean and the last "
            "checkpoint. The best of several is above their mean even where they differ by "
            "noise only; the gain on the report split is free of that.",
            "model training checkpoint step selection report checkpoints mean last "
            "optimism_mean optimism_last gain_report stamp",
            formats="csv md tex json",
        ),
        "checkpoint_rankings": Table(
            "Each configured ranking of the chosen checkpoints. Equal scores share a rank; what "
            "lacks a value has no rank.",
            "ranking method rank model training checkpoint score stamp",
            formats="csv md tex json",
        ),
        "ranking_agreement": Table(
            "How alike two rankings of the same checkpoints are, also those by each metric alone: "
            "Kendall's tau-b, which allows for ties, how many share a rank, and how many have "
            "another rank.",
            "ranking_a ranking_b kendall_tau checkpoints tied_a tied_b moved stamp",
            formats="csv md tex json",
        ),
        "ranking_moves": Table(
            "Who moves between the first ranking and another one, largest changes first. "
            "Competition ranks among the checkpoints that both rank; above 0: a rise.",
            "ranking_a ranking_b model training checkpoint rank_a rank_b change stamp",
            formats="csv md tex json",
        ),
        "checkpoints": Table(
            "Every checkpoint of each training, the value by which checkpoints are chosen, "
            "and which one is chosen. A checkpoint that lacks a dataset of the selection has "
            "no value and cannot be chosen.",
            "training model checkpoint step selection chosen datasets split stamp",
            formats="csv md tex json",
        ),
        "curves": Table(
            "Mean of each metric over datasets at each step of a training, with an interval "
            "over datasets, and mean over the trainings of each model (no name of a "
            "training), with an interval over trainings. With several datasets values are "
            "normalized, and errors are turned, so that 1 is the best.",
            "training model metric split step mean ci_low ci_high datasets trainings",
            formats="csv md tex json",
        ),
    },
    figures={
        "checkpoint_curves": Figure(
            "The metric by which checkpoints are chosen over the steps: the mean of each "
            "model with an interval over its trainings, or over datasets for a model with "
            "one training; markers are the chosen checkpoints.",
            draw="capmap.figures.leaderboard:draw_checkpoint_curves",
            reads=["curves", "selected", "checkpoints"],
            order="iqm",
            options={"metric": "checkpoints/select/metric"},
        ),
        "checkpoint_optimism": Figure(
            "Best, mean and last of each training's checkpoints where they were chosen. The "
            "distance from best to mean is partly luck.",
            draw="capmap.figures.leaderboard:draw_checkpoint_optimism",
            reads=["selected"],
        ),
    },
    steps={
        "rank_checkpoints": Step(
            "capmap.checkpoints.rankings:analyse_checkpoints",
            tables=[
                *("selected", "checkpoint_rankings", "ranking_agreement", "ranking_moves"),
                *("checkpoints", "curves"),
            ],
            reads=["evaluations"],
            options={
                "settings": "checkpoints",
                "metric": "metric",
                "metrics": "metrics",
                "datasets": "datasets",
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            describe="capmap.prose.checkpoints:describe_checkpoints",
        )
    },
)

# In the order of the page.
ANALYSES = {
    "leaderboard": LEADERBOARD,
    "releases": RELEASES,
    "checkpoints": CHECKPOINTS,
}
