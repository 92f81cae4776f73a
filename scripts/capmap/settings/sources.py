"""Where results come from other than exports, and files from elsewhere."""

from typing import Annotated, Literal

from capmap.settings.choices import Tuning
from capmap.settings.sections import REQUIRED, FilePath, Name, Section, limit, name_key, option

DIGEST = "^[0-9a-f]{64}$"
DOWNLOADS = "downloads"
DownloadName = Annotated[
    str,
    name_key(
        "A path below downloads/, without . and .. in it.",
        pattern=r"^(?!\.)[^/\\\s](?!.*/[./])[^\\\n]*[^/\\\n]$",
    ),
]
RunStatus = Literal["FINISHED", "FAILED", "KILLED", "RUNNING", "SCHEDULED"]


class Tracking(Section):
    """A tracking store of MLflow to read instead of exports (submission and checkpoints formats).

    `make mlflow` installs what reads it.
    """

    store: FilePath = option(
        "",
        "sqlite:///FILE, a folder, or the address (http, https) of a server; empty means none. "
        "A server is asked again only when settings change or its results are removed.",
    )
    experiments: list[Name] = option(
        [], "Names of the experiments to read; empty means all.", unique=True
    )
    status: list[RunStatus] = option(
        ["FINISHED"],
        "Runs to read, by how they ended; others are counted.",
        min_length=1,
        unique=True,
    )
    keys: list[Name] = option(
        ["{split}/{dataset}/{metric}", "{split}/{metric}", "{metric}"],
        "What the names of metrics say, with {metric} and perhaps {split} and {dataset}, which "
        "tags and parameters of a run may name it instead; the first pattern that fits is taken "
        "(checkpoints format only).",
        min_length=1,
    )
    datasets: list[Name] = option(
        [],
        "The only names that {dataset} may stand for in `keys`; empty means any (checkpoints "
        "format only).",
        unique=True,
    )
    information: FilePath = option(
        "",
        "File additional_info.json of the submission that is collected (submission format only).",
    )


class Submission(Section):
    """Rules of submissions (submission format only)."""

    seeds_per_cell: int = option(
        5, "Seeds that a model needs on each dataset; fewer is an error, more is fine.", ge=1
    )
    strict: bool = option(
        False,
        "Whether a submission needs the columns frozen_or_full_ft, decoder, partition name and "
        "data_percentages, and all datasets of a dimension. Otherwise it may have some datasets, "
        "and is ranked where it is complete.",
    )
    method: Tuning = option(
        "full_ft", "What submissions without the column frozen_or_full_ft count as."
    )


class Download(Section):
    """Files that others publish, by their path below downloads/, where settings can name them.

    Those that the studies name are fetched before any job, also of a dry run, and once.
    """

    address: Annotated[str, limit(pattern="^https?://[^ ]+$")] = option(
        REQUIRED, "Where it is published, http:// or https://."
    )
    sha256: Annotated[str, limit(pattern=DIGEST)] = option(
        REQUIRED,
        "SHA-256 of the file in hexadecimal; a file with another one is refused, wherever it is "
        "from.",
    )
