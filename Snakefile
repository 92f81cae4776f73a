"""capmap: raw benchmark exports → rankings with honest intervals.

Each stage below reads files and writes files; `workflow/rules/<stage>.smk` says which.
"""

from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/common.smk"
include: "workflow/rules/draft.smk"
include: "workflow/rules/exports.smk"
include: "workflow/rules/ranking.smk"
include: "workflow/rules/predictions.smk"
include: "workflow/rules/capabilities.smk"
include: "workflow/rules/leaderboard.smk"
include: "workflow/rules/analyses.smk"
include: "workflow/rules/report.smk"


rule all:
    """Everything: the page that links the reports, all tables and figures, and the shards."""
    default_target: True
    input:
        index="results/index.html",
        reports=expand("results/{study}/report.html", study=STUDIES),
        runs=expand("results/{study}/runs.parquet", study=STUDIES),
        bounds=expand("results/{study}/normalized/bounds.csv", study=STUDIES),
        estimates=shards_of_all("bootstrap"),
        manifests=expand("results/{study}/normalized/manifest.csv", study=STUDIES),
        tables=of_all(analyses.place_tables, "csv", "md", "tex"),
        figures=expand("results/{study}/figures", study=STUDIES),
        leaderboards=of_all(leaderboards.place_page),
        texts=of_all(analyses.place_texts, "txt", "tex"),
        papers=expand("results/{study}/paper/main.tex", study=STUDIES),
