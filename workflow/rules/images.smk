"""Composes images with several labels, and runs classifiers over images.

Reads: annotated images, classifiers (ONNX).
Writes: patchml/ with a folder of images per seed, dumps/ with the scores of each model and dataset.
"""


rule crop_objects:
    """Annotated images → a patch per object, and what could not be cut."""
    input:
        images=setting("patchml/images"),
        annotations=setting("patchml/annotations"),
        classes=known_classes("patchml"),
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
        seed=number_of,
        library=digest_library("compose_patches.py"),
    script:
        "../../scripts/compose_patches.py"


rule classify_images:
    """A folder of images and a classifier → scores of all classes."""
    input:
        images=images_to_classify,
        model=classifier_setting("file"),
        classes=known_classes("predictions"),
    output:
        scores="results/{study}/dumps/{cell}/{number}.npy",
        ids="results/{study}/dumps/{cell}/{number}.txt",
    log:
        "results/logs/classify_images/{study}/{cell}/{number}.log",
    benchmark:
        "results/benchmarks/classify_images/{study}/{cell}/{number}.tsv"
    conda:
        "../../envs/classify.yaml"
    params:
        size=classifier_setting("size"),
        mean=classifier_setting("mean"),
        std=classifier_setting("std"),
        batch_size=setting("classify/batch"),
        library=digest_library("classify_images.py"),
    script:
        "../../scripts/classify_images.py"
