"""The papers of others, run from copies: how many of their printed numbers come out."""

import shutil
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.workflow.checkouts import PROJECT, copy_project

SHARED = PROJECT.parent / "shared"
# Of the numbers of each study: equal, near, different, not computed. docs/papers.md says why.
COUNTS = {
    "evaluma_tutorial": {
        "toy": (12, 0, 0, 0),
        "toy_raw": (3, 0, 0, 0),
        "benchmark": (70, 0, 0, 0),
        "seeded": (21, 4, 0, 0),
        "geobench_as_published": (70, 0, 0, 0),
        # It reads a dataset as it is meant, which moves every mean.
        "geobench": (21, 0, 35, 0),
    },
    "geobench2_leaderboard": {
        "base": (978, 308, 0, 0),
        "frozen": (450, 140, 0, 0),
        "sar": (171, 54, 0, 0),
    },
    # A misprint differs; of Tables 1 and 2 the labels of one dataset are public.
    "imagenet_multilabel": {"imagenet_multilabel": (30, 330, 1, 31)},
}


def lay_downloads(downloads: dict[str, dict[str, str]], folder: Path) -> list[str]:
    """Lay out the downloads of a paper that lie beside the checkout, known by their digests.

    Those that do not are listed.
    """
    known = {sha256(path.read_bytes()).hexdigest(): path for path in SHARED.glob("data/**/*.*")}
    missing = []
    for name, file in downloads.items():
        if file["sha256"] in known:
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(known[file["sha256"]], place)
        else:
            missing.append(name)
    return missing


needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the published data lie beside the checkout"
)


@needs_shared
@pytest.mark.parametrize("paper", COUNTS)
def test_published_numbers_come_out(paper: str, tmp_path: Path) -> None:
    checkout = copy_project(tmp_path / "project")
    config = yaml.safe_load((PROJECT / f"papers/{paper}.yaml").read_text("utf-8"))
    missing = lay_downloads(config.get("downloads", {}), checkout.folder / "downloads")
    absent = [f"downloads/{Path(name).parent}" for name in missing]
    texts = {name: str(study) for name, study in config["studies"].items()}
    studies = [name for name in COUNTS[paper] if not any(map(texts[name].count, absent))]
    targets = [f"results/{study}/tables/published.csv" for study in studies]
    options = ["--config", f"run={studies}"]
    run = checkout.snakemake(*targets, "--configfile", f"papers/{paper}.yaml", *options)
    assert run.status == 0, run.output
    found = {}
    for study, target in zip(studies, targets, strict=True):
        table = pd.read_csv(checkout.folder / target)
        counts = table[["equal", "near", "different", "not_computed"]]
        assert (counts.sum(axis=1) == table["cells"]).all()
        # What differs or is not computed is explained.
        assert table.loc[(table["different"] + table["not_computed"]) > 0, "note"].notna().all()
        found[study] = tuple(counts.sum())
    assert found == {study: COUNTS[paper][study] for study in studies}


@needs_shared
def test_the_literature_database_is_reduced_as_printed(tmp_path: Path) -> None:
    # With few fits, which is enough for the counts; docs/papers.md has what all of them give.
    checkout = copy_project(tmp_path / "project")
    config = yaml.safe_load((PROJECT / "papers/capabilities_encoding.yaml").read_text("utf-8"))
    assert not lay_downloads(config["downloads"], checkout.folder / "downloads")
    few = {"splits": 2, "dimensions": [5]}
    config["studies"]["as_published"]["capabilities"] |= few
    config |= {"run": "as_published"}
    (checkout.folder / "few.yaml").write_text(yaml.safe_dump(config))
    folder = "results/as_published/tables"
    run = checkout.snakemake(f"{folder}/published.csv", "--configfile", "few.yaml")
    assert run.status == 0, run.output
    table = pd.read_csv(checkout.folder / folder / "published.csv", index_col="published")
    sizes = table[table.index.str.endswith("of the reduced database")]
    assert sizes["equal"].tolist() == [1, 1, 1]
    claims = pd.read_csv(checkout.folder / folder / "published_claims.csv")
    of_groups = claims[claims["beside"] == "capabilities/groups"].sort_values("claim")
    assert of_groups["verdict"].tolist() == ["open", "open", "fails", "holds", "open", "holds"]
    # Statements on what was not fitted stay open.
    assert claims.loc[claims["estimate"].isna(), "verdict"].eq("open").all()
    assert claims["estimate"].notna().any()
