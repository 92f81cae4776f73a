"""From raw scores to normalized scores: transforms, directions, bounds, selection."""

from capmap.normalization.bounds import find_limits, normalize_scores, resolve_bounds
from capmap.normalization.precedence import Reference, Rules, read_references
from capmap.normalization.selection import (
    apply_transforms,
    count_runs,
    drop_incomplete,
    find_missing,
    list_dropped,
    scale_rmse,
    select_runs,
)

__all__ = [
    "Reference",
    "Rules",
    "apply_transforms",
    "count_runs",
    "drop_incomplete",
    "find_limits",
    "find_missing",
    "list_dropped",
    "normalize_scores",
    "read_references",
    "resolve_bounds",
    "scale_rmse",
    "select_runs",
]
