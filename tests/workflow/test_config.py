"""A configuration is refused before any job, in one message."""

import pytest

from tests.workflow.checkouts import Checkout


@pytest.mark.parametrize(
    ("settings", "fragments"),
    [
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
    studies = {job.split("study=")[1] for job in run.jobs if "study=" in job}
    assert {study.partition(",")[0] for study in studies} == {"mine"}
