"""A configuration is refused before any job, in one message."""

import pytest

from tests.workflow.checkouts import Checkout


@pytest.mark.parametrize(
    ("settings", "fragments"),
    [
        (
            "studies: {a: {exports: x.csv, bootstrap: {replicats: 500}}}",
            ["replicats", "replicates"],
        ),
        ("studies: {a: {exports: x.csv, incomplete: drop_model}}", ["drop_model", "drop_models"]),
        ("studies: {a: {exports: x.csv}}\nrun: b", ["no study 'b'"]),
        ("studies: {a: {exports: x.csv}}", ["studies.a.exports", "no file matches 'x.csv'"]),
        ("studies: {../a: {exports: x.csv}}", ["../a"]),
        ("studies: {a: {format: long}}", ["exports"]),
        (
            "studies: {a: {exports: x.csv, header_rows: 0}, A: {exports: y.csv, conditions: [b]}}",
            [
                *("studies.a.header_rows", "studies.A: results/A and results/a are one folder"),
                *("studies.a.exports", "studies.A.exports", "studies.A.conditions"),
            ],
        ),
        ("exports: x.csv\nstudies: {a: {exports: x.csv}}", ["exports: unknown key"]),
    ],
)
def test_faulty_configuration_is_refused(
    checkout: Checkout, settings: str, fragments: list[str]
) -> None:
    (checkout.folder / "my.yaml").write_text(settings)
    run = checkout.snakemake("--configfile", "my.yaml")
    assert run.status != 0
    assert not run.jobs
    assert "Traceback" not in run.output
    for fragment in fragments:
        assert fragment in run.output
    assert not (checkout.folder / "results").exists()


def test_studies_of_a_configfile_replace_the_shipped_ones(checkout: Checkout) -> None:
    (checkout.folder / "my.csv").write_text("model,dataset,metric,score\nm,d,acc,0.5\n")
    (checkout.folder / "my.yaml").write_text("studies: {mine: {exports: my.csv}}")
    run = checkout.snakemake("--configfile", "my.yaml", "-n")
    assert run.status == 0, run.output
    assert {job.split("study=")[1] for job in run.jobs if "study=" in job} == {"mine"}


def test_bounds_that_the_study_writes_itself_are_no_references(checkout: Checkout) -> None:
    (checkout.folder / "my.csv").write_text("model,dataset,metric,score\nm,d,acc,0.5\n")
    bounds = checkout.folder / "results/mine/normalized/bounds.csv"
    bounds.parent.mkdir(parents=True)
    bounds.write_text("dataset,low,high\nd,0,1\n")
    references = "{references: results/mine/normalized/bounds.csv}"
    settings = f"studies: {{mine: {{exports: my.csv, normalization: {references}}}}}"
    (checkout.folder / "my.yaml").write_text(settings)
    run = checkout.snakemake("--configfile", "my.yaml")
    assert run.status != 0
    assert "this study itself writes" in run.output
    assert bounds.is_file()


def test_a_drafted_study_runs_as_it_is(checkout: Checkout) -> None:
    (checkout.folder / "my.csv").write_text(
        "algo,task,seed,accuracy\nA,x,0,0.5\nA,x,1,0.6\nB,x,0,0.7\nB,x,1,0.7\n"
    )
    run = checkout.snakemake("draft", "--config", "exports=my.csv")
    assert run.status == 0, run.output
    assert "Wrote my.yaml" in run.output
    run = checkout.snakemake("results/my/runs.parquet", "--configfile", "my.yaml")
    assert run.status == 0, run.output
    run = checkout.snakemake("draft", "--config", "exports=my.csv")
    assert run.status != 0
    assert "my.yaml is there already" in run.output
