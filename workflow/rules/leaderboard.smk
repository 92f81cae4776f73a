"""Puts the entries of a leaderboard on a page to sort and search.

Reads: runs.parquet and tables of leaderboard/.
Writes: leaderboard/index.html.
"""


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
        about=setting("leaderboard"),
        library=digest_library("write_leaderboard.py"),
    script:
        "../../scripts/write_leaderboard.py"
