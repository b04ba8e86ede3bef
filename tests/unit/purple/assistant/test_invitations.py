"""Answers to invitations by the user's rules."""

from datetime import UTC, datetime, time

from hypothesis import given
from hypothesis import strategies as st

from concord_purple.assistant.rules.invitations import Invitation, InvitationRules, decide, invitation_rules
from concord_purple.assistant.rules.people import Person
from concord_purple.assistant.rules.times import Interval

MANAGER = Person("Hannah Lind", "hannah.lind@harbour.example")


def invitation(name: str, day: int, first: int, last: int, organizer: str = "", response: str = "") -> Invitation:
    """An invitation in February 2026, from and to a full hour."""
    return Invitation(name, name, organizer, _hours(day, first, last), response or "needs-action")


def test_the_rules_of_a_message() -> None:
    text = (
        "Please answer all seven invitations. No meetings before 10:00 and none on Friday afternoon. "
        "If two overlap, the one of Hannah Lind comes first. Accept everything else."
    )
    assert invitation_rules(text, [MANAGER]) == InvitationRules(time(10), (4, time(12), time(18)), MANAGER, 7)


def test_a_message_about_something_else_has_no_rules() -> None:
    assert invitation_rules("Decline the invitation to the gala.", [MANAGER]) is None


def test_each_refusal_has_its_reason() -> None:
    rules = InvitationRules(time(10), (4, time(12), time(18)))
    found = [
        invitation("early", 10, 9, 10),
        invitation("friday", 13, 13, 14),
        invitation("taken", 11, 12, 13),
        invitation("fine", 12, 12, 13),
    ]
    decisions = decide(found, [("Lunch", _hours(11, 12, 13))], rules, UTC)
    assert {each.invitation.title: each.reason for each in decisions} == {
        "early": "I have no meetings before 10:00.",
        "friday": "I have no meetings at that time on Fridays.",
        "taken": "I have another appointment at that time: Lunch.",
        "fine": "",
    }


def test_the_preferred_organizer_wins_against_an_accepted_invitation() -> None:
    found = [
        invitation("design", 11, 11, 12, "ravi@harbour.example", "accepted"),
        invitation("board", 11, 11, 12, "hannah.lind@harbour.example"),
    ]
    responses = {
        each.invitation.title: each.response for each in decide(found, [], InvitationRules(first=MANAGER), UTC)
    }
    assert responses == {"board": "accepted", "design": "declined"}


@given(st.lists(st.tuples(st.integers(8, 16), st.integers(1, 3)), max_size=8))
def test_accepted_invitations_do_not_overlap_and_refused_ones_would(spans: list[tuple[int, int]]) -> None:
    found = [invitation(str(number), 10, first, first + hours) for number, (first, hours) in enumerate(spans)]
    decisions = decide(found, [], InvitationRules(), UTC)
    taken = [each.invitation.span for each in decisions if each.response == "accepted"]
    assert not any(_overlap(one, other) for one in taken for other in taken if one is not other)
    assert all(
        any(_overlap(each.invitation.span, other) for other in taken)
        for each in decisions
        if each.response == "declined"
    )


def _overlap(one: Interval, other: Interval) -> bool:
    return one.start < other.end and other.start < one.end


def _hours(day: int, first: int, last: int) -> Interval:
    return Interval(datetime(2026, 2, day, first, tzinfo=UTC), datetime(2026, 2, day, last, tzinfo=UTC))
