"""capmap: raw benchmark exports → rankings with honest intervals; a stage is a file of rules."""

from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/common.smk"
include: "workflow/rules/exports.smk"
include: "workflow/rules/ranking.smk"
include: "workflow/rules/capabilities.smk"
include: "workflow/rules/multilabel.smk"
include: "workflow/rules/leaderboard.smk"
include: "workflow/rules/analyses.smk"
include: "workflow/rules/report.smk"


rule all:
    """The page that links the pages of all studies."""
    default_target: True
    input:
        "results/index.html",
        # By name, as what a failed job has removed would else be missed by nobody.
        REPORTS,
        BESIDE,
        BOARDS,


onsuccess:
    # The answer of each study, and where the page is (which `capmap` says itself).
    if any(job.rule.name == "index" for job in workflow.dag.jobs):
        for name in STUDIES:
            print(Path(f"results/{name}/headline.txt").read_text("utf-8").strip())
        if "CAPMAP_CALL" not in os.environ:
            print(f"Open {Path('results/index.html').resolve()}")
