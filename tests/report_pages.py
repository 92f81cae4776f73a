"""Pages of studies, made of tables and figures at hand."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import load_analysis
from capmap.artifacts import write_index, write_json
from capmap.figures.style import save_figure
from capmap.inputs import read_facts
from capmap.inputs.studies import Study
from capmap.pages import contents
from report import report
from tests.steps import INDEPENDENT, make_figure, put
from tests.toy_settings import make_settings

NORMALIZED = ("bounds", "dropped")
PAPER = ["main.tex", "methods.tex", "references.bib"]
FIGURES = ["scores", "intervals", "rank_shift"]
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


def make_tables(models: list[str], datasets: list[str]) -> dict[str, pd.DataFrame]:
    """Make the tables that every study has."""
    rng = np.random.default_rng(0)
    scopes = make_ranking(model=models)
    others = [scopes.assign(statistic=name) for name in ("mean", "trimmed_mean", "median")]
    values = rng.random((len(models), len(datasets)))
    cells = pd.MultiIndex.from_product([models[:200], datasets], names=["model", "dataset"])
    return {
        "ranking": pd.concat(
            [scopes, scopes.assign(unit="runs_and_datasets"), *others], ignore_index=True
        ),
        "dependence": INDEPENDENT.assign(datasets=len(datasets)),
        "scores": pd.DataFrame(values, columns=datasets).assign(model=models)[["model", *datasets]],
        "seeds": cells.to_frame(index=False).assign(n=3, mean=rng.random(len(cells)), std=0.1),
        "changes": pd.DataFrame(
            [["rank", models[0], 2, 1], ["run", f"{models[0]} on D", 0.5, 0.8]],
            columns=["kind", "name", "before", "after"],
            dtype="object",
        ),
        "bounds": pd.DataFrame(
            {
                "dataset": datasets,
                "metric": "accuracy",
                "direction": "max",
                "low": 0.0,
                "high": 1.0,
                "low_origin": "natural",
                "high_origin": "natural",
            }
        ),
        "dropped": pd.DataFrame(
            [["model", models[-1], "no runs"]], columns=["kind", "name", "reason"]
        ),
    }


def make_validation(name: str = "D1") -> dict[str, Any]:
    """Make an account of exports in which one row was rejected."""
    problem = {
        "severity": "warning",
        "code": "one_seed",
        "source": "data/x.csv",
        "line": 0,
        "column": "",
        "value": name,
        "reason": f"{name} has one run.",
        "remedy": "Add runs.",
    }
    kinds = [*contents.ROWS, "files", "models", "datasets", "metrics", "cells", "cells_empty"]
    return {
        "files": [{"path": "data/x.csv", "sha256": "0" * 64, "bytes": 7, "rows": 12}],
        "counts": dict.fromkeys(kinds, 1),
        "seeds_per_cell": {"min": 1, "median": 3.0, "max": 5},
        "rejected": {"not_a_number": 2},
        "warnings": [problem],
        "conversions": {},
    }


def write_study(
    folder: Path,
    models: list[str],
    datasets: list[str],
    *,
    title: str = "A study",
    figure: bytes = SVG,
    nothing: Collection[str] = (),
    figures: Mapping[str, bytes] | None = None,
    tables: dict[str, pd.DataFrame] | None = None,
) -> str:
    """Write the page of a study whose figures are all alike, but for some, and give its text."""
    tables = tables or make_tables(models, datasets)
    places = {"changes": "changes", **{name: f"normalized/{name}" for name in NORMALIZED}}
    for name, table in tables.items():
        put(table, folder / f"{places.get(name, f'tables/{name}')}.csv")
    put(
        pd.DataFrame(columns=["model", "dataset", "seed", "score"], dtype="str").astype(
            {"score": float}
        ),
        folder / "runs.parquet",
    )
    (folder / "comparisons").mkdir(exist_ok=True)
    write_index(folder / "comparisons")
    (folder / "figures").mkdir(exist_ok=True)
    for name in {*FIGURES} - {*nothing}:
        (folder / f"figures/{name}.svg").write_bytes((figures or {}).get(name, figure))
    write_index(folder / "figures", dict.fromkeys(nothing, "Nothing."))
    write_json(folder / "validation.json", make_validation(datasets[0]))
    return run_report(folder, title=title, analyses=[])


def run_report(folder: Path, **settings: Any) -> str:
    """Run the script on the files of a study; the text of its page."""
    texts = ("headline.txt", "words.json", "claims.csv", "changes.csv", "previous/runs.parquet")
    checked = make_settings(**settings)
    report(
        study="study",
        settings=checked,
        options=read_facts(Study("study", checked)),
        main=[str(folder / f"tables/{name}.csv") for name in load_analysis("main").tables],
        **{name: str(folder / f"normalized/{name}.csv") for name in NORMALIZED},
        **{name: str(folder / name) for name in ("comparisons", "figures")},
        runs=str(folder / "runs.parquet"),
        validation=str(folder / "validation.json"),
        report=str(folder / "report.html"),
        **{Path(name).parts[0].partition(".")[0]: str(folder / name) for name in texts},
        paper=[str(folder / f"paper/{name}") for name in PAPER],
        version="1.2.3",
    )
    return (folder / "report.html").read_text()


def _draw_points(models: list[str], datasets: list[str]) -> pd.DataFrame:
    """Make a map on which each model is nearest to those beside it in the list."""
    names = [*models, *datasets]
    kinds = ["model"] * len(models) + ["dataset"] * len(datasets)
    turn = np.arange(len(names)) / len(names) * 5
    places = pd.DataFrame({"kind": kinds, "name": names, "x": turn * np.cos(turn)})
    return places.assign(y=turn * np.sin(turn), kept=5, component=1)


def draw_study(folder: Path, models: list[str], datasets: list[str]) -> Path:
    """Make the page of a study; in the place of rank shifts stands a map."""
    tables = make_tables(models, datasets)
    drawn = {
        "intervals": make_figure("intervals", tables["ranking"]),
        "scores": make_figure("scores", tables["scores"], order=models),
        "rank_shift": make_figure("capability_map", _draw_points(models, datasets)),
    }
    for name, figure in drawn.items():
        save_figure(figure, [folder / f"drawn/{name}.svg"])
    figures = {name: (folder / f"drawn/{name}.svg").read_bytes() for name in drawn}
    write_study(folder, models, datasets, tables=tables, figures=figures)
    return folder / "report.html"


def make_ranking(**columns: list[Any]) -> pd.DataFrame:
    """Make a ranking of models that can all be separated, with some columns as given."""
    n = len(columns["model"])
    table = pd.DataFrame(
        {
            "group": "",
            "unit": "runs",
            "statistic": "iqm",
            "score": np.linspace(0.8, 0.4, n),
            "ci_low": np.linspace(0.79, 0.39, n),
            "ci_high": np.linspace(0.81, 0.41, n),
            "rank": range(1, n + 1),
            "rank_low": range(1, n + 1),
            "rank_high": range(1, n + 1),
            "rank_low_all": range(1, n + 1),
            "rank_high_all": range(1, n + 1),
            "behind": np.linspace(0.0, 0.4, n),
            "behind_low": np.linspace(-0.01, 0.39, n),
            "behind_high": np.linspace(0.01, 0.41, n),
            "runs": [6] * n,
            "datasets": [2] * n,
            "filled": 0,
            "tie_group": [chr(97 + i % 26) for i in range(n)],
            **columns,
        }
    )
    if "missing" not in columns:
        known = table["datasets"] + table["filled"]
        table["missing"] = known.max() - known
    return table[["model", *table.columns.drop("model")]]
