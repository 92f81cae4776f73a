"""Runs the analyses that a study asks for, and draws all of its figures.

`capmap.catalog` declares what each analysis reads and makes.
Reads: normalized/{shard}.parquet, normalized/bounds.csv, tables of the ranking, attributes, and what
earlier steps made.
Writes: the tables of each analysis, files that later steps read, a paragraph in text/, and figures/,
each as PDF, PNG and SVG.
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
    figures = analyses.list_drawn(find_study(study))

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

    rule:
        name:
            f"plot_figures_of_{study}"
        input:
            of(analyses.list_figure_inputs, *figures),
        output:
            [path for name in figures for path in figure(name)],
        log:
            "results/logs/plot_figures/{study}.log",
        benchmark:
            "results/benchmarks/plot_figures/{study}.tsv"
        wildcard_constraints:
            study=re.escape(study),
        group:
            "finish"
        conda:
            "../../envs/figures.yaml"
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 60 * attempt,
        params:
            folder=of(studies.find_folder),
            reads=of(analyses.find_figure_inputs, *figures),
            options=of(analyses.read_figure_options, *figures),
            looks=of(looks.read_looks, *figures),
            library=code_of(analyses.find_figure_code, *figures),
        script:
            "../../scripts/plot.py"
