"""Evaluates predictions of single-label classifiers on images with several valid labels.

Reads: dumps of scores, labels, or published metrics of an ordinary study.
Writes: multilabel/; for predictions also runs.parquet and validation.json, as validation does.
"""


rule evaluate_predictions:
    """Scores and labels of some models → outcomes of images, metrics, and what is wrong."""
    input:
        labels_of,
        dumps=dumps_of,
    output:
        outcomes="results/{study}/multilabel/outcomes/{shard}.parquet",
        scores="results/{study}/multilabel/scores/{shard}.parquet",
        facts="results/{study}/multilabel/facts/{shard}.json",
    log:
        "results/logs/evaluate_predictions/{study}/{shard}.log",
    benchmark:
        "results/benchmarks/evaluate_predictions/{study}/{shard}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        cells=cells_of,
        classes=setting("predictions/classes"),
        datasets=datasets_of,
        subgroups=setting("multilabel/subgroups"),
        n_resamples=setting("multilabel/replicates"),
        confidence_level=setting("multilabel/confidence"),
        seed=setting("bootstrap/seed"),
        library=digest_library("evaluate_predictions.py"),
    script:
        "../../scripts/evaluate_predictions.py"


rule gather_scores:
    """Metrics of all dumps → runs, or every problem that they have."""
    input:
        scores=parts_of("scores.parquet"),
        facts=parts_of("facts.json"),
        references=references_of,
    output:
        runs="results/{study}/runs.parquet",
        validation="results/{study}/validation.json",
    log:
        "results/logs/gather_scores/{study}.log",
    benchmark:
        "results/benchmarks/gather_scores/{study}.tsv"
    wildcard_constraints:
        study=match_studies("predictions"),
    conda:
        "../../envs/analysis.yaml"
    params:
        rejected="results/{study}/rejected.csv",
        checksums=setting("checksums"),
        names=names_of,
        rank_by=setting("multilabel/rank_by"),
        subgroups=setting("multilabel/subgroups"),
        metrics=setting("metrics"),
        datasets=setting("datasets"),
        normalization=setting("normalization"),
        select=setting("select"),
        min_seeds=setting("min_seeds"),
        incomplete=setting("incomplete"),
        duplicates=setting("duplicates"),
        invalid=setting("invalid"),
        library=digest_library("gather_scores.py"),
    script:
        "../../scripts/gather_scores.py"


rule read_published:
    """Runs of published metrics → metrics of each dataset."""
    input:
        runs="results/{study}/runs.parquet",
    output:
        scores="results/{study}/multilabel/published.parquet",
    log:
        "results/logs/read_published/{study}.log",
    benchmark:
        "results/benchmarks/read_published/{study}.tsv"
    wildcard_constraints:
        study=match_studies("long", "matrix"),
    conda:
        "../../envs/analysis.yaml"
    params:
        library=digest_library("read_published.py"),
    script:
        "../../scripts/read_published.py"


rule plot_examples:
    """Images with several labels → what the best and the worst model say of them."""
    input:
        summary="results/{study}/multilabel/summary.csv",
        dumps=example_dumps,
        ids=example_labels("images"),
        labels=example_labels("labels"),
        images=example_images,
        classes=known_classes("predictions"),
    output:
        prediction_examples_figure=figure("prediction_examples"),
    log:
        "results/logs/plot_examples/{study}.log",
    benchmark:
        "results/benchmarks/plot_examples/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        study="{study}",
        dataset=example_dataset,
        models=example_models,
        seed=setting("bootstrap/seed"),
        library=digest_library("plot_examples.py"),
    script:
        "../../scripts/plot_examples.py"
