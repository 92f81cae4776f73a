"""Draft the settings of a study from its files."""

import os
from pathlib import Path

from capmap.drafting import CALL, draft_study, name_study, write_draft
from capmap.errors import ConfigError


def draft(*, exports: list[str]) -> None:
    """Write the settings of a study into the working directory, and say what to decide."""
    if not exports:
        raise ConfigError("Name the files: snakemake draft --config exports=FILE")
    name = name_study(exports)
    path = Path(f"{name}.yaml")
    if path.exists():
        raise ConfigError(f"{path} is there already. Remove or rename it, or edit it by hand.")
    study = draft_study(exports)
    path.write_text(write_draft(study, name), "utf-8")
    if not study.runs:
        raise ConfigError(
            f"No run can be read as {path} says, which is only a start: {study.decisions[-1]} "
            f"Correct {path}, then: capmap check {path}"
        )
    for number, decision in enumerate(study.decisions, 1):
        print(f"Decide {number}: {decision}")
    call = os.environ.get(CALL, "snakemake --configfile")
    print(f"Wrote {path}. Look through it, then run: {call} {path}")


if __name__ == "__main__":
    from job import run_job

    run_job(draft, snakemake)  # type: ignore[name-defined]
