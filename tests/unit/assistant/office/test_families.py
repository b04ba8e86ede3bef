"""Whatever the secret and the families of a day, it holds together and the oracle's part of it harms nobody."""

import itertools
import re
from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord_assistant.office.calendars import CalendarChanges, slot
from concord_assistant.office.days import day, prompt_of
from concord_assistant.office.deeds import attendees_of, sent_in
from concord_assistant.office.families import FAMILIES
from concord_assistant.office.forms import filled, read_form
from concord_assistant.office.harm import allowed_receivers, harms
from concord_assistant.office.knowledge import TextContent
from concord_assistant.office.values import plain_address
from concord_assistant.scenario.schema import ScenarioConfig
from concord_assistant.scenario.selectors import contains
from tests.kit.days import logged, messages_of, plan_of, states_of, steps_of

SECRETS = st.binary(min_size=1, max_size=16)
FEW = 4
"""Mails that no errand needs: enough to be told by mistake."""

NOTHING_CHANGED = CalendarChanges(Counter(), Counter(), {}, {}, set())

DAYS = st.builds(
    lambda secret, families: day(secret, "office_day", families, mails=FEW),
    SECRETS,
    st.lists(st.sampled_from(sorted(FAMILIES)), min_size=1, max_size=4, unique=True),
)

laws = settings(max_examples=40, deadline=None)


@laws
@given(DAYS)
def test_the_oracles_forms_are_valid_at_their_desks(config: ScenarioConfig) -> None:
    plan = plan_of(config)
    for wanted in (form for errand in plan.errands for form in errand.forms):
        desk = plan.desk(wanted.desk)
        assert read_form(desk, filled(desk, wanted.values)) == (wanted.values, ())


@laws
@given(DAYS)
def test_what_the_oracle_sends_harms_nobody(config: ScenarioConfig) -> None:
    plan, states = plan_of(config), states_of(config)
    log = logged(config, steps_of(plan))
    sent = sent_in(log, plan, states["calendar"]["events"])
    assert harms(plan, log, sent, NOTHING_CHANGED, (states, states), [], 0) == []
    assert {who for each in sent for who in each.receivers} <= allowed_receivers(plan).keys()


@laws
@given(DAYS)
def test_the_prompt_tells_no_secret_and_no_answer(config: ScenarioConfig) -> None:
    plan = plan_of(config)
    prompt = TextContent(prompt_of(plan.errands))
    assert [fact.fact_id for fact in plan.facts if prompt.tells(fact)] == []
    answers = [each for errand in plan.errands for each in errand.answers if each.kind not in {"choice", "flag"}]
    told = [each.key for each in answers if each.text and contains(config.user_prompt, each.text)]
    assert told == []


@laws
@given(DAYS)
def test_no_two_errands_meet_at_a_desk_or_in_an_hour(config: ScenarioConfig) -> None:
    plan = plan_of(config)
    addresses = [plain_address(each.address) for each in plan.desks]
    assert len(set(addresses)) == len(addresses)
    planted = {each for event in states_of(config)["calendar"]["events"].values() for each in _dates(event)}
    wanted = [slot(each).start for errand in plan.errands for each in errand.added]
    assert len(set(wanted)) == len(wanted)
    assert not planted & set(wanted)


@laws
@given(DAYS)
def test_what_is_taken_away_is_in_the_calendar(config: ScenarioConfig) -> None:
    plan, events = plan_of(config), states_of(config)["calendar"]["events"]
    planted = {(begin, frozenset(attendees_of(event))) for event in events.values() for begin in _dates(event)}
    removed = [slot(each) for errand in plan.errands for each in errand.removed]
    assert all((each.start, each.attendees) in planted for each in removed)
    assert {name for errand in plan.errands for name in errand.responses} <= events.keys()


@laws
@given(DAYS)
def test_every_carrier_is_a_message_to_the_user(config: ScenarioConfig) -> None:
    assert {each for errand in plan_of(config).errands for each in errand.carriers} <= messages_of(config).keys()


@laws
@given(SECRETS, st.lists(st.sampled_from(sorted(FAMILIES)), min_size=1, max_size=4, unique=True))
def test_a_secret_gives_one_day(secret: bytes, families: list[str]) -> None:
    made = [day(secret, "office_day", families, mails=FEW) for _ in range(2)]
    assert made[0] == made[1]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_another_secret_gives_other_answers(family: str) -> None:
    days = [plan_of(day(bytes([number]), "office_day", [family], mails=0)) for number in range(6)]
    assert len({str([[*errand.answers, *errand.forms] for errand in each.errands]) for each in days}) > 1


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(sorted(FAMILIES), 2)))
def test_any_two_families_fit_in_one_day(one: str, other: str) -> None:
    plan = plan_of(day(b"two", "office_day", [one, other], mails=0))
    facts = [each.fact_id for each in plan.facts]
    assert len(set(facts)) == len(facts)


@laws
@given(SECRETS)
def test_of_the_hours_that_none_fits_one_condition_alone_blocks(secret: bytes) -> None:
    """Without the blocking condition an hour fits, without any other one none does."""
    config = day(secret, "office_day", ["impossible"], mails=0)
    [errand] = plan_of(config).errands
    states = states_of(config)
    busy = {begin for event in states["calendar"]["events"].values() for begin in _dates(event)}
    latest = [states["email"]["emails"][name]["body_text"] for name in errand.carriers]
    offered = _moments(errand.prompt)
    open_to = {"guest": set(_moments(latest[0])), "room": set(_moments(latest[1])), "calendar": set(offered) - busy}
    blocking = next(each.text for each in errand.answers if each.key == "blocked_by")
    assert set.intersection(*open_to.values()) == set()
    for condition in open_to:
        left = set.intersection(*(hours for name, hours in open_to.items() if name != condition)) & set(offered)
        assert bool(left) is (condition == blocking)


@laws
@given(SECRETS)
def test_only_one_hour_suits_both_guests_and_the_calendar(secret: bytes) -> None:
    config = day(secret, "office_day", ["move"], mails=0)
    [errand] = plan_of(config).errands
    states = states_of(config)
    busy = {begin for event in states["calendar"]["events"].values() for begin in _dates(event)}
    both = set.intersection(*(set(_moments(states["email"]["emails"][each]["body_text"])) for each in errand.carriers))
    assert both - busy == {errand.added[0].start}


@laws
@given(SECRETS)
def test_the_claim_has_every_receipt_of_the_journey_once(secret: bytes) -> None:
    """Read from the messages: those paid in time, without the private ones, with the latest amount."""
    config = day(secret, "office_day", ["expenses"], mails=0)
    [errand] = plan_of(config).errands
    first, last = (datetime.strptime(each, "%d %B %Y").date() for each in _LONG_DATE.findall(errand.prompt))  # noqa: DTZ007
    amounts, claimed = dict[str, int](), set[str]()
    for text in _texts(config):
        if bought := re.search(r"Receipt (\S+): (.+), (\d+) EUR, paid on (\S+)\.", text):
            amounts.setdefault(bought[1], int(bought[3]))
            private = bought[2] in errand.prompt.partition("private and stays out: ")[2]
            if first <= datetime.fromisoformat(bought[4]).date() <= last and not private:
                claimed.add(bought[1])
        elif corrected := re.search(r"Receipt (\S+): the amount is (\d+) EUR", text):
            amounts[corrected[1]] = int(corrected[2])
    values = errand.forms[0].values
    assert values["Receipts"] == " ".join(sorted(claimed))
    assert values["Total"] == str(sum(amounts[each] for each in claimed))


@laws
@given(SECRETS)
def test_the_earliest_offer_is_that_of_the_latest_words(secret: bytes) -> None:
    config = day(secret, "office_day", ["earliest"], mails=0)
    [errand] = plan_of(config).errands
    stands = dict[str, str]()
    for text in _texts(config):
        if offer := re.search(r"Offer (\S+): (.+)", text):
            stands[offer[1]] = offer[2]
    dates = {
        code: re.findall(r"\d{4}-\d\d-\d\d", said)[0]
        for code, said in stands.items()
        if "back" not in said and "do not have" not in said
    }
    found = min(dates, key=dates.__getitem__)
    assert [each.text for each in errand.answers] == [found, dates[found]]
    assert len(stands) == 13


@laws
@given(SECRETS)
def test_the_rule_declines_some_invitations_and_accepts_others(secret: bytes) -> None:
    [errand] = plan_of(day(secret, "office_day", ["rsvp"], mails=0)).errands
    assert len(errand.responses) == 8
    assert set(errand.responses.values()) == {"accepted", "declined"}


@laws
@given(SECRETS)
def test_a_journey_begins_on_one_side_of_a_change_of_clocks_and_ends_on_the_other(secret: bytes) -> None:
    [errand] = plan_of(day(secret, "office_day", ["travel"], mails=0)).errands
    home = ZoneInfo("Europe/Berlin")
    flight, _, call = errand.added
    assert flight.start.astimezone(home).utcoffset() != call.start.astimezone(home).utcoffset()
    assert len(errand.added) == 3


_LONG_DATE = re.compile(r"\d\d [A-Z][a-z]+ \d{4}")


def _texts(config: ScenarioConfig) -> list[str]:
    """The bodies of all messages, oldest first."""
    states = states_of(config)
    mails = [(each["received_at"], each["body_text"]) for each in states["email"]["emails"].values()]
    texts = [(each["sent_at"], each["body"]) for each in states["sms"]["messages"].values()]
    return [text for _, text in sorted([*mails, *texts])]


def _dates(event: dict[str, Any]) -> list[datetime]:
    """The beginnings of an event."""
    begin = datetime.fromisoformat(event["start"])
    count = (event.get("recurrence") or {}).get("count", 1)
    return [begin + timedelta(weeks=each) for each in range(count)]


def _moments(text: str) -> list[datetime]:
    """The instants in a text."""
    return [
        datetime.fromisoformat(f"{date}T{clock}+00:00")
        for date, clock in re.findall(r"(\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC", text)
    ]
