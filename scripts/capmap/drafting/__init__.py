"""Settings drafted from files: what they say, what is likely, and what has to be decided."""

from capmap.drafting.draft import draft_study, name_study, write_draft
from capmap.drafting.words import find_slots, write_pattern

__all__ = ["draft_study", "find_slots", "name_study", "write_draft", "write_pattern"]
