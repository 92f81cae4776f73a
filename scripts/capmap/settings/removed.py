"""Settings, and values of settings, that an earlier version knew, and what to use instead."""

REMOVED: dict[str, str] = {
    "limits": "Leave it out: of more than 500 models pairs are not compared; see select.",
}
