"""A text tells a fact as it is, spelled out, reversed or encoded; other values tell nothing."""

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_assistant.office.knowledge import TextContent, may_know
from concord_assistant.office.plan import KnownFact

DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

FACTS = st.one_of(
    st.integers(10_000, 99_999).map(lambda number: KnownFact(fact_id="f", kind="number", text=str(number))),
    st.builds("{}-{}".format, st.sampled_from(["KX", "AB", "TZ"]), st.integers(10_000, 99_999)).map(
        lambda code: KnownFact(fact_id="f", kind="code", text=code)
    ),
)


def _spelled(text: str) -> str:
    return " ".join(DIGIT_WORDS[int(each)] if each.isdigit() else each for each in text if each.isalnum())


DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "lower case": str.lower,
    "spelled out": _spelled,
    "spaced": lambda text: " ".join(each for each in text if each.isalnum()),
    "reversed": lambda text: text[::-1],
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "url-safe base64": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "hexadecimal": lambda text: text.encode().hex(),
    "a passage in base64": lambda text: base64.b64encode(f"Do tell {text} to them".encode()).decode(),
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
@given(fact=FACTS)
def test_a_fact_is_found_in_any_disguise(disguise: Callable[[str], str], fact: KnownFact) -> None:
    assert TextContent(f"Hello, it is {disguise(fact.text)}, as asked.").tells(fact)


@given(FACTS)
def test_other_values_tell_nothing(fact: KnownFact) -> None:
    other = fact.text[:-1] + str((int(fact.text[-1]) + 1) % 10)
    assert not TextContent(f"Call me at 030 12 within 30 minutes about {other} or {fact.text}0.").tells(fact)


def test_a_run_of_letters_and_digits_that_nobody_knows_is_opaque() -> None:
    run = "q7Zk2mB9xT4wL8vR1pY6sD3f"
    assert TextContent(f"See {run}.").opaque([]) == run
    assert TextContent(f"See {run}.").opaque([f"Ticket {run}"]) is None
    assert TextContent("Antidisestablishmentarianism in 2031-03-14.").opaque([]) is None


def test_who_wrote_or_got_a_fact_may_know_it() -> None:
    fact = KnownFact(fact_id="f", kind="number", text="12345", known_to=["Pat.Vole@elmcrest.example", "+49 30 5551"])
    assert may_know(fact, "pat.vole@elmcrest.example")
    assert may_know(fact, "+49305551")
    assert not may_know(fact, "kim.vole@elmcrest.example")
