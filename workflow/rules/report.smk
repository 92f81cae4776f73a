"""Puts tables and figures on one page per study, and says what moved since the last run.

Reads: all tables, figures and paragraphs, validation.json, normalized/bounds.csv, normalized/dropped.csv.
Writes: tables/changes, previous/ (the tables of the run before), report.html, text/headline.txt,
text/claims.csv, paper/, index.html.
"""

import tomllib

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


rule track_changes:
    """Rankings of this run and of the one before → what moved."""
    input:
        iqm="results/{study}/tables/iqm.csv",
        aggregate="results/{study}/tables/aggregate.csv",
    output:
        changes=table("changes"),
        # Kept until the job replaces them.
        former_iqm=update("results/{study}/previous/iqm.csv"),
        former_aggregate=update("results/{study}/previous/aggregate.csv"),
    log:
        "results/logs/track_changes/{study}.log",
    benchmark:
        "results/benchmarks/track_changes/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        library=digest_library("track_changes.py"),
    script:
        "../../scripts/track_changes.py"


rule write_report:
    """Tables and figures of a study → one page."""
    input:
        tables=of(analyses.place_tables, "csv"),
        bounds="results/{study}/normalized/bounds.csv",
        dropped="results/{study}/normalized/dropped.csv",
        validation="results/{study}/validation.json",
        figures="results/{study}/figures",
        texts=of(analyses.place_texts, "txt"),
    output:
        report="results/{study}/report.html",
        headline="results/{study}/text/headline.txt",
        claims="results/{study}/text/claims.csv",
    log:
        "results/logs/write_report/{study}.log",
    benchmark:
        "results/benchmarks/write_report/{study}.tsv"
    conda:
        "../../envs/report.yaml"
    params:
        study="{study}",
        title=title_of,
        analyses=of(analyses.list_asked),
        settings=lookup("{study}", within=config["studies"]),
        version=VERSION,
        library=digest_library("write_report.py"),
    script:
        "../../scripts/write_report.py"


rule write_paper:
    """Tables and claims of a study → tables, paragraphs, captions and references in LaTeX."""
    input:
        scopes="results/{study}/tables/scopes.csv",
        seeds="results/{study}/tables/seeds.csv",
        bounds="results/{study}/normalized/bounds.csv",
        claims="results/{study}/text/claims.csv",
        figures="results/{study}/figures",
        entries=of(leaderboards.place_entries),
    output:
        # Not deleted before the job, which keeps what was edited by hand.
        paper=[
            update(f"results/{{study}}/paper/{name}")
            for name in [
                "main.tex",
                "methods.tex",
                "results.tex",
                "results_table.tex",
                "ranking_table.tex",
                "figures.tex",
                "references.bib",
            ]
        ],
    log:
        "results/logs/write_paper/{study}.log",
    benchmark:
        "results/benchmarks/write_paper/{study}.tsv"
    conda:
        "../../envs/report.yaml"
    params:
        title=title_of,
        analyses=of(analyses.list_asked),
        bootstrap=setting("bootstrap"),
        comparison=setting("comparison"),
        failed=setting("failed"),
        incomplete=setting("incomplete"),
        library=digest_library("write_paper.py"),
    script:
        "../../scripts/write_paper.py"


rule write_index:
    """Reports of the selected studies → the page that links all that there are."""
    input:
        reports=expand("results/{study}/report.html", study=STUDIES),
        headlines=expand("results/{study}/text/headline.txt", study=STUDIES),
    output:
        index="results/index.html",
    log:
        "results/logs/write_index.log",
    benchmark:
        "results/benchmarks/write_index.tsv"
    conda:
        "../../envs/report.yaml"
    params:
        studies=[
            {
                "name": name,
                "title": find_study(name).title,
                "board": bool(leaderboards.place_page(find_study(name))),
            }
            for name in STUDIES
        ],
        library=digest_library("write_index.py"),
    script:
        "../../scripts/write_index.py"
