"""Settings drafted from files: what they say, what is likely, and what has to be decided."""

from capmap.drafting.study import draft_study
from capmap.drafting.writing import name_study, write_draft

# The environment variable with how the user runs a study, where it is not by Snakemake.
CALL = "CAPMAP_CALL"

__all__ = ["CALL", "draft_study", "name_study", "write_draft"]
