"""The exchange by calls: who may call whom, the texts, and the decision from agent cards."""

import pytest

from concord.a2a import CardSummary
from concord.assessment import TaskSpec
from concord.assessment.task_spec import Exchange
from concord.suite import Draw, Topology, neighbours_in
from concord.wire.assignment import CALLS_URI, SUPPORTED_URIS
from concord_gateway.calls import brief_text, question_text
from concord_gateway.plan import decided_exchange, with_exchange
from concord_suites.pool.maximum import Maximum
from tests.kit.players.calls import channel_of

TEAM = [f"agent/{number}" for number in range(1, 5)]
TASK = Maximum().generate(bytes(32), neighbours_in(Topology.CHAIN, TEAM, Draw(b"chain")), 1)


def card(*extensions: str) -> CardSummary:
    """A card that announces these extensions."""
    return CardSummary(name="agent", interfaces=(), skill_ids=(), streaming=True, extensions=extensions)


class TestAuto:
    """`auto` is calls only where every participant says that it calls, and the gateway can see it."""

    def test_all_cards_must_announce_calls(self) -> None:
        calls, other = card(*SUPPORTED_URIS, CALLS_URI), card(*SUPPORTED_URIS)
        assert decided_exchange({"a": calls, "b": calls}, observed=True) is Exchange.CALLS
        assert decided_exchange({"a": calls, "b": other}, observed=True) is Exchange.ROUNDS
        assert decided_exchange({"a": calls, "b": None}, observed=True) is Exchange.ROUNDS
        assert decided_exchange({}, observed=True) is Exchange.ROUNDS

    def test_calls_that_nobody_observes_are_never_chosen(self) -> None:
        assert decided_exchange({"a": card(CALLS_URI)}, observed=False) is Exchange.ROUNDS

    def test_a_task_that_states_its_exchange_keeps_it(self) -> None:
        stated = TaskSpec.model_validate({"id": "t", "family": {"name": "maximum", "exchange": "rounds"}})
        left_open = TaskSpec.model_validate({"id": "t", "family": {"name": "maximum"}})
        for task, exchange in ((stated, Exchange.ROUNDS), (left_open, Exchange.CALLS)):
            decided = with_exchange(task, Exchange.CALLS).family
            assert decided is not None
            assert decided.exchange is exchange


class TestChannel:
    """Calls go along edges alone."""

    def test_edges_and_nothing_else(self) -> None:
        channel = channel_of(TASK)
        for caller in TEAM:
            for callee in TEAM:
                is_edge = callee in TASK.neighbours[caller]
                assert (channel.refusal(caller, callee) is None) is is_edge
        assert channel.refusal("agent/9", TEAM[0]) is not None
        assert channel.refusal(TEAM[0], "agent/9") == "nobody is called 'agent/9'"

    @pytest.mark.parametrize(
        ("callee", "rest", "addressed"),
        [
            ("agent", "2/", ("agent/2", "")),
            ("agent", "2/1/", ("agent/2", "1/")),
            ("agent", "2/.well-known/agent-card.json", ("agent/2", ".well-known/agent-card.json")),
            ("agent", "9/", ("agent", "9/")),
            ("agent/2", "1/", ("agent/2", "1/")),
        ],
    )
    def test_a_path_names_a_seat(self, callee: str, rest: str, addressed: tuple[str, str]) -> None:
        assert channel_of(TASK).addressed(callee, rest) == addressed


class TestTexts:
    """A seat gets its own brief and its neighbours' addresses; the question says who must answer."""

    def test_a_brief_holds_what_is_the_seats_own_and_no_question(self) -> None:
        for seat in TEAM:
            addresses = {other: f"http://gateway/a2a/{seat}/{other}/" for other in TASK.neighbours[seat]}
            text = brief_text(TASK, seat, addresses)
            assert TASK.briefs[seat] in text
            assert TASK.question not in text
            assert [other for other in TEAM if f"{other}: http" in text] == list(TASK.neighbours[seat])
            assert not any(TASK.briefs[other] in text for other in TEAM if other != seat)

    def test_the_question_says_who_must_answer(self) -> None:
        [answerer] = TASK.answerers
        for seat in TEAM:
            text = question_text(TASK, seat)
            assert TASK.question in text
            assert ("You have to answer." in text) is (seat == answerer)
