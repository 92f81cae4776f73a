"""Evaluates predictions of single-label classifiers on images with several valid labels.

Reads: dumps of scores, labels, annotated images, or published metrics of an ordinary study.
Writes: patchml/ with a folder of composed images per seed, multilabel/; for predictions also
runs.parquet and validation.json, as exports do.
"""

MULTILABEL = "metrics.csv summary.csv rank_shift.csv label_counts.csv degradation.csv"
DUMPS = studies.list_shards
SCORES = shards("results/{study}/multilabel/scores/{shard}.parquet", number=DUMPS)
FACTS = shards("results/{study}/multilabel/facts/{shard}.json", number=DUMPS)


rule crop:
    """Annotated images → a patch per object, and what could not be cut."""
    input:
        images=files("patchml/images"),
        annotations=files("patchml/annotations"),
        classes=files("patchml/classes"),
    output:
        archive="results/{study}/patchml/crops.zip",
        crops="results/{study}/patchml/crops.csv",
        skipped="results/{study}/patchml/skipped.csv",
    log:
        "results/logs/crop/{study}.log",
    benchmark:
        "results/benchmarks/crop/{study}.tsv"
    conda:
        "../../envs/images.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(30),
    params:
        library=code("crop"),
    script:
        "../../scripts/crop.py"


rule compose:
    """Patches → images of several, with the union of their labels, by seed."""
    input:
        archive="results/{study}/patchml/crops.zip",
        crops="results/{study}/patchml/crops.csv",
    output:
        images=directory("results/{study}/patchml/{number}/images"),
        labels="results/{study}/patchml/{number}/labels.json",
        manifest="results/{study}/patchml/{number}/manifest.csv",
    log:
        "results/logs/compose/{study}/{number}.log",
    benchmark:
        "results/benchmarks/compose/{study}/{number}.tsv"
    conda:
        "../../envs/images.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(30),
    params:
        seed="{number}",
        cfg=cfg("patchml/counts patchml/sizes patchml/side"),
        library=code("compose"),
    script:
        "../../scripts/compose.py"


rule evaluate:
    """Scores and labels of some models → outcomes of images, metrics, and what is wrong."""
    input:
        dumps=files(studies.list_dumps, shard=int),
        labels=files(studies.list_label_files, shard=int),
    output:
        outcomes="results/{study}/multilabel/outcomes/{shard}.parquet",
        scores="results/{study}/multilabel/scores/{shard}.parquet",
        facts="results/{study}/multilabel/facts/{shard}.json",
    log:
        "results/logs/evaluate/{study}/{shard}.log",
    benchmark:
        "results/benchmarks/evaluate/{study}/{shard}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(60),
    params:
        study="{study}",
        cells=lambda wildcards: studies.list_cells(
            study_of(wildcards), shard=int(wildcards.shard)
        ),
        cfg=cfg(
            "predictions/classes bootstrap/confidence bootstrap/seed",
            replicates=inputs.count_of_images,
            datasets=studies.find_labels,
            subgroups=studies.find_subgroups,
            renamed="figures/names",
        ),
        library=code("evaluate"),
    script:
        "../../scripts/evaluate.py"


use rule validate as validate_predictions with:
    input:
        scores=SCORES,
        facts=FACTS,
        objects=files(studies.list_objects),
        references=files(studies.find_references),
    wildcard_constraints:
        study=studies.match_studies(config, "predictions"),
    params:
        cfg=cfg(
            CHECKED,
            "multilabel/rank_by",
            names=studies.list_exports,
            subgroups=studies.find_subgroups,
            renamed="figures/names",
        ),
        checked=unwatched(named=inputs.list_named),


rule compare_labels:
    """Metrics of dumps, or published ones → metrics, their drops, and ranks by each of them."""
    input:
        runs="results/{study}/runs.parquet",
        scores=SCORES,
        outcomes=shards(
            "results/{study}/multilabel/outcomes/{shard}.parquet",
            number=DUMPS,
        ),
        facts=FACTS,
        labels=files(studies.list_counted),
    output:
        table("results/{study}/multilabel/metrics"),
        table("results/{study}/multilabel/summary", "csv tex"),
        table("results/{study}/multilabel/rank_shift"),
        table("results/{study}/multilabel/label_counts"),
        table("results/{study}/multilabel/degradation"),
    log:
        "results/logs/compare_labels/{study}.log",
    benchmark:
        "results/benchmarks/compare_labels/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(5),
    params:
        cfg=steps("summarize_metrics", "compare_predictions"),
        library=code("analyse", "summarize_metrics", "compare_predictions"),
    script:
        "../../scripts/analyse.py"
