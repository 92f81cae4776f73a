"""Reads submissions and checkpoints, and puts the entries of a leaderboard on a page.

Reads: folders of submissions or tables of evaluations of checkpoints, and the definition of the
benchmark; normalized/ and bootstrap/.
Writes: runs.parquet and validation.json, as other exports do; submissions.json, evaluations.parquet;
leaderboard/ with its tables and index.html.
"""

LEADERBOARD = (
    "entries.csv dimensions.csv best.csv normalized.csv raw.csv submissions.csv"
)


use rule validate as validate_submissions with:
    input:
        benchmark=files("benchmark"),
        files=files(studies.list_submission_files),
        references=files(studies.find_references),
    output:
        runs="results/{study}/runs.parquet",
        validation="results/{study}/validation.json",
        submissions="results/{study}/submissions.json",
    wildcard_constraints:
        study=studies.match_studies(config, "submission"),
    params:
        cfg=cfg(
            CHECKED,
            "submission columns decimal",
            names=studies.list_exports,
            folders=studies.list_submissions,
            renamed="figures/names",
        ),
        checked=unwatched(named=inputs.list_named),


use rule validate as validate_checkpoints with:
    input:
        exports=files(studies.list_exports),
        references=files(studies.find_references),
    output:
        runs="results/{study}/runs.parquet",
        validation="results/{study}/validation.json",
        evaluations="results/{study}/evaluations.parquet",
    wildcard_constraints:
        study=studies.match_studies(config, "checkpoints"),
    params:
        cfg=cfg(
            CHECKED,
            "columns where metric decimal",
            names=studies.list_exports,
            checkpoints=lambda study: {**study.read("checkpoints"), "rankings": []},
            renamed="figures/names",
        ),
        checked=unwatched(named=inputs.list_named),


rule lead:
    """Estimates of entries → tables of the leaderboard by dimension and dataset."""
    input:
        exported="results/{study}/runs.parquet",
        runs="results/{study}/normalized/runs.parquet",
        scope=["results/{study}/normalized/scope.json"],
        replicates=shards("results/{study}/bootstrap/{shard}.parquet"),
        descriptions=files(studies.list_descriptions),
        benchmark=files("benchmark"),
    output:
        table("results/{study}/leaderboard/entries", "csv tex json"),
        table("results/{study}/leaderboard/dimensions", "csv json"),
        table("results/{study}/leaderboard/best", "csv json"),
        table("results/{study}/leaderboard/normalized", "csv json"),
        table("results/{study}/leaderboard/raw", "csv json"),
        table("results/{study}/leaderboard/submissions", "csv json"),
    log:
        "results/logs/lead/{study}.log",
    benchmark:
        "results/benchmarks/lead/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(2),
    params:
        cfg=steps("rank_entries", "summarize_entries"),
        library=code("analyse", "rank_entries", "summarize_entries"),
    script:
        "../../scripts/analyse.py"


rule board:
    """Tables of a leaderboard, or of checkpoints → one page to sort and search."""
    input:
        tables=asked("leaderboard", "results/{study}/leaderboard/", LEADERBOARD),
        comparisons=asked("checkpoints", "results/{study}/", "comparisons"),
    output:
        page="results/{study}/leaderboard/index.html",
    log:
        "results/logs/board/{study}.log",
    benchmark:
        "results/benchmarks/board/{study}.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(2),
    params:
        study="{study}",
        cfg=cfg(
            "title bootstrap/confidence leaderboard/about",
            groups=studies.find_dimensions,
            descriptions=studies.find_descriptions,
        ),
        library=code("board"),
    script:
        "../../scripts/board.py"
