"""What is shown and kept of addresses that may hold secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap import addresses
from capmap.addresses import hide, hide_everywhere, hide_in_text, keep_secrets, reveal

SECRETS = st.text("ABCXYZabcxyz0189-_.~%+", min_size=1).map("SECRET{}".format)
PAIRS = st.lists(st.tuples(st.sampled_from(["token", "id", "X-Amz-Date", "a+b", ""]), SECRETS))
PARTS = st.fixed_dictionaries(
    {
        "scheme": st.sampled_from(["http", "https", "s3", "postgresql+psycopg2"]),
        "user": st.one_of(st.just(""), SECRETS.map("{}@".format), SECRETS.map("u:{}@".format)),
        "pairs": PAIRS,
        "fragment": st.one_of(st.just(""), SECRETS.map("#{}".format)),
    }
)


def write(parts: dict) -> str:
    query = "&".join(f"{name}={value}" if name else value for name, value in parts["pairs"])
    where = f"{parts['scheme']}://{parts['user']}example.org:81/a/b.csv"
    return f"{where}{query and '?'}{query}{parts['fragment']}"


@given(PARTS)
def test_user_query_and_fragment_are_hidden_wherever_an_address_stands(parts):
    address = write(parts)
    hidden = hide(address)
    assert "SECRET" not in hidden
    assert hidden.startswith(f"{parts['scheme']}://example.org:81/a/b.csv")
    assert hide(hidden) == hidden
    assert hide_in_text(f"see {address}") == f"see {hidden}"
    assert hide_everywhere({address: [{"a": address}]}) == {hidden: [{"a": hidden}]}


def test_files_stay_apart_and_signatures_do_not_make_files():
    whole = "https://h/a.csv"
    assert len({hide(f"{whole}{query}") for query in ("", "?id=1", "?id=2", "?1", "?v=1")}) == 5
    signed = [f"{whole}?id=1&X-Amz-Date={day}&X-Amz-Signature={day}&sig={day}" for day in "12"]
    assert hide(signed[0]) == hide(signed[1]) == hide(f"{whole}?id=1")


@pytest.mark.parametrize("text", ["runs/a?b.csv", "C:/x#y", "http://[bad/a?token=T", "a://"])
def test_what_is_no_address_stays_and_what_is_damaged_says_nothing(text):
    assert hide(text) in (text, "http://…")


@pytest.mark.parametrize(
    "address",
    [
        *(f"http://user:SECRET{mark}x@example.org/a.csv" for mark in "#?/"),
        "http://SECRET#x@example.org/a.csv",
        "http://user:123#SECRET@example.org:81/a.csv",
        "https:/user:SECRET@example.org/a.csv",
        "https//user:SECRET@example.org/a.csv",
        "s3:/bucket/a.csv?token=SECRET",
    ],
)
def test_addresses_with_mistakes_keep_their_secrets(address):
    assert "SECRET" not in hide(address)
    assert hide(hide(address)) == hide(address)
    assert "SECRET" not in hide_in_text(f"no file matches {address!r}")


@pytest.mark.parametrize(
    "address", ["http://localhost:5000/pkg@1.0/a.csv", "C:/runs/a?@.csv", "//disk/a?.csv"]
)
def test_what_only_looks_like_a_secret_stays(address):
    assert hide(address) == hide_in_text(address) == address


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_known", {})


@pytest.mark.usefixtures("clean")
def test_studies_keep_no_secret_and_their_addresses_come_back():
    export = "https://u:p@h/a.csv?token=T"
    study = {
        "title": "https://h/?page=2",
        "exports": [export, "b.csv"],
        "checksums": {export: "0"},
        "normalization": {"references": export, "bounds": "natural"},
    }
    kept = keep_secrets({"run": "all", "studies": {"s": study}})["studies"]["s"]
    hidden = "https://h/a.csv?…"
    assert kept == {
        "title": "https://h/?page=2",
        "exports": [hidden, "b.csv"],
        "checksums": {hidden: "0"},
        "normalization": {"references": hidden, "bounds": "natural"},
    }
    assert (reveal(hidden), reveal("b.csv")) == (export, "b.csv")
