"""Settings drafted from files: what they say, what is likely, and what has to be decided."""

from capmap.drafting.study import draft_study
from capmap.drafting.writing import name_study, write_draft

__all__ = ["draft_study", "name_study", "write_draft"]
