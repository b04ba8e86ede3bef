"""Threads: the grouping of mails does not depend on the order of their arrival."""

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from concord_environment.core.events import Submission
from concord_environment.modalities.email.requests import ReceiveEmail
from concord_environment.modalities.email.state import EmailState, base_subject
from tests.unit.environment.worlds import mail, new_simulation, seconds

Grouping = set[frozenset[str]]


def grouping(mails: Sequence[ReceiveEmail], gap: float = 60) -> Grouping:
    """The threads that the mails form when they arrive one after another."""
    simulation = new_simulation()
    for one in mails:
        simulation.act(Submission(one, simulation.now))
        simulation.advance(seconds(gap))
    threads: dict[str, set[str]] = {}
    for email in simulation.world[EmailState].emails.rows():
        threads.setdefault(email.thread_id, set()).add(email.message_id)
    return {frozenset(thread) for thread in threads.values()}


@st.composite
def answer_trees(draw: st.DrawFn) -> list[ReceiveEmail]:
    """Mails that each answer an earlier mail or none, by References or In-Reply-To."""
    size = draw(st.integers(1, 8))
    mails = []
    for number in range(size):
        parent = draw(st.none() | st.integers(0, number - 1)) if number else None
        named = None if parent is None else f"m{parent}"
        if named is not None and draw(st.booleans()):
            mails.append(mail(f"m{number}", references=(named,)))
        else:
            mails.append(mail(f"m{number}", in_reply_to=named))
    return mails


@given(answer_trees(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_threads_do_not_depend_on_the_order_of_arrival(mails: list[ReceiveEmail], random: object) -> None:
    shuffled = list(mails)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types it as object
    assert grouping(shuffled) == grouping(mails)


def test_two_answers_to_a_missing_mail_form_a_thread() -> None:
    mails = [mail("a", in_reply_to="lost"), mail("b", in_reply_to="lost"), mail("c")]
    assert grouping(mails) == {frozenset({"a", "b"}), frozenset({"c"})}


def test_an_answer_without_references_joins_the_thread_with_its_subject_and_people() -> None:
    first = mail("a", subject="Lunch on Friday")
    answer = mail("b", subject="RE: Fwd:  lunch on  friday")
    stranger = mail("c", sender="eve@example.com", subject="Re: Lunch on Friday")
    assert grouping([first, answer, stranger]) == {frozenset({"a", "b"}), frozenset({"c"})}


def test_the_same_subject_alone_makes_no_thread() -> None:
    assert len(grouping([mail("a", subject="Hello"), mail("b", subject="Hello")])) == 2


def test_an_answer_after_a_year_starts_a_new_thread() -> None:
    year = timedelta(days=365).total_seconds()
    assert len(grouping([mail("a", subject="Hello"), mail("b", subject="Re: Hello")], gap=year)) == 2


def test_a_mail_that_references_two_threads_merges_them_into_the_older() -> None:
    simulation = new_simulation()
    for one in (mail("a"), mail("b"), mail("c", references=("a", "b"))):
        simulation.act(Submission(one, simulation.now))
        simulation.advance(seconds(60))
    assert {email.thread_id for email in simulation.world[EmailState].emails.rows()} == {"a"}
    simulation.undo(1)
    assert {email.thread_id for email in simulation.world[EmailState].emails.rows()} == {"a", "b"}


def test_an_explicit_thread_is_kept() -> None:
    assert grouping([mail("a", thread_id="t"), mail("b", thread_id="t")]) == {frozenset({"a", "b"})}


@given(st.text(max_size=80), st.sampled_from(["Re: ", "FWD: ", "Aw:", "re[2]: ", "Fw: Re: "]))
def test_reply_and_forward_prefixes_do_not_change_the_base_subject(subject: str, prefix: str) -> None:
    assert base_subject(prefix + subject) == base_subject(subject)
