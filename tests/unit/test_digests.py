"""Exports that the configuration pins by their SHA-256."""

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.errors import ConfigError
from capmap.exports.files import check_digests

# FIPS 180-4: the SHA-256 of the three bytes "abc".
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.fixture
def abc(tmp_path: Path) -> str:
    file = tmp_path / "abc.csv"
    file.write_bytes(b"abc")
    return str(file)


def test_the_pinned_file_passes_whatever_the_case_of_its_digest(abc):
    assert check_digests([abc], {abc: ABC}) == []
    assert check_digests([abc], {abc: ABC.upper()}) == []


def test_another_file_is_a_fault_with_its_name_and_both_digests(abc):
    Path(abc).write_bytes(b"abd")
    (problem,) = check_digests([abc], {abc: ABC})
    assert (problem.code, problem.severity, problem.source) == ("checksum", "error", abc)
    assert ABC in problem.reason
    assert sha256(b"abd").hexdigest() in problem.reason


def test_every_changed_file_is_named_in_the_order_of_the_files(tmp_path):
    paths = [str(tmp_path / name) for name in ("b.csv", "a.csv", "c.csv")]
    for path in paths:
        Path(path).write_bytes(b"x")
    problems = check_digests(paths, dict.fromkeys([paths[1], paths[0]], ABC))
    assert [problem.source for problem in problems] == paths[:2]


def test_files_without_a_digest_are_not_even_opened(tmp_path, abc):
    assert check_digests([str(tmp_path / "absent.csv"), abc], {abc: ABC}) == []


def test_a_download_goes_by_its_url(abc):
    url = "https://example.org/abc.csv"
    assert check_digests([abc], {url: ABC}, names=[url]) == []
    (problem,) = check_digests([abc], {url: "0" * 64}, names=[url])
    assert problem.source == url


def test_unknown_names_and_malformed_digests_are_all_in_one_message(abc):
    with pytest.raises(ConfigError) as fault:
        check_digests([abc], {"abc.cs": ABC, "abc.csv": ABC[:-1]}, names=["abc.csv"])
    text = str(fault.value)
    assert "'abc.cs' is no export" in text
    assert "Did you mean 'abc.csv'?" in text
    assert "is no SHA-256" in text


def test_a_name_like_no_other_gets_the_list_of_exports(abc):
    with pytest.raises(ConfigError, match="There are: "):
        check_digests([abc], {"?": ABC})


@given(content=st.binary(max_size=200), place=st.integers(0, 199), bit=st.integers(0, 7))
def test_one_flipped_bit_anywhere_is_found(tmp_path_factory, content, place, bit):
    content = content or b"\0"
    file = tmp_path_factory.mktemp("bits") / "file"
    pinned = {str(file): sha256(content).hexdigest()}
    file.write_bytes(content)
    assert check_digests([str(file)], pinned) == []
    flipped = bytearray(content)
    flipped[place % len(content)] ^= 1 << bit
    file.write_bytes(flipped)
    assert len(check_digests([str(file)], pinned)) == 1
