"""Ranks the entries of a leaderboard by dimension, and puts them on a page to sort and search.

Reads: runs.parquet, normalized/{shard}.parquet, submissions.json, the definition of the benchmark,
and tables of former releases.
Writes: leaderboard/, with the page leaderboard/index.html, and two figures.
"""


rule bootstrap_entries:
    """Normalized scores of a shard's models → estimates and replicates of each dimension."""
    input:
        shard="results/{study}/normalized/{shard}.parquet",
        datasets=of(studies.list_resampled),
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
        dimensions=of(leaderboards.find_dimensions),
        n_resamples=setting("bootstrap/replicates"),
        confidence_level=setting("bootstrap/confidence"),
        interval=setting("bootstrap/interval"),
        unit=setting("bootstrap/unit"),
        weights=setting("bootstrap/weights"),
        seed=setting("bootstrap/seed"),
        library=digest_library("bootstrap_entries.py"),
    script:
        "../../scripts/bootstrap_entries.py"


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
        groups=of(leaderboards.find_dimensions),
        confidence_level=setting("bootstrap/confidence"),
        library=digest_library("write_leaderboard.py"),
    script:
        "../../scripts/write_leaderboard.py"
