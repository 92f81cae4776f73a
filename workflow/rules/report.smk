"""Puts tables and figures on one page per study, and writes the folder of a paper.

Reads: validation.json, normalized/, and all tables, texts and figures.
Writes: report.html, headline.txt, words.json (for notebooks), claims.csv, changes.csv, paper/;
previous/runs.parquet, with which the next run is compared; tables/published*; index.html.
"""

import tomllib

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
PUBLISHED = "published.csv published_cells.csv published_claims.csv"
REPORTS = expand("results/{study}/report.html", study=STUDIES)
PAPER = [
    "paper/main.tex",
    "paper/methods.tex",
    "paper/results.tex",
    "paper/results_table.tex",
    "paper/ranking_table.tex",
    "paper/appendix.tex",
    "paper/references.bib",
]
# What a reader may have deleted, with which the page alone would still be up to date.
BESIDE = expand(
    "results/{study}/{name}",
    study=STUDIES,
    name=[
        "headline.txt",
        "words.json",
        "claims.csv",
        *(f"tables/{name}.csv" for name in INDEX["main"]["tables"]),
        *PAPER,
    ],
)
BOARDS = [
    f"results/{name}/leaderboard/index.html"
    for name in STUDIES
    if {"leaderboard", "checkpoints"} & {*config["studies"][name]["analyses"]}
]


rule check_published:
    """Tables of a study → what they have for published numbers."""
    input:
        printed=files(inputs.list_printed),
        tables=files(inputs.list_beside),
    output:
        table("results/{study}/tables/published", "csv tex"),
        table("results/{study}/tables/published_cells"),
        table("results/{study}/tables/published_claims"),
    log:
        "results/logs/check_published/{study}.log",
    benchmark:
        "results/benchmarks/check_published/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(2),
    params:
        cfg=steps("compare_published"),
        library=code("analyse", "compare_published"),
    script:
        "../../scripts/analyse.py"


rule report:
    """All that a study has → its page, and the folder of a paper."""
    input:
        main=expand("results/{{study}}/tables/{name}.csv", name=INDEX["main"]["tables"]),
        runs="results/{study}/runs.parquet",
        bounds="results/{study}/normalized/bounds.csv",
        dropped="results/{study}/normalized/dropped.csv",
        validation="results/{study}/validation.json",
        comparisons="results/{study}/comparisons",
        figures="results/{study}/figures",
        capabilities=asked(
            "capabilities", "results/{study}/capabilities/", CAPABILITIES
        ),
        placements=asked("placements", "results/{study}/capabilities/", PLACEMENTS),
        multilabel=asked("multilabel", "results/{study}/multilabel/", MULTILABEL),
        leaderboard=asked("leaderboard", "results/{study}/leaderboard/", LEADERBOARD),
        published=asked("published", "results/{study}/tables/", PUBLISHED),
    output:
        report="results/{study}/report.html",
        headline="results/{study}/headline.txt",
        words="results/{study}/words.json",
        claims="results/{study}/claims.csv",
        # Not deleted before the job, as it is compared with what was there.
        changes=update("results/{study}/changes.csv"),
        previous=update("results/{study}/previous/runs.parquet"),
        paper=expand("results/{{study}}/{name}", name=PAPER),
    log:
        "results/logs/report/{study}.log",
    benchmark:
        "results/benchmarks/report/{study}.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(5),
    params:
        study="{study}",
        version=VERSION,
        cfg=cfg(settings=lambda study: study.settings, options=inputs.read_facts),
        library=code("report", *INDEX),
    script:
        "../../scripts/report.py"


rule index:
    """Pages of the selected studies → the page that links all that there are."""
    input:
        reports=REPORTS,
        headlines=expand("results/{study}/headline.txt", study=STUDIES),
        boards=BOARDS,
    output:
        index="results/index.html",
    log:
        "results/logs/index.log",
    benchmark:
        "results/benchmarks/index.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        library=code("index"),
    script:
        "../../scripts/index.py"
