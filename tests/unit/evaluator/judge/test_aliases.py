"""Aliases: the judge sees no agent's name, and its words are shown with the names restored."""

import pytest

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


def test_the_judges_words_are_shown_with_names() -> None:
    aliases = Aliases(TEAM, ROSTER)
    assert aliases.show("Agent 2 asked agent 1 and agent 3; agent 9 did not.") == (
        "planner asked A and planner/critic; agent 9 did not."
    )


def test_a_team_without_names_hides_nothing() -> None:
    assert Aliases([]).hide("ann asks bob") == "ann asks bob"
