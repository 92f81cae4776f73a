"""Evaluates predictions of single-label classifiers on images with several valid labels.

Reads: dumps of scores, labels, annotated images, or published metrics of an ordinary study.
Writes: patchml/ with a folder of composed images per seed, multilabel/; for predictions also runs.parquet and validation.json, as exports do.
"""


rule crop_objects:
    """Annotated images → a patch per object, and what could not be cut."""
    input:
        images=of(studies.Study.read, "patchml/images"),
        annotations=of(studies.Study.read, "patchml/annotations"),
        classes=of(predictions.find_classes, "patchml"),
    output:
        archive="results/{study}/patchml/crops.tar",
        crops="results/{study}/patchml/crops.csv",
        skipped="results/{study}/patchml/skipped.csv",
    log:
        "results/logs/crop_objects/{study}.log",
    benchmark:
        "results/benchmarks/crop_objects/{study}.tsv"
    conda:
        "../../envs/images.yaml"
    params:
        library=digest_library("crop_objects.py"),
    script:
        "../../scripts/crop_objects.py"


rule compose_patches:
    """Patches → images of several, with the union of their labels."""
    input:
        archive="results/{study}/patchml/crops.tar",
        crops="results/{study}/patchml/crops.csv",
    output:
        images=directory("results/{study}/patchml/{number}/images"),
        labels="results/{study}/patchml/{number}/labels.json",
        manifest="results/{study}/patchml/{number}/manifest.csv",
        label_counts="results/{study}/patchml/{number}/label_counts.csv",
        composed="results/{study}/patchml/{number}/composed.csv",
    log:
        "results/logs/compose_patches/{study}/{number}.log",
    benchmark:
        "results/benchmarks/compose_patches/{study}/{number}.tsv"
    conda:
        "../../envs/images.yaml"
    params:
        dataset="PatchML{number}",
        counts=setting("patchml/counts"),
        sizes=setting("patchml/sizes"),
        side=setting("patchml/side"),
        seed=number("number"),
        library=digest_library("compose_patches.py"),
    script:
        "../../scripts/compose_patches.py"


rule evaluate_predictions:
    """Scores and labels of some models → outcomes of images, metrics, and what is wrong."""
    input:
        of(predictions.list_label_files, shard=int),
        dumps=of(predictions.list_dumps, shard=int),
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
        cells=of(predictions.list_cells, shard=int),
        classes=setting("predictions/classes"),
        datasets=of(predictions.find_labels),
        subgroups=of(predictions.find_subgroups),
        n_resamples=setting("multilabel/replicates"),
        confidence_level=setting("multilabel/confidence"),
        seed=setting("bootstrap/seed"),
        renamed=setting("figures/names"),
        library=digest_library("evaluate_predictions.py"),
    script:
        "../../scripts/evaluate_predictions.py"


rule gather_scores:
    """Metrics of all dumps → runs, or every problem that they have."""
    input:
        scores=of(predictions.list_parts, "scores.parquet"),
        facts=of(predictions.list_parts, "facts.json"),
        objects=of(predictions.list_objects),
        references=of(exports.find_references),
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
        rejected=place_beside("rejected.csv"),
        checksums=setting("checksums"),
        names=of(exports.list_names),
        rank_by=setting("multilabel/rank_by"),
        subgroups=of(predictions.find_subgroups),
        metrics=setting("metrics"),
        datasets=setting("datasets"),
        normalization=setting("normalization"),
        select=setting("select"),
        min_seeds=setting("min_seeds"),
        incomplete=setting("incomplete"),
        duplicates=setting("duplicates"),
        invalid=setting("invalid"),
        named=unwatched(analyses.list_named),
        renamed=setting("figures/names"),
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


rule count_labels:
    """Labels of published metrics → how many images have how many."""
    input:
        labels=of(predictions.list_counted),
    output:
        facts="results/{study}/multilabel/counted.json",
    log:
        "results/logs/count_labels/{study}.log",
    benchmark:
        "results/benchmarks/count_labels/{study}.tsv"
    wildcard_constraints:
        study=match_studies("long", "matrix"),
    conda:
        "../../envs/analysis.yaml"
    params:
        datasets=of(predictions.list_counted_datasets),
        library=digest_library("count_labels.py"),
    script:
        "../../scripts/count_labels.py"
