"""What is wrong with the runs of a study: all of it, with places and remedies."""

from capmap.validation.findings import Policies, Validation, check_exports, validate_runs

__all__ = ["Policies", "Validation", "check_exports", "validate_runs"]
