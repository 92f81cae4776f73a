"""capmap: raw benchmark exports → rankings with honest intervals.

Each stage below reads files and writes files; `workflow/rules/<stage>.smk` says which.
"""

from snakemake.utils import min_version

min_version("9.27")


configfile: workflow.source_path("config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/prediction_inputs.smk"
include: "workflow/rules/leaderboard_inputs.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/images.smk"
include: "workflow/rules/predictions.smk"
include: "workflow/rules/submissions.smk"
include: "workflow/rules/checkpoints.smk"
include: "workflow/rules/validation.smk"
include: "workflow/rules/normalization.smk"
include: "workflow/rules/aggregation.smk"
include: "workflow/rules/bootstrap.smk"
include: "workflow/rules/capabilities.smk"
include: "workflow/rules/leaderboard.smk"
include: "workflow/rules/analysis_inputs.smk"
include: "workflow/rules/analyses.smk"
include: "workflow/rules/report.smk"


rule all:
    """Everything: the page that links the reports, all tables and figures, and the shards."""
    default_target: True
    input:
        index="results/index.html",
        manifests=expand("results/{study}/normalized/manifest.csv", study=STUDIES),
        tables=[
            f"results/{study}/{name}.{suffix}"
            for study in STUDIES
            for name in list_tables(config["studies"][study])
            for suffix in ["csv", "md", "tex"]
        ],
        figures=[
            f"results/{study}/figures/{name}.{suffix}"
            for study in STUDIES
            for name in list_figures(config["studies"][study])
            for suffix in ["pdf", "png", "svg"]
        ],
        leaderboards=find_pages(STUDIES),
        texts=[
            f"results/{study}/text/{name}.{suffix}"
            for study in STUDIES
            for name in list_analyses(config["studies"][study])
            for suffix in ["txt", "tex"]
        ],
