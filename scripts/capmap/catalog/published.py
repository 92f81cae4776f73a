"""The analysis that puts published numbers beside those of the study."""

from capmap.catalog.declarations import Analysis, Step, Table

PUBLISHED = Analysis(
    question="Are the published numbers those that come out here?",
    folder="tables",
    needs="published",
    tables={
        "published": Table(
            "Published tables and figures beside what the study has for them: how many of their "
            "numbers are equal to ours as printed, near (within a stated tolerance or our "
            "interval), different, or not computed here, and why.",
            "published beside cells equal near different not_computed note",
            text="published beside note",
        ),
        "published_cells": Table(
            "Every published number and the one computed here, those first that differ.",
            "published row column printed computed difference verdict",
            text="published row column printed verdict",
        ),
        "published_claims": Table(
            "Statements of the publication as ranges of numbers: a statement holds if our interval "
            "lies within the range, fails if it lies outside, and is open otherwise.",
            "claim beside above below estimate low high verdict note",
            text="claim beside verdict note",
        ),
    },
    figures={},
    steps={
        "compare_published": Step(
            "capmap.comparison.published:compare_published",
            tables=["published", "published_cells", "published_claims"],
            options={"published": "published", "claims": "claims"},
            describe="capmap.prose.published:describe_published",
        )
    },
)

# In the order of the page.
ANALYSES = {"published": PUBLISHED}
