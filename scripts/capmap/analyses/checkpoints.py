"""Which checkpoint stands for a training, and what the choice is worth."""

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.checkpoints.rankings import analyse_checkpoints

ANALYSIS = Analysis(
    question="Which checkpoint is best, and what is the choice worth?",
    position=210,
    tables={
        "selected": Table(
            "The chosen checkpoint of each training: its value where it was chosen and where it "
            "is compared, and how much better it is than the mean and the last checkpoint. The "
            "best of several is above their mean even where they differ by noise only; the gain "
            "on the report split is free of that.",
            "model training checkpoint step selection report checkpoints mean last optimism_mean "
            "optimism_last gain_report stamp",
            formats="csv tex json",
        ),
        "checkpoint_rankings": Table(
            "Each configured ranking of the chosen checkpoints. Equal scores share a rank; what "
            "lacks a value has no rank.",
            "ranking method rank model training checkpoint score stamp",
            formats="csv json",
        ),
        "ranking_agreement": Table(
            "How alike two rankings of the same checkpoints are, also those by each metric alone:"
            " Kendall's tau-b, which allows for ties, how many share a rank, and how many have "
            "another rank.",
            "ranking_a ranking_b kendall_tau checkpoints tied_a tied_b moved stamp",
            formats="csv json",
        ),
        "ranking_moves": Table(
            "Who moves between the first ranking and another one, largest changes first. "
            "Competition ranks among the checkpoints that both rank; above 0: a rise.",
            "ranking_a ranking_b model training checkpoint rank_a rank_b change stamp",
            formats="csv json",
        ),
        "checkpoints": Table(
            "Every checkpoint of each training, the value by which checkpoints are chosen, and "
            "which one is chosen. A checkpoint that lacks a dataset of the selection has no value"
            " and cannot be chosen.",
            "training model checkpoint step selection chosen datasets split stamp",
            formats="csv json",
        ),
        "curves": Table(
            "Mean of each metric over datasets at each step of a training, with an interval over "
            "datasets, and mean over the trainings of each model (no name of a training), with an"
            " interval over trainings. With several datasets values are normalized, and errors "
            "are turned, so that 1 is the best.",
            "training model metric split step mean ci_low ci_high datasets trainings",
            formats="csv json",
        ),
    },
    figures={
        "checkpoint_curves": Figure(
            "The metric by which checkpoints are chosen over the steps: the mean of each model "
            "with an interval over its trainings, or over datasets for a model with one training;"
            " markers are the chosen checkpoints.",
            draw="capmap.figures.leaderboard:draw_checkpoint_curves",
            reads=["curves", "selected", "checkpoints"],
            order="iqm",
            options={
                "metric": "checkpoints/select/metric",
            },
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
            analyse_checkpoints,
            tables=[
                "selected",
                "checkpoint_rankings",
                "ranking_agreement",
                "ranking_moves",
                "checkpoints",
                "curves",
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
        ),
    },
    meanings={
        "checkpoints": "Number of checkpoints of the training.",
        "chosen": "Whether this checkpoint is the one that is chosen.",
        "gain_report": "Chosen checkpoint less the last that could be, on the report split.",
        "last": "Value of the last checkpoint.",
        "moved": "Number of checkpoints with another rank.",
        "optimism_last": "Chosen checkpoint less the last that could be, where it was chosen.",
        "optimism_mean": "Chosen checkpoint less the mean of all, where it was chosen.",
        "report": "Value where checkpoints are compared.",
        "selection": "Value by which checkpoints are chosen.",
        "step": "Step of the training.",
        "tied_a": "Number of checkpoints that share their first rank.",
        "tied_b": "Number of checkpoints that share their second rank.",
        "trainings": "Number of trainings.",
        "curves.mean": "Mean over datasets, normalized where there are several.",
        "ranking_agreement.checkpoints": "Number of checkpoints that both rank.",
        "ranking_agreement.kendall_tau": "Kendall's tau-b of the two rankings, -1 to 1.",
        "ranking_moves.change": "First rank less the second; above 0: a rise.",
        "ranking_moves.rank_a": "Rank in the first ranking; 1 is best.",
        "ranking_moves.rank_b": "Rank in the second ranking; 1 is best.",
        "selected.mean": "Mean value of all checkpoints.",
    },
)
