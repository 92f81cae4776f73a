"""What was made from the same is put back, and nothing else is."""

import os
from pathlib import Path

import pandas as pd
import pytest

from capmap import artifacts
from capmap.errors import CapmapError
from capmap.freshness import KEPT, Keeper, digest_origin
from capmap.rng import make_stream


class Results:
    """A result in two files of a study's folder, and the keeper of the study."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = [str(folder / name) for name in ("tables/elo.csv", "text/ratings.txt")]
        self.keeper = Keeper(folder)

    def write(self, content: str) -> None:
        """Write the files anew, as jobs do: another file takes the place."""
        for file in map(Path, self.files):
            file.parent.mkdir(exist_ok=True)
            file.unlink(missing_ok=True)
            file.write_text(content)

    def read(self) -> list[str]:
        """What the files hold."""
        return [Path(file).read_text() for file in self.files]

    def restore(self, origin: str = "origin") -> bool:
        """Put the result back, if it was made from the same."""
        return self.keeper.restore("elo", origin, self.files)


@pytest.fixture(params=["links", "copies"])
def results(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Results:
    def refuse(*_: object) -> None:
        raise OSError("no hard links here")

    if request.param == "copies":
        monkeypatch.setattr(os, "link", refuse)
    results = Results(tmp_path)
    results.write("made")
    results.keeper.keep("elo", "origin", results.files)
    return results


def test_what_was_made_from_the_same_comes_back_though_it_was_deleted(results: Results) -> None:
    for file in results.files:
        Path(file).unlink()
    assert results.restore()
    assert results.read() == ["made", "made"]
    # A new keeper, as that of the next job, knows the same.
    results.write("else")
    results.keeper = Keeper(results.folder)
    assert results.restore()
    assert results.read() == ["made", "made"]


def test_what_was_made_from_something_else_does_not_come_back(results: Results) -> None:
    results.write("else")
    assert not results.restore("other origin")
    assert not results.keeper.restore("winrate", "origin", results.files)
    assert not results.keeper.restore("elo", "origin", results.files[:1])
    assert not results.keeper.restore(
        "elo", "origin", [*results.files, str(results.folder / "tables/winrate.csv")]
    )
    assert results.read() == ["else", "else"]


@pytest.mark.parametrize("name", ["tables/elo.csv", "made_from.json"])
@pytest.mark.parametrize("content", ["altered", None])
def test_what_was_altered_does_not_come_back(
    results: Results, name: str, content: str | None
) -> None:
    kept = results.folder / KEPT / "elo" / name
    kept.unlink()
    if content:
        kept.write_text(content)
    results.write("else")
    assert not results.restore()
    assert results.read() == ["else", "else"]


def test_the_last_result_is_kept_and_others_are_left(results: Results) -> None:
    results.keeper.keep("winrate", "origin", results.files[:1])
    results.write("newer")
    results.keeper.keep("elo", "newer origin", results.files[1:])
    assert not results.restore()
    assert results.keeper.restore("elo", "newer origin", results.files[1:])
    assert results.keeper.restore("winrate", "origin", results.files[:1])
    assert results.read() == ["made", "newer"]


def test_links_take_no_space(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.write("made")
    results.keeper.keep("elo", "origin", results.files)
    assert Path(results.files[0]).samefile(tmp_path / KEPT / "elo/tables/elo.csv")


def test_an_origin_is_code_options_and_bytes_and_no_time(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_text(path.name)
    reads = {"runs": [str(path) for path in paths], "iqm": str(paths[0])}
    origin = digest_origin("code", {"seed": 0, "groups": {"g": ["x"]}}, reads)
    for path in paths:
        os.utime(path, (0, 0))
    same = digest_origin("code", {"groups": {"g": ["x"]}, "seed": 0}, dict(reversed(reads.items())))
    assert same == origin
    options = {"seed": 0, "groups": {"g": ["x"]}}
    others = [
        digest_origin("other code", options, reads),
        digest_origin("code", options | {"seed": 1}, reads),
        digest_origin("code", options | {"groups": {"g": ["y"]}}, reads),
        digest_origin("code", options, reads | {"runs": reads["runs"][::-1]}),
        digest_origin("code", options, reads | {"runs": reads["runs"][:1]}),
        digest_origin("code", options, reads | {"iqm": str(paths[1])}),
    ]
    paths[1].write_text("c")
    others.append(digest_origin("code", options, reads))
    assert len({origin, *others}) == 1 + len(others)


def test_no_flipped_bit_of_a_kept_table_is_read_as_other_data(tmp_path):
    draw = make_stream(0, "test", "bits")
    table = pd.DataFrame({"model": ["A", "B"] * 500, "score": draw.random(1000)})
    content = artifacts.render_parquet(table)
    # The footer, with the names of columns, has no checksum: its digest stands in .digests/.
    footer = 8 + int.from_bytes(content[-8:-4], "little")
    for place in draw.integers(0, 8 * (len(content) - footer), 300).tolist():
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        (tmp_path / "a.parquet").write_bytes(flipped)
        try:
            read = artifacts.read_parquet(tmp_path / "a.parquet")
        except CapmapError:
            continue
        pd.testing.assert_frame_equal(read, table)
