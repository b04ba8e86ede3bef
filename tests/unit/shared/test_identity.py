"""Identity: every address of a participant resolves to its id, and a stranger's address to itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.wire.roster import Roster, RosterEntry, normalise_url

ROSTER = Roster(
    [
        RosterEntry(id="writer", url="http://Writer:80/a2a/", aliases=("http://10.0.0.7:9009", "The Writer")),
        RosterEntry(id="reader", url="https://reader/"),
    ]
)


@pytest.mark.parametrize(
    ("spelt", "normal"),
    [
        ("HTTP://Host:80/", "http://host"),
        ("https://host:443/a/b/", "https://host/a/b"),
        ("http://host:9009", "http://host:9009"),
        ("http://user:secret@host/a?token=x#y", "http://host/a"),
        ("http://[::1]:9009/", "http://[::1]:9009"),
        ("researcher_2", "researcher_2"),
        ("http://host:notaport/", "http://host:notaport"),
        (" http://host/a /?token=x", "http://host/a"),
        ("The Writer /", "The Writer"),
    ],
)
def test_equivalent_urls_have_one_normal_form(spelt: str, normal: str) -> None:
    assert normalise_url(spelt) == normal


@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from([*"/:@?# \r\t%;.", "http://", "HTTPS://", "Host", "[::1]", "80"]), max_size=12).map(
        "".join
    )
)
def test_normalisation_is_idempotent(text: str) -> None:
    assert normalise_url(normalise_url(text)) == normalise_url(text)


@pytest.mark.parametrize("address", ["http://writer/a2a", "http://10.0.0.7:9009/", "The Writer", "writer"])
def test_url_alias_and_id_all_resolve_to_the_id(address: str) -> None:
    assert ROSTER.resolve(address) == "writer"


def test_a_name_counts_only_without_a_url() -> None:
    assert ROSTER.resolve("", "reader") == "reader"
    assert ROSTER.resolve("http://elsewhere/", "reader") == "url:http://elsewhere"


def test_an_undeclared_agent_is_its_name_or_unknown() -> None:
    assert ROSTER.resolve("", "ghost") == "ghost"
    assert ROSTER.resolve("") == "unknown"


def test_a_roster_is_a_container_of_its_entries() -> None:
    assert [entry.id for entry in ROSTER] == ["writer", "reader"]
    assert "writer" in ROSTER
    assert "ghost" not in ROSTER
    assert len(ROSTER) == 2
