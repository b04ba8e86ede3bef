"""Acts: what agents said and did, in order, each step once, from reports and from the actions of an assistant."""

from datetime import UTC, datetime, timedelta

from concord.trace.effects import EffectKind
from concord.wire.roster import Roster, RosterEntry
from concord_assistant.results import ActionLogEntry
from concord_evaluator.formats import TraceBuilder
from concord_evaluator.formats.trace import Origin
from concord_evaluator.observations import Act, Deed, acts_of, acts_of_actions, observe
from concord_evaluator.observations.acts import MAX_TOTAL

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
ROSTER = Roster([RosterEntry(id=name, url=f"trace://{name}") for name in "AB"])


def builder() -> TraceBuilder:
    return TraceBuilder("t", Origin("f"))


def acts_in(made: TraceBuilder) -> list[Act]:
    return acts_of(made.build().reports(), ROSTER)


def test_acts_are_in_the_order_of_their_times_and_those_without_one_come_last() -> None:
    made = builder()
    made.add_work("0", "A", error="x")
    made.add_message("2", "A", "B", "second", sent_at=NOW + timedelta(seconds=1))
    made.add_message("3", "B", "A", "first", sent_at=NOW)
    assert [(each.step_id, each.text) for each in acts_in(made)] == [("3", "first"), ("2", "second"), ("0", "")]


def test_an_answer_is_an_act_of_the_callee() -> None:
    made = builder()
    made.add_message("1", "A", "B", "How many?", attributes={"response_text": "Three."}, sent_at=NOW)
    assert [(each.agent, each.deed, each.to, each.text) for each in acts_in(made)] == [
        ("A", Deed.MESSAGE, "B", "How many?"),
        ("B", Deed.ANSWER, "A", "Three."),
    ]


def test_a_step_that_several_reported_is_one_act() -> None:
    made = builder()
    for _ in range(2):
        made.add_message("1", "A", "B", "Hello", sent_at=NOW)
    assert len(acts_in(made)) == 1


def test_texts_are_read_up_to_a_limit_for_the_whole_trace() -> None:
    made = builder()
    for number in range(MAX_TOTAL // 8000 + 10):
        made.add_message(f"{number:05}", "A", "B", "x" * 8000)
    acts = acts_in(made)
    assert sum(len(each.text) for each in acts) <= MAX_TOTAL
    assert len(acts) == MAX_TOTAL // 8000 + 10


def entry(action: str, *, error: str | None = None, **parameters: str) -> ActionLogEntry:
    return ActionLogEntry(
        turn=1, timestamp=NOW, action=action, parameters=parameters, success=error is None, error_message=error
    )


def test_actions_of_an_assistant_are_uses_of_tools_with_effects() -> None:
    sent, moved, refused = acts_of_actions("A", [
        entry("email.send", to="b"), entry("calendar.update", id="1"), entry("sms.send", error="no such number"),
    ])  # fmt: skip
    assert sent.effect is not None
    assert moved.effect is not None
    assert (sent.effect.kind, moved.effect.kind) == (EffectKind.DELIVERED, EffectKind.EDITED)
    assert (refused.effect, refused.error, refused.to) == (None, "no such number", "sms.send")


def test_an_email_that_is_sent_twice_and_an_action_that_stayed_refused_are_observed() -> None:
    log = [entry("email.send", to="b"), entry("sms.send", error="no such number"), entry("email.send", to="b")]
    assert [each.kind for each in observe(acts_of_actions("A", log))] == ["unrepaired_failure", "same_work_twice"]
    assert observe(acts_of_actions("A", [entry("email.send", to="b"), entry("email.send", to="c")])) == []
