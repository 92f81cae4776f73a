"""Where results come from other than exports, and files from elsewhere."""

from typing import Annotated

from pydantic import Field

from capmap.settings.sections import Section, Whole

DOWNLOADS = "downloads"
DownloadName = Annotated[
    str,
    Field(
        pattern=r"^(?!\.)[^/\\\s](?!.*/[./])[^\\\n]*[^/\\\n]$",
        description="A path below downloads/, without . and .. in it.",
    ),
]
Digest = Annotated[
    str,
    Field(
        pattern="^[0-9a-f]{64}$",
        description="A SHA-256 has 64 hexadecimal digits; `sha256sum FILE` prints it.",
    ),
]


class Submission(Section):
    """Rules of submissions (submission format only)."""

    seeds_per_cell: Whole = Field(5, ge=1, description="Seeds that a model needs on each dataset.")
    strict: bool = Field(
        False, description="Whether all sixteen columns and a complete dimension are needed."
    )


class Download(Section):
    """Files that others publish, by their path below downloads/, fetched once before any job."""

    address: Annotated[str, Field(pattern="^https?://[^ ]+$")] = Field(
        description="Where it is published, http:// or https://."
    )
    sha256: Digest = Field(description="SHA-256 of the file; one with another is refused.")
