"""What is claimed of models: rows follow from tables, and sentences from rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap import claims
from capmap.analyses import main
from tests.steps import INDEPENDENT
from tests.toy_scores import rank_estimates
from tests.toy_settings import make_settings


def make_scope(estimates: list[float], *, error: float, unit: str = "runs") -> pd.DataFrame:
    """A ranking of models "a", "b", … with equal standard errors."""
    n = len(estimates)
    ranked = rank_estimates(list("abcdefgh"[:n]), estimates, [error] * n, freedom=30.0)
    about = {"ci_low": -1.0, "ci_high": 1.0}
    return ranked.rename(columns={"estimate": "score"}).assign(
        unit=unit, statistic="iqm", datasets=5, filled=0, missing=0, runs=15, **about
    )


@settings(max_examples=12)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=8),
    st.sampled_from([0.01, 0.3, 1.0, 5.0]),
)
def test_sentence_letters_and_claims_agree(numbers: list[int], error: float) -> None:
    scope = make_scope([float(number) for number in numbers], error=error)
    found = claims.claim_ranking(scope, unit="runs", confidence_level=0.95)
    facts = main.find_facts(scope.assign(group=""), INDEPENDENT)
    best = [claim.subject for claim in found if claim.relation == "is best"]
    assert len(best) <= 1
    assert [own["best"] for own in facts["rankings"]] == (best or [""])
    letters = scope.set_index("model")["tie_group"]
    first = scope["rank"] == 1
    for claim in found:
        if claim.relation == "is separated from":
            assert set(letters[claim.subject]).isdisjoint(letters[claim.object])
            assert claim.object not in claims.find_rivals(scope)
    if best:
        assert claims.find_rivals(scope) == []
        assert first.sum() == 1
        # The best is claimed to be better than every other one.
        assert {c.object for c in found if c.relation == "is separated from"} == set(
            scope.loc[~first, "model"]
        )


def test_nobody_is_best_that_is_not_separated_or_has_more_datasets() -> None:
    scope = make_scope([3.0, 2.0, 1.0], error=0.01)
    relations = [claim.relation for claim in claims.claim_ranking(scope)]
    assert relations == ["is best", "is separated from", "is separated from"]
    fewer = scope.assign(datasets=[4, 5, 5])
    assert "is best" not in [claim.relation for claim in claims.claim_ranking(fewer)]
    without = scope.assign(ci_low=[-1.0, -1.0, np.nan])
    assert "is best" not in [claim.relation for claim in claims.claim_ranking(without)]
    (alone,) = claims.claim_ranking(make_scope([1.0], error=0.1))
    assert alone.relation == "may be best"
    assert claims.claim_ranking(make_scope([1.0, 2.0], error=np.nan)) == []


def test_models_without_a_rank_are_not_compared() -> None:
    scope = make_scope([3.0, 2.0, 1.0], error=0.01)
    ranked = scope.assign(rank=pd.array([1, 2, pd.NA], dtype="Int64"))
    names = {claim.subject for claim in claims.claim_ranking(ranked)}
    names |= {claim.object for claim in claims.claim_ranking(ranked)}
    assert names == {"a", "b", ""}
    assert claims.claim_ranking(ranked.iloc[2:]) == []


@pytest.mark.parametrize("relation", sorted({*claims.BAYESIAN, "differs from"}))
def test_bayesian_verdicts_need_probability_and_wilcoxon(relation: str) -> None:
    which = {
        "is better than": ("a better", "p_a_better"),
        "is worse than": ("b better", "p_b_better"),
        "is practically equivalent to": ("equivalent", "p_equivalent"),
    }
    decision, chance = which.get(relation, ("undecided", "p_equivalent"))
    sure = {"p_a_better": 0.0, "p_equivalent": 0.0, "p_b_better": 0.0, chance: 1.0}
    for p, datasets, pairs in ((0.01, 6, [relation]), (0.2, 6, []), (0.01, 5, [relation])):
        row = {"model_a": "A", "model_b": "B", "wilcoxon_p_holm": p, "datasets": datasets}
        pairwise = pd.DataFrame([{**row, "decision": decision, **sure}])
        found = claims.claim_decisions(pairwise, reference="A", probability=0.95, alpha=0.05)
        if relation == "differs from":
            found = claims.claim_pairs(pairwise, alpha=0.05)
        # On five datasets no test could have separated them, so nothing says they are equivalent.
        expected = [relation] * (datasets > 5) if "equivalent" in relation else pairs
        assert [claim.relation for claim in found] == expected


def test_groups_and_leaderboards_are_rankings_of_their_own() -> None:
    scopes = make_scope([3.0, 2.0, 1.0], error=0.01)
    own = make_scope([3.0, 2.0], error=0.01)
    board = own.assign(method="", dimension="All", submission="s")
    ranking = pd.concat([scopes.assign(group=""), own.assign(group="g"), own.assign(group="h")])
    tables = {"ranking": ranking, "leaderboard/dimensions": board}
    table = claims.list_claims(tables, make_settings()).set_index("section")
    assert table.loc["groups", "family"].tolist() == [
        "pairs of 2 models, g",
        "pairs of 2 models, h",
    ]
    assert table.loc["leaderboard", "family"] == "pairs of 2 models, All"
