"""Drafts the settings of a study: `snakemake draft --config exports=FILE`.

Reads: the files or folders that `exports` names.
Writes: a YAML file in the working directory, named after them; one that is there stays as it is.
"""


rule draft:
    log:
        "results/logs/draft.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        exports=lambda wildcards: DRAFTED if isinstance(DRAFTED, list) else [DRAFTED],
    script:
        "../../scripts/draft.py"
