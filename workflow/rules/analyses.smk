"""Runs the analyses that a study asks for, and draws all of its figures.

`capmap.catalog` declares what each analysis reads and makes.
Reads: normalized/{shard}.parquet, normalized/bounds.csv, tables of the ranking, attributes, and what
earlier steps made.
Writes: the tables of each analysis, files that later steps read, a paragraph in text/, and figures/
with each figure as PDF, PNG and SVG, and index.csv.
"""

for name in [name for name in STEPS if name not in analyses.SHARED | analyses.SINGLE]:

    rule:
        name:
            name
        input:
            **inputs_of_steps(name),
        output:
            outputs_of_steps(name),
        log:
            f"results/logs/{name}/{{study}}.log",
        benchmark:
            f"results/benchmarks/{name}/{{study}}.tsv"
        conda:
            "../../envs/analysis.yaml"
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 60 * attempt,
        params:
            study="{study}",
            folder=of(studies.find_folder),
            steps=[name],
            options=of(analyses.read_step_options, name),
            library=code_of(analyses.find_step_code, name),
        script:
            "../../scripts/analyse.py"


for study in config["studies"]:
    steps = analyses.list_shared_steps(find_study(study))

    if steps:

        rule:
            name:
                f"compare_models_of_{study}"
            input:
                **inputs_of_steps(*steps),
            output:
                outputs_of_steps(*steps),
            log:
                "results/logs/compare_models/{study}.log",
            benchmark:
                "results/benchmarks/compare_models/{study}.tsv"
            wildcard_constraints:
                study=re.escape(study),
            priority: 1
            group:
                "finish"
            conda:
                "../../envs/analysis.yaml"
            resources:
                mem_mb=lambda wildcards, attempt: 2000 * attempt,
                runtime=lambda wildcards, attempt: 60 * attempt,
            params:
                study="{study}",
                folder=of(studies.find_folder),
                steps=steps,
                options=of(analyses.read_step_options, *steps),
                library=code_of(analyses.find_step_code, *steps),
            script:
                "../../scripts/analyse.py"


rule plot:
    """Finished tables → all figures of a study, with an index of those that show something."""
    input:
        of_drawn(analyses.list_figure_inputs),
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
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        folder=of(studies.find_folder),
        reads=of_drawn(analyses.find_figure_inputs),
        options=of_drawn(analyses.read_figure_options),
        looks=of_drawn(looks.read_looks),
        library=lambda wildcards: digest_figures(find_study(wildcards.study)),
    script:
        "../../scripts/plot.py"
