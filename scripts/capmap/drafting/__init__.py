"""Settings drafted from files: what they say, what is likely, and what has to be decided."""

from capmap.drafting.draft import name_study, write_draft
from capmap.drafting.study import draft_study

# The environment variable with how the user runs a study, where it is not by Snakemake.
CALL = "CAPMAP_CALL"

__all__ = ["CALL", "draft_study", "name_study", "write_draft"]
