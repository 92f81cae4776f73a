"""Makes the analyses that a study asks for, and draws all of its figures.

`capmap.analyses` declares the tables and figures of each analysis.
Reads: normalized/, tables/, and what capabilities, predictions, submissions or checkpoints have made.
Writes: comparisons/ and figures/, each with an index.csv of what is there.
"""


rule compare:
    """Normalized runs → tables and texts of all analyses that need no stage of their own."""
    input:
        runs="results/{study}/normalized/runs.parquet",
        item_scores="results/{study}/normalized/items.parquet",
        bounds="results/{study}/normalized/bounds.csv",
        ranking="results/{study}/tables/ranking.csv",
        dependence="results/{study}/tables/dependence.csv",
        estimates=shards("results/{study}/bootstrap/{shard}.parquet", "winners_curse"),
        scope=asked("winners_curse", "results/{study}/normalized/", "scope.json"),
        others=lambda wildcards: expand(
            "results/{other}/normalized/runs.parquet",
            other=study_of(wildcards).read("conditions"),
        ),
        model_file=files("attributes/models/file"),
        embedded=asked(
            "drift transfer",
            "results/{study}/capabilities/",
            "gaps.csv models.csv datasets.csv",
        ),
        predicted=asked(
            "next_results",
            "results/{study}/capabilities/",
            "predictions.csv placement_predictions.csv",
        ),
        evaluations=asked("checkpoints", "results/{study}/", "evaluations.parquet"),
        entries=asked("releases", "results/{study}/leaderboard/", "entries.csv"),
        releases=files(studies.find_releases),
    output:
        comparisons=report(
            directory("results/{study}/comparisons"),
            patterns=["{name}.csv"],
            category="{study}",
            subcategory="Comparisons",
            labels={"name": "{name}"},
        ),
    log:
        "results/logs/compare/{study}.log",
    benchmark:
        "results/benchmarks/compare/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(5),
    params:
        cfg=steps(),
        library=code("analyse", *STEPS),
    script:
        "../../scripts/analyse.py"


rule plot:
    """Finished tables → all figures of a study."""
    input:
        scores="results/{study}/tables/scores.csv",
        seeds="results/{study}/tables/seeds.csv",
        ranking="results/{study}/tables/ranking.csv",
        comparisons="results/{study}/comparisons",
        capabilities=asked(
            "capabilities", "results/{study}/capabilities/", CAPABILITIES
        ),
        placements=asked(
            "placements", "results/{study}/capabilities/", "error_curve.csv"
        ),
        multilabel=asked("multilabel", "results/{study}/multilabel/", MULTILABEL),
        leaderboard=asked("leaderboard", "results/{study}/leaderboard/", LEADERBOARD),
    output:
        figures=report(
            directory("results/{study}/figures"),
            patterns=["{name,[a-z_]+}.svg"],
            category="{study}",
            subcategory="Figures",
            labels={"name": "{name}"},
        ),
    log:
        "results/logs/plot/{study}.log",
    benchmark:
        "results/benchmarks/plot/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(5),
    params:
        cfg=cfg(
            "figures/formats",
            folder=lambda study: str(study.folder),
            drawn=inputs.read_figures,
        ),
        library=code("plot", *INDEX),
    script:
        "../../scripts/plot.py"
