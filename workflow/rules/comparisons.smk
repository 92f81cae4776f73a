"""Compares models: which differences are real, how robust the order is, and what to run next.

Reads: normalized/{shard}.parquet, normalized/bounds.csv, tables/iqm.
Writes: per analysis that the study asks for its tables and, as text and LaTeX, a paragraph in text/.
"""


rule compare_models:
    """Normalized scores → every pair: difference, tests, probability of improvement."""
    input:
        shards=shards_in("normalized"),
        iqm="results/{study}/tables/iqm.csv",
        bounds="results/{study}/normalized/bounds.csv",
    output:
        pairwise=table("pairwise"),
        rope=table("rope"),
        text=text("pairwise"),
    log:
        "results/logs/compare_models/{study}.log",
    benchmark:
        "results/benchmarks/compare_models/{study}.tsv"
    priority: 1
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        missing=setting("comparison/missing"),
        reference=setting("comparison/reference"),
        rope_width=setting("comparison/rope"),
        alpha=setting("comparison/alpha"),
        probability=setting("comparison/probability"),
        n_samples=setting("comparison/samples"),
        n_resamples=setting("comparison/replicates"),
        confidence_level=setting("bootstrap/confidence"),
        unit=setting("bootstrap/unit"),
        seed=setting("bootstrap/seed"),
        library=digest_library("compare_models.py"),
    script:
        "../../scripts/compare_models.py"


rule compare_ranks:
    """Normalized scores → Friedman, Nemenyi and Wilcoxon–Holm tests of mean ranks."""
    input:
        shards=shards_in("normalized"),
    output:
        friedman=table("friedman"),
        nemenyi=table("nemenyi"),
        mean_ranks=table("mean_ranks"),
        text=text("ranks"),
    log:
        "results/logs/compare_ranks/{study}.log",
    benchmark:
        "results/benchmarks/compare_ranks/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        missing=setting("comparison/missing"),
        alpha=setting("comparison/alpha"),
        library=digest_library("compare_ranks.py"),
    script:
        "../../scripts/compare_ranks.py"


rule profile_models:
    """Normalized scores → performance profiles and the areas under them."""
    input:
        shards=shards_in("normalized"),
        bounds="results/{study}/normalized/bounds.csv",
    output:
        profiles=table("profiles"),
        profile_area=table("profile_area"),
        text=text("profiles"),
    log:
        "results/logs/profile_models/{study}.log",
    benchmark:
        "results/benchmarks/profile_models/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        missing=setting("comparison/missing"),
        n_resamples=setting("comparison/replicates"),
        confidence_level=setting("bootstrap/confidence"),
        seed=setting("bootstrap/seed"),
        library=digest_library("profile_models.py"),
    script:
        "../../scripts/profile_models.py"


rule rate_models:
    """Normalized scores → ratings on the Elo scale, and win rates."""
    input:
        shards=shards_in("normalized"),
    output:
        elo=table("elo"),
        winrate=table("winrate"),
        text=text("ratings"),
    log:
        "results/logs/rate_models/{study}.log",
    benchmark:
        "results/benchmarks/rate_models/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        missing=setting("comparison/missing"),
        battles=setting("ratings/battles"),
        tie_threshold=setting("ratings/tie_threshold"),
        calibration=setting("ratings/calibration"),
        n_resamples=setting("comparison/replicates"),
        confidence_level=setting("bootstrap/confidence"),
        seed=setting("bootstrap/seed"),
        library=digest_library("rate_models.py"),
    script:
        "../../scripts/rate_models.py"


rule measure_improvability:
    """Normalized scores → the share of its error that each model could still lose."""
    input:
        shards=shards_in("normalized"),
        bounds="results/{study}/normalized/bounds.csv",
    output:
        improvability=table("improvability"),
        improvability_datasets=table("improvability_datasets"),
        text=text("improvability"),
    log:
        "results/logs/measure_improvability/{study}.log",
    benchmark:
        "results/benchmarks/measure_improvability/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        missing=setting("comparison/missing"),
        datasets=setting("datasets"),
        n_resamples=setting("comparison/replicates"),
        confidence_level=setting("bootstrap/confidence"),
        seed=setting("bootstrap/seed"),
        library=digest_library("measure_improvability.py"),
    script:
        "../../scripts/measure_improvability.py"


rule check_robustness:
    """Normalized scores → rankings under other choices and other datasets."""
    input:
        shards=shards_in("normalized"),
        iqm="results/{study}/tables/iqm.csv",
    output:
        robustness=table("robustness"),
        robustness_ranks=table("robustness_ranks"),
        flips=table("flips"),
        rank_stability=table("rank_stability"),
        rank_distribution=table("rank_distribution"),
        ranks="results/{study}/robustness/ranks.parquet",
        text=text("robustness"),
    log:
        "results/logs/check_robustness/{study}.log",
    benchmark:
        "results/benchmarks/check_robustness/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        missing=setting("comparison/missing"),
        top=setting("robustness/top"),
        weights=setting("bootstrap/weights"),
        confidence_level=setting("bootstrap/confidence"),
        n_resamples=setting("comparison/replicates"),
        seed=setting("bootstrap/seed"),
        library=digest_library("check_robustness.py"),
    script:
        "../../scripts/check_robustness.py"


rule rank_groups:
    """Normalized scores → a ranking with intervals per group of datasets."""
    input:
        shards=shards_in("normalized"),
    output:
        groups=table("groups"),
        group_intervals=table("group_intervals"),
        group_coverage=table("group_coverage"),
        text=text("groups"),
    log:
        "results/logs/rank_groups/{study}.log",
    benchmark:
        "results/benchmarks/rank_groups/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        definitions=setting("groups"),
        aggregations=setting("aggregate"),
        statistics=setting("bootstrap/statistics"),
        n_resamples=setting("bootstrap/replicates"),
        confidence_level=setting("bootstrap/confidence"),
        interval=setting("bootstrap/interval"),
        unit=setting("bootstrap/unit"),
        weights=setting("bootstrap/weights"),
        seed=setting("bootstrap/seed"),
        library=digest_library("rank_groups.py"),
    script:
        "../../scripts/rank_groups.py"


rule compare_conditions:
    """Normalized scores of several studies → how rankings agree."""
    input:
        shards=shards_in("normalized"),
        others=shards_of_conditions,
    output:
        conditions=table("conditions"),
        condition_ranks=table("condition_ranks"),
        text=text("conditions"),
    log:
        "results/logs/compare_conditions/{study}.log",
    benchmark:
        "results/benchmarks/compare_conditions/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        missing=setting("comparison/missing"),
        aggregation=setting("comparison/aggregation"),
        weights=setting("bootstrap/weights"),
        n_resamples=setting("comparison/replicates"),
        confidence_level=setting("bootstrap/confidence"),
        seed=setting("bootstrap/seed"),
        library=digest_library("compare_conditions.py"),
    script:
        "../../scripts/compare_conditions.py"


rule advise_sample_size:
    """Normalized scores → expected intervals with more seeds, and where the next one helps."""
    input:
        shards=shards_in("normalized"),
    output:
        seed_widths=table("seed_widths"),
        next_seeds=table("next_seeds"),
        text=text("sample_size"),
    log:
        "results/logs/advise_sample_size/{study}.log",
    benchmark:
        "results/benchmarks/advise_sample_size/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        missing=setting("comparison/missing"),
        interval=setting("bootstrap/interval"),
        weights=setting("bootstrap/weights"),
        confidence_level=setting("bootstrap/confidence"),
        library=digest_library("advise_sample_size.py"),
    script:
        "../../scripts/advise_sample_size.py"
