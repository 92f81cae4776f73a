"""Draws the comparisons; a figure computes no statistic.

Reads: the tables of each analysis that the study asks for, and tables/iqm for the order of models.
Writes: figures/ of these analyses, each as PDF, PNG and SVG.
"""


rule plot_pairwise:
    """Pairs → comparison matrices, and every model against the reference."""
    input:
        pairwise="results/{study}/tables/pairwise.csv",
        rope="results/{study}/tables/rope.csv",
        iqm="results/{study}/tables/iqm.csv",
    output:
        pairwise_figure=figure("pairwise"),
        pairwise_reference_figure=figure("pairwise_reference"),
        bayes_figure=figure("bayes"),
        bayes_reference_figure=figure("bayes_reference"),
        rope_figure=figure("rope"),
        improvement_figure=figure("improvement"),
    log:
        "results/logs/plot_pairwise/{study}.log",
    benchmark:
        "results/benchmarks/plot_pairwise/{study}.tsv"
    priority: 1
    conda:
        "../../envs/figures.yaml"
    params:
        alpha=setting("comparison/alpha"),
        reference=setting("comparison/reference"),
        library=digest_library("plot_pairwise.py"),
    script:
        "../../scripts/plot_pairwise.py"


rule plot_ranks:
    """Mean ranks → critical-difference diagrams."""
    input:
        friedman="results/{study}/tables/friedman.csv",
        nemenyi="results/{study}/tables/nemenyi.csv",
        mean_ranks="results/{study}/tables/mean_ranks.csv",
    output:
        critical_difference_figure=figure("critical_difference"),
        rank_cliques_figure=figure("rank_cliques"),
    log:
        "results/logs/plot_ranks/{study}.log",
    benchmark:
        "results/benchmarks/plot_ranks/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        highlight=setting("comparison/highlight"),
        alpha=setting("comparison/alpha"),
        library=digest_library("plot_ranks.py"),
    script:
        "../../scripts/plot_ranks.py"


rule plot_profiles:
    """Profiles → curves."""
    input:
        profiles="results/{study}/tables/profiles.csv",
        profile_area="results/{study}/tables/profile_area.csv",
        iqm="results/{study}/tables/iqm.csv",
    output:
        profiles_figure=figure("profiles"),
        score_profiles_figure=figure("score_profiles"),
    log:
        "results/logs/plot_profiles/{study}.log",
    benchmark:
        "results/benchmarks/plot_profiles/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_profiles.py"),
    script:
        "../../scripts/plot_profiles.py"


rule plot_ratings:
    """Ratings and win rates → interval plot and matrix."""
    input:
        elo="results/{study}/tables/elo.csv",
        winrate="results/{study}/tables/winrate.csv",
        iqm="results/{study}/tables/iqm.csv",
    output:
        elo_figure=figure("elo"),
        winrate_figure=figure("winrate"),
    log:
        "results/logs/plot_ratings/{study}.log",
    benchmark:
        "results/benchmarks/plot_ratings/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        confidence_level=setting("bootstrap/confidence"),
        library=digest_library("plot_ratings.py"),
    script:
        "../../scripts/plot_ratings.py"


rule plot_improvability:
    """Improvability → interval plot, and per dataset."""
    input:
        improvability="results/{study}/tables/improvability.csv",
        improvability_datasets="results/{study}/tables/improvability_datasets.csv",
    output:
        improvability_figure=figure("improvability"),
        improvability_datasets_figure=figure("improvability_datasets"),
    log:
        "results/logs/plot_improvability/{study}.log",
    benchmark:
        "results/benchmarks/plot_improvability/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_improvability.py"),
    script:
        "../../scripts/plot_improvability.py"


rule plot_robustness:
    """Rankings under other choices and datasets → their ranks side by side."""
    input:
        robustness="results/{study}/tables/robustness.csv",
        robustness_ranks="results/{study}/tables/robustness_ranks.csv",
        flips="results/{study}/tables/flips.csv",
        rank_stability="results/{study}/tables/rank_stability.csv",
        rank_distribution="results/{study}/tables/rank_distribution.csv",
        iqm="results/{study}/tables/iqm.csv",
    output:
        robustness_figure=figure("robustness"),
        rank_stability_figure=figure("rank_stability"),
    log:
        "results/logs/plot_robustness/{study}.log",
    benchmark:
        "results/benchmarks/plot_robustness/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_robustness.py"),
    script:
        "../../scripts/plot_robustness.py"


rule plot_groups:
    """Rankings per group → models × groups."""
    input:
        groups="results/{study}/tables/groups.csv",
    output:
        groups_figure=figure("groups"),
    log:
        "results/logs/plot_groups/{study}.log",
    benchmark:
        "results/benchmarks/plot_groups/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_groups.py"),
    script:
        "../../scripts/plot_groups.py"


rule plot_conditions:
    """Rankings of two conditions → rank changes."""
    input:
        conditions="results/{study}/tables/conditions.csv",
        condition_ranks="results/{study}/tables/condition_ranks.csv",
        iqm="results/{study}/tables/iqm.csv",
    output:
        conditions_figure=figure("conditions"),
    log:
        "results/logs/plot_conditions/{study}.log",
    benchmark:
        "results/benchmarks/plot_conditions/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_conditions.py"),
    script:
        "../../scripts/plot_conditions.py"


rule plot_sample_size:
    """Sample-size advice → widths by seeds, and the cells to run next."""
    input:
        seed_widths="results/{study}/tables/seed_widths.csv",
        next_seeds="results/{study}/tables/next_seeds.csv",
        iqm="results/{study}/tables/iqm.csv",
    output:
        seed_widths_figure=figure("seed_widths"),
        next_seeds_figure=figure("next_seeds"),
    log:
        "results/logs/plot_sample_size/{study}.log",
    benchmark:
        "results/benchmarks/plot_sample_size/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_sample_size.py"),
    script:
        "../../scripts/plot_sample_size.py"
