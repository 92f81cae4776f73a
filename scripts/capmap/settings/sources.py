"""Where results come from other than exports, and files from elsewhere."""

from typing import Annotated

from pydantic import Field

from capmap.settings.sections import Section, Whole

DIGEST = "^[0-9a-f]{64}$"
DOWNLOADS = "downloads"
DownloadName = Annotated[
    str,
    Field(
        description="A path below downloads/, without . and .. in it.",
        pattern=r"^(?!\.)[^/\\\s](?!.*/[./])[^\\\n]*[^/\\\n]$",
    ),
]


class Submission(Section):
    """Rules of submissions (submission format only)."""

    seeds_per_cell: Whole = Field(
        5,
        ge=1,
        description="Seeds that a model needs on each dataset; fewer is an error, more is fine.",
    )


class Download(Section):
    """Files that others publish, by their path below downloads/, where settings can name them.

    Those that the studies name are fetched before any job, also of a dry run, and once.
    """

    address: Annotated[str, Field(pattern="^https?://[^ ]+$")] = Field(
        description="Where it is published, http:// or https://."
    )
    sha256: Annotated[str, Field(pattern=DIGEST)] = Field(
        description="SHA-256 of the file in hexadecimal; a file with another one is refused, "
        "wherever it is from."
    )
