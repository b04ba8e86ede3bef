"""Aliases: the judge sees no agent's name, and its words are shown with the names restored."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.wire.roster import RosterEntry
from concord_evaluator.judge import Aliases

TEAM = ("A", "planner", "planner/critic")
ROSTER = [
    RosterEntry(id="A", url="https://acme.example/a/", aliases=("http://proxy/a",), agentbeats_id="0199-aa"),
    RosterEntry(id="planner", url="https://acme.example/p"),
]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("planner asks A.", "agent 2 asks agent 1."),
        ("Planner, a word!", "agent 2, a word!"),
        ("PLANNER/critic and critic", "agent 3 and agent 3"),
        ("planners are no planner_2", "planners are no planner_2"),
        ("see https://acme.example/a/ and http://proxy/a", "see agent 1/ and agent 1"),
        ("0199-aa runs at https://acme.example/p/tasks", "agent 1 runs at agent 2/tasks"),
    ],
)
def test_every_name_of_an_agent_is_hidden(text: str, hidden: str) -> None:
    assert Aliases(TEAM, ROSTER).hide(text) == hidden


NAMES = st.text(alphabet="abAB -_1ß.[^\\", min_size=1, max_size=6)


@given(st.dictionaries(NAMES, st.none(), max_size=6), st.lists(NAMES, max_size=12))
def test_the_longest_name_at_a_place_is_hidden_wherever_it_is_a_whole_word(
    names: dict[str, None], parts: list[str]
) -> None:
    distinct = sorted({name.casefold(): name for name in names}.values())
    text = "".join([*parts, *distinct])
    patterns = [
        rf"(?i:{re.escape(name)})" if len(name) >= 3 else re.escape(name)
        for name in sorted(distinct, key=len, reverse=True)
    ]
    expected = text
    if patterns:
        whole = "|".join(rf"(?<!\w){pattern}(?!\w)" for pattern in patterns)
        alias_of = {name.casefold(): f"agent {number}" for number, name in enumerate(distinct, start=1)}
        expected = re.sub(whole, lambda match: alias_of[match[0].casefold()], text)
    assert Aliases(distinct).hide(text) == expected


def test_short_names_that_differ_in_case_are_different_agents() -> None:
    assert Aliases(["B", "b"]).hide("B asks b") == "agent 1 asks agent 2"


def test_a_text_is_searched_once_for_the_names_in_it_however_many_calls_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[str] = []

    def replaced_in(_: object, text: str) -> str:
        searched.append(text)
        return text

    monkeypatch.setattr("concord_evaluator.judge.evidence._Names.replaced_in", replaced_in)
    aliases = Aliases(TEAM)
    for text in ["to all", "to all", "to one"] * 100:
        aliases.hide(text)
    assert searched == ["to all", "to one"]


def test_the_judges_words_are_shown_with_names() -> None:
    aliases = Aliases(TEAM, ROSTER)
    assert aliases.show("Agent 2 asked agent 1 and agent 3; agent 9 did not.") == (
        "planner asked A and planner/critic; agent 9 did not."
    )


def test_a_team_without_names_hides_nothing() -> None:
    assert Aliases([]).hide("ann asks bob") == "ann asks bob"
