"""Settings, and values of settings, that an earlier version knew, and what to use instead."""

REMOVED: dict[str, str] = {}
