"""Ranks the entries of a leaderboard by dimension, and puts them on a page to sort and search.

Reads: runs.parquet, normalized/{shard}.parquet, submissions.json, the definition of the benchmark,
and tables of former releases.
Writes: leaderboard/, with the page leaderboard/index.html, and two figures.
"""

# Once per run and not in each of its jobs, which parse this file as well.
if workflow.is_main_process:
    for study in STUDIES:
        check_sources(study)


rule bootstrap_entries:
    """Normalized scores of a shard's models → estimates and replicates of each dimension."""
    input:
        shard="results/{study}/normalized/{shard}.parquet",
        datasets=resampled_datasets,
    output:
        entries="results/{study}/leaderboard/entries/{shard}.parquet",
        cells="results/{study}/leaderboard/cells/{shard}.parquet",
    log:
        "results/logs/bootstrap_entries/{study}_{shard}.log",
    benchmark:
        "results/benchmarks/bootstrap_entries/{study}_{shard}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        dimensions=dimensions_of,
        n_resamples=setting("bootstrap/replicates"),
        confidence_level=setting("bootstrap/confidence"),
        interval=setting("bootstrap/interval"),
        unit=setting("bootstrap/unit"),
        weights=setting("bootstrap/weights"),
        seed=setting("bootstrap/seed"),
        library=digest_library("bootstrap_entries.py"),
    script:
        "../../scripts/bootstrap_entries.py"


rule rank_entries:
    """Replicates of all entries → rankings by method and dimension, and the best per model."""
    input:
        shards=shards_in("leaderboard/entries"),
        runs="results/{study}/runs.parquet",
        submissions=described_submissions,
        benchmark=benchmark_of,
    output:
        entries=table("entries", "leaderboard", "csv md tex json"),
        dimensions=table("dimensions", "leaderboard", "csv md tex json"),
        best=table("best", "leaderboard", "csv md tex json"),
        text=text("leaderboard"),
    log:
        "results/logs/rank_entries/{study}.log",
    benchmark:
        "results/benchmarks/rank_entries/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        dimension_datasets=dimensions_of,
        complete=setting("leaderboard/complete"),
        confidence_level=setting("bootstrap/confidence"),
        library=digest_library("rank_entries.py"),
    script:
        "../../scripts/rank_entries.py"


rule summarize_entries:
    """Runs and scores of cells → raw and normalized scores per dataset, and the submissions."""
    input:
        cells=shards_in("leaderboard/cells"),
        runs="results/{study}/runs.parquet",
        submissions=described_submissions,
        benchmark=benchmark_of,
    output:
        raw=table("raw", "leaderboard", "csv md tex json"),
        normalized=table("normalized", "leaderboard", "csv md tex json"),
        submission_table=table("submissions", "leaderboard", "csv md tex json"),
    log:
        "results/logs/summarize_entries/{study}.log",
    benchmark:
        "results/benchmarks/summarize_entries/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        library=digest_library("summarize_entries.py"),
    script:
        "../../scripts/summarize_entries.py"


rule track_releases:
    """Tables of former releases and this one → how the ranks moved."""
    input:
        entries="results/{study}/leaderboard/entries.csv",
        releases=releases_of,
    output:
        rank_history=table("rank_history", "leaderboard", "csv md tex json"),
        text=text("releases"),
    log:
        "results/logs/track_releases/{study}.log",
    benchmark:
        "results/benchmarks/track_releases/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        library=digest_library("track_releases.py"),
    script:
        "../../scripts/track_releases.py"


rule write_leaderboard:
    """Tables of a leaderboard → one page."""
    input:
        entries="results/{study}/leaderboard/entries.csv",
        dimensions="results/{study}/leaderboard/dimensions.csv",
        raw="results/{study}/leaderboard/raw.csv",
        normalized="results/{study}/leaderboard/normalized.csv",
        best="results/{study}/leaderboard/best.csv",
        submissions="results/{study}/leaderboard/submissions.csv",
        runs="results/{study}/runs.parquet",
    output:
        page="results/{study}/leaderboard/index.html",
    log:
        "results/logs/write_leaderboard/{study}.log",
    benchmark:
        "results/benchmarks/write_leaderboard/{study}.tsv"
    conda:
        "../../envs/report.yaml"
    params:
        study="{study}",
        title=title_of,
        groups=dimensions_of,
        confidence_level=setting("bootstrap/confidence"),
        library=digest_library("write_leaderboard.py"),
    script:
        "../../scripts/write_leaderboard.py"
