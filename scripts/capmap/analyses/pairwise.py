"""Every pair of models: differences, tests, improvement and equivalence together."""

from collections.abc import Mapping
from functools import partial
from itertools import combinations
from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.claims import BAYESIAN, claim_decisions, claim_pairs, has_letters
from capmap.normalization.bounds import NO_ITEMS
from capmap.problems import require_known
from capmap.ranking import choose
from capmap.ranking.aggregation import arrange_runs, order_runs
from capmap.ranking.clusters import measure_items
from capmap.ranking.dependence import Dependence
from capmap.ranking.pairs import (
    compare_pairs,
    compare_posteriors,
    estimate_improvement,
    scale_means,
)
from capmap.rng import make_stream
from capmap.settings.choices import DECIDED, POSTERIOR_SAMPLES, Unit
from capmap.wording import can_separate, have_common_letter

# Columns of the Bayesian test, empty where it is not asked for.
POSTERIOR = ["p_a_better", "p_equivalent", "p_b_better", "decision"]


def compare_models(
    runs: pd.DataFrame,
    ranking: pd.DataFrame,
    bounds: pd.DataFrame,
    dependence: pd.DataFrame,
    items: pd.DataFrame = NO_ITEMS,
    *,
    study: str,
    comparison: Mapping[str, Any],
    resampling: Mapping[str, Any],
) -> pd.DataFrame:
    """Compare every pair of models: differences, tests, probability of improvement, equivalence."""
    unit: Unit = ranking["unit"].iloc[0]
    known = Dependence.read(dependence.iloc[0].to_dict())
    matrix = arrange_runs(runs, by_seed=unit in ("seeds", "items") or known.needs_seeds)
    if reference := comparison["reference"]:
        require_known([reference], matrix.models, option="comparison.reference", kind="model")
    ordered, confidence_level = order_runs(runs), resampling["confidence_level"]
    stream = partial(make_stream, resampling["seed"], study)
    pairs = compare_pairs(
        matrix,
        unit=unit,
        confidence_level=confidence_level,
        dependence=known,
        ordered=arrange_runs(ordered),
        items=measure_items(items, runs) if unit == "items" else None,
    )
    improvement = estimate_improvement(
        ordered,
        n_resamples=resampling["n_resamples"],
        confidence_level=confidence_level,
        unit=unit,
        make_rng=partial(stream, "improvement"),
        make_dataset_rng=lambda names: stream("improvement_datasets", *names),
    )
    # All have a row per pair in the same order.
    table = pd.concat([pairs, improvement.iloc[:, 2:]], axis=1)
    rope = comparison["rope"]
    if rope == {}:
        return table.assign(**dict.fromkeys(POSTERIOR))
    if isinstance(rope, Mapping):
        matrix, rope = scale_means(matrix, bounds=bounds, widths=rope), 1.0
    posterior = compare_posteriors(
        matrix,
        rope=float(rope),
        probability=DECIDED,
        n_samples=POSTERIOR_SAMPLES,
        make_rng=lambda datasets: stream("signed_rank", str(datasets)),
    )
    return pd.concat([table, posterior], axis=1)


def find_facts(
    pairwise: pd.DataFrame, ranking: pd.DataFrame, *, comparison: Mapping[str, Any], alpha: float
) -> dict[str, Any]:
    """How many pairs differ, and what the Bayesian test says of a reference."""
    reference = comparison["reference"] or next(iter(ranking["model"]), "")
    tested = pairwise.dropna(subset="wilcoxon_p_holm")
    decided: dict[str, list[str]] = {relation: [] for relation in BAYESIAN}
    for claim in claim_decisions(pairwise, reference=reference, probability=DECIDED, alpha=alpha):
        decided[claim.relation].append(claim.object)
    most = int(tested["datasets"].max()) if len(tested) else 0
    return {
        "unit": next(iter(ranking["unit"]), "runs"),
        "pairs": len(pairwise),
        "tested": len(tested),
        "found": len(claim_pairs(pairwise, alpha=alpha)),
        "most_datasets": most,
        "is_testable": can_separate(most, pairs=len(tested), alpha=alpha),
        "apart": _count_separated(choose(ranking, unit="runs_and_datasets")),
        "reference": reference,
        "decided": [(relation, models) for relation, models in decided.items() if models],
        "has_intervals": bool(pairwise["ci_low"].notna().any()),
        "probability": DECIDED,
    }


def _count_separated(ranking: pd.DataFrame) -> int:
    """How many pairs of models the ranking over datasets separates; 0 without letters."""
    known = [ties for ties in ranking["tie_group"] if has_letters(ties)]
    return sum(not have_common_letter(*pair) for pair in combinations(known, 2))


ANALYSIS = Analysis(
    question="Which differences are real?",
    position=10,
    default=True,
    tables={
        "pairwise": Table(
            "Every pair of models on the datasets that both have. The corrected p-value allows for "
            "all pairs, for datasets that are alike and for seeds with runs on several datasets.",
            "model_a model_b datasets mean_difference ci_low ci_high wins ties "
            "losses wilcoxon_p wilcoxon_p_holm effect_size p_improvement p_improvement_low "
            f"p_improvement_high {' '.join(POSTERIOR)}",
            formats="csv tex",
        )
    },
    figures={
        "pairwise": Figure(
            "Difference of mean normalized scores, row minus column, on the datasets of both "
            "models.",
            draw="capmap.figures.comparison:draw_comparison_matrix",
        ),
        "pairwise_reference": Figure(
            "Mean difference in normalized score of every model to the reference, with intervals.",
            draw="capmap.figures.comparison:draw_comparison_reference",
        ),
    },
    steps={"compare_models": Step(compare_models, pairs=True)},
    find_facts=find_facts,
    meanings={
        "decision": "Outcome of the Bayesian test of this pair alone.",
        "effect_size": "Matched-pairs rank-biserial correlation, -1 to 1; above 0: a is better.",
        "mean_difference": "Mean difference of normalized scores; above 0: a is better.",
        "wilcoxon_p": "p-value of Wilcoxon's signed-rank test over datasets, of this pair alone.",
    },
)
