"""Figures are legible whatever is in their tables, and the same whatever the order of rows."""

import pytest

from capmap.figures.style import figure_style
from tests.capability_figure_tables import make_capabilities, make_errors
from tests.curve_figure_tables import make_study
from tests.figure_checks import assert_legible, assert_same_bytes, draw_shown, make_tables
from tests.figure_plans import (
    HOSTILE,
    make_checkpoints,
    name,
    plan_checkpoints,
    plan_comparisons,
    plan_curves,
    plan_errors,
    plan_labels,
    plan_main,
    plan_map,
)
from tests.matrix_figure_tables import make_comparisons
from tests.multilabel_tables import make_evaluation

BACKBONES = [f"vision_backbone_of_any_size_{kind:02d}" for kind in range(20)]
VARIANTS = [f"Family-{number // 4} / variant {number % 4}" for number in range(92)]
MODELS = name("m", 9)
# How the tables of a study are made, by what draws them: arguments and options.
STUDIES = {
    (plan_main, make_tables): [
        (MODELS[:5], name("D", 8)),
        (["only"], ["one"]),
        (name("Model", 18), ["only"]),
        (name("some_model", 40), name("some_dataset", 60), {"missing": 0.1}),
        (HOSTILE, HOSTILE[:10], {"missing": 0.1}),
        (MODELS, MODELS, {"missing": 0.5}),
        (MODELS, MODELS, {"low": 0.5, "high": 0.5}),
        (MODELS[:4], MODELS[:4], {"low": 0, "high": 0}),
        (MODELS[:4], MODELS[:4], {"low": -3, "high": -1}),
        (MODELS, MODELS, {"low": -15, "high": 40}),
        (MODELS[:4], MODELS[:4], {"low": -1e9, "high": 1e9}),
        (MODELS[:5], MODELS[:6], {"n_seeds": 1}),
        (MODELS[:3], name("d", 19), {"n_seeds": 100}),
    ],
    (plan_comparisons, make_comparisons): [
        (MODELS[:3], name("d", 8)),
        (BACKBONES, name("d", 19), {"missing": 0.03}),
        (["only"], ["d", "e"]),
        (["b", "a"], ["d"], {"has_intervals": False}),
        (HOSTILE[:13], HOSTILE[:4], {"missing": 0.1}),
        (MODELS[:4], ["d", "e"], {"missing": 0.5}),
        (MODELS[:4], MODELS[:4], {"spread": 0.0}),
    ],
    (plan_curves, make_study): [
        (MODELS[:3],),
        (["only"],),
        (MODELS[:4], {"n_datasets": 1}),
        (BACKBONES,),
        (HOSTILE[:14],),
        (name("m", 60),),
    ],
    (plan_map, make_capabilities): [
        (["a"], ["D"]),
        (name("backbone", 15), VARIANTS[:40]),
        (MODELS, VARIANTS[:9], {"n_parts": 2}),
        (HOSTILE, [*HOSTILE, " / ", "two / parts / more"]),
        ([], ["D"]),
        (name("a model of many", 90), name("set", 100)),
    ],
    (plan_errors, make_errors): [
        ({},),
        ({"methods": ("l2",)},),
        ({"methods": ()},),
    ],
    (plan_labels, make_evaluation): [
        (name("model", 300),),
        (name("model", 40), {"seeds": 12}),
        (MODELS[:3], {"seeds": 2}),
        (MODELS[:1], {"seeds": 1}),
        (HOSTILE[:13],),
    ],
    (plan_checkpoints, make_checkpoints): [
        (["only"], 1, 1),
        (MODELS[:4], 3, 6),
        (HOSTILE[:13], 2, 4),
        (name("m", 25), 2, 3),
    ],
}
CASES = [(*how, given) for how, studies in STUDIES.items() for given in studies]
# Of a size that shows what depends on the order of rows.
SHUFFLED = {
    plan_main: (MODELS, MODELS[:3], {"missing": 0.1}),
    plan_comparisons: (MODELS[:4], MODELS[:2], {"missing": 0.5}),
    plan_curves: (name("m", 11), {"n_datasets": 5}),
    plan_map: (MODELS[:6], VARIANTS[:9]),
    plan_errors: ({"methods": ("l2", "factors")},),
    plan_labels: (name("m", 30),),
    plan_checkpoints: (HOSTILE[:7], 2, 4),
}


def make(tables, given):
    options = given[-1] if isinstance(given[-1], dict) else {}
    return tables(*(one for one in given if one is not options), **options)


@pytest.mark.parametrize(("plan", "tables", "given"), CASES)
def test_no_text_is_cut_off_small_or_overlapping(plan, tables, given):
    for figure in draw_shown(plan(make(tables, given))).values():
        with figure_style():
            assert_legible(figure)


@pytest.mark.parametrize(("plan", "tables"), STUDIES)
def test_bytes_do_not_depend_on_the_order_of_rows(plan, tables, tmp_path):
    made = make(tables, SHUFFLED[plan])
    # The ranking's order is what it says: the headline's rows come first, best first.
    shuffled = {
        key: table if key == "ranking" else table.sample(frac=1, random_state=3)
        for key, table in made.items()
    }
    formats = ("pdf", "svg", "png") if plan is plan_main else ("svg",)
    assert_same_bytes(lambda own: draw_shown(plan(own)), made, shuffled, tmp_path, formats=formats)
