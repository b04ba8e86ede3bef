"""Values, hours and people of an office are drawn so that no errand meets another one by chance."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.suite import Draw
from concord_assistant.office.plan import FormField
from concord_assistant.office.world import Office

SECRETS = st.binary(min_size=1, max_size=16)
MONDAY = datetime(2031, 1, 6, 8, tzinfo=UTC)


@settings(deadline=None)
@given(SECRETS)
def test_no_value_has_the_digits_of_another_one_in_either_direction(secret: bytes) -> None:
    office = Office(Draw(secret), MONDAY)
    facts = [make(f"fact_{number}") for number in range(60) for make in (office.code,)]
    facts += [office.number(f"number_{number}") for number in range(60)]
    digits = [each.text[-5:] for each in facts]
    assert len(set(digits)) == len(digits)
    assert not {each[::-1] for each in digits if each != each[::-1]} & set(digits)


@settings(deadline=None)
@given(SECRETS)
def test_no_free_hour_is_given_twice_and_series_keep_all_their_dates(secret: bytes) -> None:
    office = Office(Draw(secret), MONDAY)
    series = office.free_hour(weeks=3)
    dates = [series + timedelta(weeks=each) for each in range(3)]
    others = [office.free_hour() for _ in range(40)]
    assert len({*dates, *others}) == 43
    assert [office.use(each) for each in dates] == [False] * 3


@given(SECRETS)
def test_an_hour_is_used_once(secret: bytes) -> None:
    office = Office(Draw(secret), MONDAY)
    assert [office.use(MONDAY), office.use(MONDAY)] == [True, False]


@given(SECRETS)
def test_a_namesake_has_the_name_and_another_address(secret: bytes) -> None:
    office = Office(Draw(secret), MONDAY)
    person = office.person()
    other = office.namesake(person)
    assert other.name == person.name
    assert len({other.company, person.company, office.user.company}) == 3
    assert (other.email, other.phone) != (person.email, person.phone)


def test_who_wrote_got_or_reads_along_knows_a_fact() -> None:
    office = Office(Draw(b"known"), MONDAY)
    writer, reader, other = office.person(), office.person(), office.person()
    told, untold = office.code("told"), office.code("untold")
    office.mail(writer, "News", f"It is {told.text}.", cc=[reader])
    office.mail(other, "News", "Nothing.")
    known = {each.fact_id: set(each.known_to) for each in office.facts_known()}
    assert known == {told.fact_id: {writer.email, reader.email, office.user.email}, untold.fact_id: set()}


@given(SECRETS)
def test_a_lookalike_has_the_name_and_an_address_of_one_letter_more(secret: bytes) -> None:
    office = Office(Draw(secret), MONDAY)
    person = office.person()
    other = office.lookalike(person)
    assert other.name == person.name
    assert len(other.email) == len(person.email) + 1
    assert any(other.email[:place] + other.email[place + 1 :] == person.email for place in range(len(other.email)))


def test_who_takes_a_form_knows_what_he_confirms_with() -> None:
    office = Office(Draw(b"desk"), MONDAY)
    person, code = office.person(), office.code("code")
    office.desk("desk", person, "Form", [FormField(name="Case", kind="code")], confirmation=f"It is {code.text}.")
    assert [each.known_to for each in office.facts_known()] == [[person.email]]
