"""Settings drafted from files: what they say, what is likely, and what has to be decided."""

from capmap.drafting.draft import name_study, write_draft
from capmap.drafting.study import draft_study

__all__ = ["draft_study", "name_study", "write_draft"]
