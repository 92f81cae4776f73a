"""What can be wrong with bounds, in words."""

from collections.abc import Collection, Sequence

from capmap.metrics import suggest
from capmap.normalization.evidence import Evidence
from capmap.normalization.references import Reference
from capmap.problems import Problem, Severity
from capmap.wording import count_things, find_nearest, list_names, quote_name, write_key


def explain_missing(metric: str, lacks: Sequence[str], evidence: Sequence[Evidence]) -> Problem:
    """Say that neither the configuration nor the registry knows a metric's direction or bounds.

    Parameters
    ----------
    metric : str
        The metric's name.
    lacks : sequence of {"direction", "low", "high"}
        What is missing.
    evidence : sequence of Evidence
        The datasets that need it.
    """
    values = {"direction": "max", "low": "NUMBER", "high": "NUMBER"}
    yaml = ", ".join(f"{key}: {values[key]}" for key in lacks)
    rule = f"metrics: {{{write_key(metric)}: {{{yaml}}}}}"
    if "direction" in lacks:
        nearest = suggest(metric)
        known = f" (the nearest known metric is {quote_name(nearest)})" if nearest else ""
        code = "unknown_metric"
        reason = f"Whether a higher {quote_name(metric)} is better is not known{known}"
        remedy = f"Write {rule}, with min in place of max if lower is better."
    else:
        code = "unbounded_metric"
        sides = " or ".join({"low": "lower", "high": "upper"}[side] for side in lacks)
        reason = f"The metric {quote_name(metric)} has no natural {sides} bound"
        remedy = f"Write {rule}; a bound may also be observed or {{model: NAME}}."
    return _problem(evidence, code=code, value=metric, reason=reason, remedy=remedy)


def explain_absent_model(
    model: str, evidence: Sequence[Evidence], *, models: Collection[str]
) -> Problem:
    """Say that a model whose scores should be bounds has none on some datasets."""
    if model in models:
        reason = f"The model {quote_name(model)} is a bound, but has no run here"
        remedy = "Add its runs, or give these datasets bounds of their own."
    else:
        reason = f"The model {quote_name(model)} is a bound, but is not among the runs"
        nearest = find_nearest(model, models)
        remedy = f"Did you mean {quote_name(nearest)}?" if nearest else "Correct its name."
    return _problem(evidence, code="absent_model", value=model, reason=reason, remedy=remedy)


def explain_bad_bounds(evidence: Evidence, *, low: str, high: str) -> Problem:
    """Say that a dataset's bounds (with their origins) are not in order at a finite distance."""
    return _problem(
        [evidence],
        code="bad_bounds",
        value=evidence.dataset,
        reason=f"The bounds, low {low} and high {high}, are not two numbers with low < high and a "
        "finite difference",
        remedy="Give the lower raw score as low also where it is the better one; the direction "
        "says which is better.",
    )


def explain_constant(evidence: Evidence) -> Problem:
    """Say that a dataset is left out because all its scores, and so its bounds, are equal."""
    return _problem(
        [evidence],
        severity="warning",
        code="constant_dataset",
        value=evidence.dataset,
        reason=f"All scores are {evidence.lowest!r}, so observed bounds are equal and the dataset "
        "is left out",
        remedy="Give it numbers as bounds to keep it.",
    )


def explain_mismatch(evidence: Evidence, reference: Reference, *, direction: str) -> Problem:
    """Say that frozen bounds were made for another metric or direction."""
    return _problem(
        [evidence],
        code="reference_mismatch",
        value=evidence.dataset,
        reason=f"The references are for the metric {quote_name(reference.metric)} with direction "
        f"{reference.direction}, the study has {quote_name(evidence.metric)} with {direction}",
        remedy="Make both studies agree, or freeze new bounds.",
    )


def explain_unreferenced(evidence: Sequence[Evidence]) -> Problem:
    """Say that frozen bounds do not cover some datasets."""
    return _problem(
        evidence,
        severity="warning",
        code="unreferenced_dataset",
        reason="The references have no bounds for this; those of the study or of the metric apply",
        remedy="Freeze new bounds if scores must stay comparable.",
    )


def _problem(
    evidence: Sequence[Evidence],
    *,
    severity: Severity = "error",
    code: str,
    value: str = "",
    reason: str,
    remedy: str,
) -> Problem:
    names = list_names([item.dataset for item in evidence])
    return Problem(
        severity=severity,
        code=code,
        source=evidence[0].source,
        line=evidence[0].line,
        value=value,
        reason=f"{reason} ({count_things(len(evidence), 'dataset')}: {names}).",
        remedy=remedy,
    )
