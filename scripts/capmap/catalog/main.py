"""The ranking, which every study has, and what others published beside it."""

from capmap.catalog.declarations import Analysis, Figure, Step, Table

# What the page says first, in the study's folder.
HEADLINE = "headline.txt"
# Figures of all models, which leaderboards that rank within methods do not show.
TOGETHER = ("intervals", "rank_shift")
LABELS = {
    "ci_low": "Score from",
    "ci_high": "Score to",
    "ci_low_all": "Score from, all models at once",
    "ci_high_all": "Score to, all models at once",
    "filled": "Filled in",
    "rank_mean": "Rank by mean",
    "rank_trimmed_mean": "Rank by trimmed mean",
    "rank_median": "Rank by median",
    "n": "Runs",
    "sem": "SEM",
    "normalized_std": "Normalized SD",
    "normalized_sem": "Normalized SEM",
    "normalized_iqm": "Normalized IQM",
}

MAIN = Analysis(
    question="Which model is best, and how sure is that?",
    folder="tables",
    tables={
        "iqm": Table(
            "Models ranked by interquartile mean (IQM), with intervals of the score and "
            "confidence sets of the rank: of each model, and of all models at once. Models that "
            "share a letter cannot be separated, allowing for all pairs; there are letters for "
            "models with an interval, of up to 200 models.",
            "model iqm ci_low ci_high rank rank_low rank_high rank_low_all rank_high_all "
            "may_be_best runs datasets filled tie_group",
            best={"iqm": "max"},
            labels=LABELS,
            short="Models by interquartile mean (IQM), best first.",
            share=400_000,
        ),
        "scopes": Table(
            "The study's ranking, by interquartile mean (IQM) or what is configured, with what "
            "holds on these datasets (over new runs, or new seeds with runs on all of them) and "
            "what holds on other datasets like these (over runs and datasets): intervals, of each "
            "model and of all at once, and confidence sets, as in the ranking by IQM.",
            "unit statistic model score ci_low ci_high ci_low_all ci_high_all rank rank_low "
            "rank_high rank_low_all rank_high_all may_be_best runs datasets filled missing "
            "tie_group",
            labels=LABELS | {"unit": "Over", "statistic": "Ranked by"},
            short="What holds on these datasets (over runs or seeds), and on other datasets like "
            "these (over runs and datasets).",
            share=160_000,
        ),
        "intervals": Table(
            "Every statistic of each model, with its interval, rank and set of ranks. Of "
            "the optimality gap, less is better.",
            "statistic model estimate ci_low ci_high rank rank_low rank_high",
            labels=LABELS,
            short="Every statistic with its interval, rank and set of ranks. Of the optimality "
            "gap, less is better.",
            share=80_000,
        ),
        "aggregate": Table(
            "Scores and competition ranks of the models by each aggregation of the datasets' "
            "scores, in the order of the first.",
            "model",
            more=True,
            labels=LABELS,
            short="Scores and ranks by each aggregation of the datasets' scores, in the order of "
            "the first.",
            share=200_000,
        ),
        "scores": Table(
            "Normalized score of each model on each dataset, averaged over runs. 0 and 1 are "
            "the bounds of the dataset; 1 is best, whatever the direction of the metric. A "
            "cell without runs is empty.",
            "model",
            more=True,
            labels=LABELS,
            short="Normalized score of each model on each dataset, averaged over runs; 1 is best.",
            share=200_000,
        ),
        "seeds": Table(
            "Number, mean, standard deviation, standard error, extremes and interquartile "
            "mean of the runs in each cell: of scores as exported, after transforms, then of "
            "normalized ones.",
            "model dataset n mean std sem min max iqm normalized_mean normalized_std "
            "normalized_sem normalized_min normalized_max normalized_iqm",
            labels=LABELS,
            short="Number and spread of runs in each cell: of scores as exported, after "
            "transforms, then of normalized ones.",
            share=200_000,
        ),
        "shared_seeds": Table(
            "Mean correlation of two datasets over the seeds of a model, with the p-value of the "
            "hypothesis that runs of a seed on different datasets have nothing in common, against "
            "a positive correlation: seeds are permuted on each dataset, for all models alike.",
            "correlation p models",
            labels=LABELS,
            short="Whether runs of a seed on different datasets move together.",
            share=10_000,
        ),
    },
    figures={
        "intervals": Figure(
            "Interquartile mean (IQM), or what else ranks the models, of each model over all runs "
            "and datasets, best on top, with its interval. Intervals that overlap do not show that "
            "models are equal; the tie groups of the ranking say which cannot be separated.",
            draw="capmap.figures.rankings:draw_intervals",
            reads=["scopes"],
            short="Score of each model with its interval, best on top.",
            alt="Plot of the score of each model with its interval. The ranking "
            "table holds the same numbers.",
        ),
        "rank_shift": Figure(
            "Rank of each model by each aggregation of the datasets' scores and by "
            "interquartile mean (IQM). Lines that cross are models whose order depends on "
            "the aggregation.",
            draw="capmap.figures.rankings:draw_rank_shift",
            reads=["aggregate", "iqm"],
            short="Rank of each model by each aggregation; lines that cross are models whose order "
            "depends on it.",
            alt="Plot of the rank of each model by each aggregation. The aggregation table holds "
            "the same numbers.",
        ),
        "scores": Figure(
            "Normalized score of each model on each dataset, averaged over runs. 0 and 1 are "
            "the bounds of the dataset; 1 is best, whatever the direction of the metric.",
            draw="capmap.figures.datasets:draw_scores",
            reads=["scores", "seeds"],
            order="aggregate",
            short="Normalized score of each model on each dataset, averaged over runs.",
            alt="Plot of the normalized score of each model on each dataset. The scores table "
            "holds the same numbers.",
        ),
        "seed_spread": Figure(
            "Spread of normalized scores over the runs of a cell, per dataset. Where it is "
            "wide, a single run says little about a model.",
            draw="capmap.figures.datasets:draw_seed_spread",
            reads=["seeds"],
            short="Spread of the runs on each dataset: where it is wide, single runs say little.",
            alt="Plot of the standard deviation over runs on each dataset. The table of cells "
            "holds the same numbers.",
        ),
        "runs_per_cell": Figure(
            "Number of runs of each model on each dataset. Empty cells have no run; cells "
            "with one run say nothing of how much runs vary.",
            draw="capmap.figures.datasets:draw_runs_per_cell",
            reads=["seeds"],
            order="aggregate",
            short="Number of runs of each model on each dataset; empty cells have none.",
            alt="Plot of the number of runs of each model on each dataset. The table of cells "
            "holds the same numbers.",
        ),
    },
)

PUBLISHED = Analysis(
    question="Are the published numbers those that come out here?",
    folder="tables",
    needs="published",
    tables={
        "published": Table(
            "Published tables and figures beside what the study has for them: how many of their "
            "numbers are equal to ours as printed, near (within a stated tolerance or our "
            "interval), different, or not computed here, and why.",
            "published beside cells equal near different not_computed note",
            text="published beside note",
        ),
        "published_cells": Table(
            "Every published number and the one computed here, those first that differ.",
            "published row column printed computed difference verdict",
            text="published row column printed verdict",
        ),
        "published_claims": Table(
            "Statements of the publication as ranges of numbers: a statement holds if our interval "
            "lies within the range, fails if it lies outside, and is open otherwise.",
            "claim beside above below estimate low high verdict note",
            text="claim beside verdict note",
        ),
    },
    figures={},
    steps={
        "compare_published": Step(
            "capmap.comparison.published:compare_published",
            tables=["published", "published_cells", "published_claims"],
            options={"published": "published", "claims": "claims"},
            describe="capmap.prose.published:describe_published",
        )
    },
)
