"""Analyses that compare models: which differences are real, and how robust the order is."""

from capmap.catalog.declarations import Analysis, Figure, Step, Table

PAIRWISE = Analysis(
    question="Which differences are real?",
    default=True,
    tables={
        "pairwise": Table(
            "Every pair of models on the datasets that both have: mean difference of "
            "normalized scores with its interval (over runs or over datasets, as "
            "configured), wins, ties and losses, Wilcoxon signed-rank test over datasets "
            "(with Holm's correction over all pairs), matched-pairs rank-biserial "
            "correlation, probability of improvement, and the Bayesian signed-rank test, "
            "whose decision is of each pair alone. Only the corrected p-value depends on which "
            "other models take part.",
            "model_a model_b datasets cells_unused mean_difference ci_low ci_high wins ties "
            "losses wilcoxon_p wilcoxon_p_holm effect_size p_improvement p_improvement_low "
            "p_improvement_high p_a_better p_equivalent p_b_better decision",
            formats="csv parquet md tex",
        ),
    },
    figures={
        "pairwise": Figure(
            "Comparison matrix: difference of mean normalized scores, row minus column, on "
            "the datasets that both models have; best model on top.",
            draw="capmap.figures.pairwise:draw_comparison_matrix",
            reads=["pairwise"],
            order="scopes",
            options={"alpha": "bootstrap/alpha"},
        ),
        "pairwise_reference": Figure(
            "Every model against the reference: mean difference of normalized scores with "
            "its interval.",
            draw="capmap.figures.pairwise:draw_comparison_reference",
            reads=["pairwise"],
            order="scopes",
            options={"reference": "comparison/reference"},
        ),
        "bayes": Figure(
            "Posterior probability that the row's model is better than the column's by more "
            "than the region of practical equivalence, by the Bayesian signed-rank test.",
            draw="capmap.figures.pairwise:draw_bayes_matrix",
            reads=["pairwise"],
            order="scopes",
        ),
    },
    steps={
        "compare_models": Step(
            "capmap.comparison.model_pairs:compare_models",
            tables=["pairwise"],
            reads=["runs", "scopes", "bounds"],
            options={
                "reference": "comparison/reference",
                "rope_setting": "comparison/rope",
                "alpha": "bootstrap/alpha",
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            pairs=True,
            describe="capmap.prose.pairwise:describe_pairwise",
        )
    },
)

RANKS = Analysis(
    question="Do the mean ranks differ?",
    default=True,
    tables={
        "friedman": Table(
            "Tests of the hypothesis that all models rank alike, on the datasets that all "
            "models have; the Skillings-Mack test uses all cells where some are empty.",
            "test test_statistic df p models datasets cells_used cells_unused",
        ),
        "nemenyi": Table(
            "Nemenyi's test of every pair of mean ranks. It depends on which other models "
            "are compared.",
            "model_a model_b rank_difference critical_difference p separated datasets",
            formats="csv parquet md tex",
        ),
        "mean_ranks": Table(
            "Mean rank of each model over its datasets, stretched where others are missing, "
            "and letters: models that share one are not separated by Nemenyi's test on the "
            "datasets that all have, or by Wilcoxon tests with Holm's correction.",
            "model mean_rank datasets nemenyi_group wilcoxon_group",
            best={"mean_rank": "min"},
        ),
    },
    figures={
        "critical_difference": Figure(
            "Mean ranks on the datasets that all models have. Models joined by a bar differ "
            "by less than Nemenyi's critical difference, which depends on which models are "
            "compared.",
            draw="capmap.figures.rank_tests:draw_critical_difference",
            reads=["mean_ranks", "nemenyi", "friedman"],
            options={"alpha": "bootstrap/alpha"},
        ),
    },
    steps={
        "compare_ranks": Step(
            "capmap.comparison.cliques:compare_ranks",
            tables=["friedman", "nemenyi", "mean_ranks"],
            reads=["runs"],
            options={"alpha": "bootstrap/alpha"},
            pairs=True,
            describe="capmap.prose.rank_tests:describe_rank_tests",
        )
    },
)

PROFILES = Analysis(
    question="How far is each model from the best?",
    default=True,
    tables={
        "profiles": Table(
            "Performance profiles. Raw and normalized: share of datasets on which a model is "
            "within a factor tau of the best. Scores: share of runs with a normalized score "
            "above tau, with a pointwise bootstrap band.",
            "kind model tau fraction ci_low ci_high",
        ),
        "profile_area": Table(
            "Area under the performance profiles over the logarithm of tau, and as a share "
            "of the largest possible one. It depends on which other models are compared.",
            "model area_raw share_raw rank_raw datasets_raw area_normalized share_normalized "
            "rank_normalized datasets_normalized",
            best={"area_raw": "max", "area_normalized": "max"},
        ),
    },
    figures={
        "profiles": Figure(
            "Performance profiles: share of datasets on which a model is within a factor of "
            "the best; higher and further left is better.",
            draw="capmap.figures.profiles:draw_profiles",
            reads=["profiles", "profile_area"],
            order="scopes",
        ),
        "score_profiles": Figure(
            "Share of runs with a normalized score above a threshold, with a pointwise "
            "bootstrap band; a curve above another is better at every threshold.",
            draw="capmap.figures.profiles:draw_score_profiles",
            reads=["profiles"],
            order="scopes",
        ),
    },
    steps={
        "profile_models": Step(
            "capmap.comparison.profiles:profile_models",
            tables=["profiles", "profile_area"],
            reads=["runs", "bounds"],
            options={
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            describe="capmap.prose.profiles:describe_profiles",
        )
    },
)

STRENGTHS = Analysis(
    question="Where does each model do better than expected?",
    default=True,
    tables={
        "strengths": Table(
            "Mean normalized score of each model on each dataset, what the overall levels of both "
            "add up to, and the difference with its interval over new runs, for all cells at once.",
            "model dataset score expected difference ci_low ci_high",
        )
    },
    figures={
        "strengths": Figure(
            "By how much each model beats, on each dataset, what its overall level and that of the "
            "dataset lead one to expect; best model on top.",
            draw="capmap.figures.datasets:draw_strengths",
            reads=["strengths"],
            order="scopes",
        )
    },
    steps={
        "measure_strengths": Step(
            "capmap.comparison.strengths:measure_strengths",
            tables=["strengths"],
            reads=["runs", "scopes"],
            options={"confidence_level": "bootstrap/confidence"},
            describe="capmap.prose.strengths:describe_strengths",
        )
    },
)

FRONTIER = Analysis(
    question="Which models are worth their cost?",
    needs="frontier/against",
    tables={
        "frontier": Table(
            "Score and cost of each model, the cheapest first; whether no other scores as high at "
            "the same cost or less, and the share of bootstrap resamples in which none does.",
            "model cost score ci_low ci_high on_front p_front datasets",
        )
    },
    figures={
        "frontier": Figure(
            "Score of each model with its interval against its cost, and the Pareto front: models "
            "that no other beats at the same cost or less.",
            draw="capmap.figures.frontier:draw_frontier",
            reads=["frontier"],
            options={"against": "frontier/against"},
        )
    },
    steps={
        "trace_frontier": Step(
            "capmap.comparison.frontier:trace_frontier",
            tables=["frontier"],
            reads=["runs", "scopes"],
            paths=["model_file"],
            options={
                "model_attributes": "attributes/models",
                "renamed": "figures/names",
                "against": "frontier/against",
                "n_resamples": "bootstrap/replicates",
                "seed": "bootstrap/seed",
            },
            describe="capmap.prose.frontier:describe_frontier",
        )
    },
)

RATINGS = Analysis(
    question="How often does each model win?",
    tables={
        "elo": Table(
            "Bradley-Terry ratings on the Elo scale, with intervals from resampled datasets "
            "and runs. 400 points are odds of 10 to 1. They depend on which other models are "
            "compared. Where the share of resamples in which some models only win or only lose "
            "(separated) is larger than what lies beyond an end of the intervals, ends depend "
            "on the ridge of the fit. Ratings mean nothing between models of different "
            "components: these never met.",
            "model elo ci_low ci_high rank rank_low rank_high datasets component separated",
            best={"elo": "max"},
        ),
        "winrate": Table(
            "How often a model's mean score on a dataset is above an opponent's; ties count half.",
            "model opponent win_rate wins ties losses datasets",
        ),
    },
    figures={
        "elo": Figure(
            "Ratings on the Elo scale with intervals over datasets and runs; 400 points are "
            "odds of 10 to 1. Where in many resamples some models only win or only lose, "
            "ends of intervals depend on the ridge of the fit.",
            draw="capmap.figures.pairwise:draw_elo",
            reads=["elo"],
            order="scopes",
            options={"confidence_level": "bootstrap/confidence"},
        ),
        "winrate": Figure(
            "Share of datasets on which the row's model beats the column's; ties count half.",
            draw="capmap.figures.pairwise:draw_winrate",
            reads=["winrate"],
        ),
    },
    steps={
        "rate_models": Step(
            "capmap.comparison.bradley_terry:rate_models",
            tables=["elo", "winrate"],
            reads=["runs"],
            options={
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            pairs=True,
            describe="capmap.prose.ratings:describe_ratings",
        )
    },
)

IMPROVABILITY = Analysis(
    question="How much error is left to the best model?",
    tables={
        "improvability": Table(
            "Share of its error, in percent, that a model could still lose on average to "
            "match the best model of each dataset; less is better. Intervals are percentiles "
            "over resampled runs, stretched where they would miss the estimate.",
            "model improvability ci_low ci_high rank rank_low rank_high datasets",
            best={"improvability": "min"},
        ),
        "improvability_datasets": Table(
            "Error of each model on each dataset, the lowest of any model, and the share in "
            "percent that is left to it.",
            "model dataset error best_error improvability",
        ),
    },
    figures={
        "improvability": Figure(
            "Share of its error that a model could still lose to match the best model of "
            "each dataset; less is better. Intervals are percentiles over resampled runs, "
            "stretched where they would miss the estimate.",
            draw="capmap.figures.rankings:draw_improvability",
            reads=["improvability"],
        ),
    },
    steps={
        "measure_improvability": Step(
            "capmap.comparison.improvability:measure_improvability",
            tables=["improvability", "improvability_datasets"],
            reads=["runs", "bounds"],
            options={
                "datasets": "datasets",
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            describe="capmap.prose.improvability:describe_improvability",
        )
    },
)

ROBUSTNESS = Analysis(
    question="What would change the order?",
    default=True,
    tables={
        "robustness": Table(
            "Rankings under other aggregations, other bounds and with one dataset left out: "
            "Kendall's tau to the reported ranking, and the number of pairs in the opposite "
            "order.",
            "aggregation bounds left_out kendall_tau flips best models",
            best={"kendall_tau": "max"},
        ),
        "robustness_ranks": Table(
            "Rank of each model by aggregation and bounds, with its best and worst rank when "
            "any one dataset is left out, and its distance from the reported rank.",
            "model aggregation bounds rank rank_low rank_high shift",
        ),
        "flips": Table(
            "Pairs of models that change their order under some of these variations, and "
            "datasets that flip a pair alone when they are left out.",
            "model_a model_b rank_a rank_b flips variations share left_out",
        ),
        "dethroning": Table(
            "Fewest datasets that must be left out for a model to reach the leader's mean score, "
            "and which. Models that cannot are not listed.",
            "leader model datasets removed left_out",
        ),
    },
    figures={
        "robustness": Figure(
            "Rank of each model under other aggregations and bounds, with its range when any "
            "one dataset is left out; colors show the distance from the reported rank.",
            draw="capmap.figures.robustness:draw_robustness",
            reads=["robustness", "robustness_ranks", "flips"],
            order="scopes",
        ),
    },
    steps={
        "check_robustness": Step(
            "capmap.comparison.robustness:check_robustness",
            tables=["robustness", "robustness_ranks", "flips", "dethroning"],
            reads=["runs", "scopes"],
            pairs=True,
            describe="capmap.prose.robustness:describe_robustness",
        )
    },
)

GROUPS = Analysis(
    question="Which model is best at what?",
    needs="groups",
    default=True,
    tables={
        "groups": Table(
            "Ranking of the models within each group of datasets, with intervals of score "
            "and rank, and scores and ranks by each aggregation. Nothing is corrected for "
            "the number of groups.",
            "group model iqm ci_low ci_high rank rank_low rank_high tie_group",
            more=True,
        ),
        "group_intervals": Table(
            "Every statistic of each model within each group of datasets, with its interval, "
            "rank and set of ranks. Of the optimality gap, less is better.",
            "group statistic model estimate ci_low ci_high rank rank_low rank_high",
        ),
        "group_coverage": Table(
            "What each group holds, what its rule about missing runs left out, and how many "
            "filled cells stay unused.",
            "group incomplete datasets models datasets_dropped models_dropped cells_unused",
        ),
    },
    figures={
        "groups": Figure(
            "Interquartile mean and rank of each model within each group of datasets.",
            draw="capmap.figures.datasets:draw_groups",
            reads=["groups"],
        )
    },
    steps={
        "rank_groups": Step(
            "capmap.ranking.groups:compare_groups",
            tables=["groups", "group_intervals", "group_coverage"],
            reads=["runs", "scopes", "bounds"],
            options={
                "definitions": "groups",
                "incomplete": "incomplete",
                "min_datasets": "min_datasets",
                "n_resamples": "bootstrap/replicates",
                "confidence_level": "bootstrap/confidence",
                "interval": "bootstrap/interval",
                "seed": "bootstrap/seed",
            },
            describe="capmap.prose.groups:describe_groups",
        )
    },
)

CONDITIONS = Analysis(
    question="Does the order depend on the condition?",
    needs="conditions",
    default=True,
    tables={
        "conditions": Table(
            "Agreement of the rankings of two conditions of the same models. Intervals are "
            "percentiles over resampled datasets, stretched where they would miss the "
            "estimate.",
            "condition statistic estimate ci_low ci_high models datasets cells_unused",
        ),
        "condition_ranks": Table(
            "Score and rank of each model under both conditions, on the datasets that both have.",
            "condition model score rank score_other rank_other change",
        ),
    },
    figures={
        "conditions": Figure(
            "Rank of each model under two conditions, on the datasets that both have; lines "
            "that cross are models whose order changes.",
            draw="capmap.figures.conditions:draw_conditions",
            reads=["conditions", "condition_ranks"],
            order="scopes",
        )
    },
    steps={
        "compare_conditions": Step(
            "capmap.comparison.conditions:compare_conditions",
            tables=["conditions", "condition_ranks"],
            reads=["runs"],
            paths=["others"],
            options={
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            describe="capmap.prose.conditions:describe_conditions",
        )
    },
)

SAMPLE_SIZE = Analysis(
    question="What should be run next?",
    default=True,
    tables={
        "seed_widths": Table(
            "Expected width of the interval over runs of a model's interquartile mean with "
            "3, 5, 10 and 20 runs per dataset, from the spread over runs, and with the runs "
            "that there are.",
            "model seeds width width_low width_high width_now",
        ),
        "next_seeds": Table(
            "Where one more run helps most: by which share the sum of the variances of the models' "
            "interquartile means falls.",
            "model dataset runs share",
        ),
        "detectable": Table(
            "The least difference in interquartile means of two typical models that would be "
            "found with so many runs per dataset, by the upper limit of their variance, between "
            "these two alone and allowing for all pairs.",
            "seeds difference difference_all",
        ),
    },
    figures={
        "seed_widths": Figure(
            "Expected width of the interval over runs of each model's interquartile mean by "
            "number of runs per dataset.",
            draw="capmap.figures.profiles:draw_seed_widths",
            reads=["seed_widths", "iqm"],
        ),
    },
    steps={
        "advise_sample_size": Step(
            "capmap.comparison.sample_size:advise_sample_size",
            tables=["seed_widths", "next_seeds", "detectable"],
            reads=["runs"],
            options={
                "interval": "bootstrap/interval",
                "confidence_level": "bootstrap/confidence",
            },
            describe="capmap.prose.sample_size:describe_sample_size",
        )
    },
)

RELIABILITY = Analysis(
    question="How reliable is the order, and how many datasets does it need?",
    tables={
        "variance_components": Table(
            "Variance of normalized scores between models, between datasets, of cells beyond both, "
            "and between runs within cells; without repeated runs the third has the fourth in it.",
            "component variance share",
            text="component",
        ),
        "generalizability": Table(
            "Generalizability coefficient of means over the datasets that all models have, with "
            "the runs that there are; then the fewest datasets with which 0.9 is expected.",
            "datasets seeds relative ci_low ci_high",
        ),
        "effective_datasets": Table(
            "Effective number of datasets, by what they say of models beyond the models' overall "
            "levels, and about what it would be if they were independent.",
            "datasets models effective effective_independent cells_unused",
        ),
    },
    figures={},
    steps={
        "assess_reliability": Step(
            "capmap.comparison.reliability:assess_reliability",
            tables=["variance_components", "generalizability", "effective_datasets"],
            reads=["runs"],
            options={"confidence_level": "bootstrap/confidence"},
            describe="capmap.prose.reliability:describe_reliability",
        )
    },
)

# In the order of the page.
ANALYSES = {
    "pairwise": PAIRWISE,
    "ranks": RANKS,
    "strengths": STRENGTHS,
    "profiles": PROFILES,
    "ratings": RATINGS,
    "improvability": IMPROVABILITY,
    "frontier": FRONTIER,
    "robustness": ROBUSTNESS,
    "reliability": RELIABILITY,
    "groups": GROUPS,
    "conditions": CONDITIONS,
    "sample_size": SAMPLE_SIZE,
}
