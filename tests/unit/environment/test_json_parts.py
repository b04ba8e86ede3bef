"""JSON from parts is the JSON of the whole, and the mailbox never shows a row as it was before a change."""

import json
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from pydantic_core import to_json

from concord_environment.core.actions import Action
from concord_environment.core.events import Submission
from concord_environment.core.faults import Conflict
from concord_environment.modalities.email.queries import EmailQuery
from concord_environment.modalities.email.requests import AddLabel, Move
from concord_environment.modalities.email.views import EMAIL_VIEWS, EmailStateView
from concord_environment.modalities.json_parts import JsonPart, json_of
from concord_environment.modalities.modality import StatePage
from tests.unit.environment.worlds import USER, copy_of, delete, mail, new_simulation, note_to_self, read, star

SCALARS = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def parts_of(value: JsonValue) -> JsonPart:
    """The same value as an object or an array of parts, with scalars that are JSON already."""
    if isinstance(value, dict):
        return {name: parts_of(each) for name, each in value.items()}
    if isinstance(value, list):
        return [parts_of(each) for each in value]
    return to_json(value)


@given(value=VALUES)
def test_parts_are_joined_into_the_json_of_the_whole(value: JsonValue) -> None:
    assert json.loads(json_of(parts_of(value))) == value


NAMES = st.sampled_from(["m1", "m2", "m3", "m4"])
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(
        lambda name, before, bcc: mail(name, in_reply_to=before, bcc_addresses=bcc),
        NAMES,
        st.none() | NAMES,
        st.sampled_from([[], ["hidden@example.com"]]),
    ),
    NAMES.map(read),
    NAMES.map(star),
    NAMES.map(delete),
    NAMES.map(lambda name: Move(message_id=name, folder="drafts")),
    NAMES.map(lambda name: AddLabel(message_id=name, labels=("work",))),
    st.just(note_to_self("Remember")),
)


@given(steps=st.lists(ACTIONS | st.just("undo"), max_size=20))
def test_what_is_kept_from_one_read_to_the_next_never_shows_what_was_before(steps: Iterable[Action | str]) -> None:
    simulation = new_simulation()
    for step in steps:
        if isinstance(step, str):
            simulation.undo(1)
        else:
            with suppress(Conflict):  # a mail with the same id
                simulation.act(Submission(step, simulation.now))
        world, now, page = simulation.world, simulation.now, StatePage()
        anew = copy_of(world)
        state = EMAIL_VIEWS.state(world, now, page)
        assert state == EMAIL_VIEWS.state(anew, now, page)
        assert EMAIL_VIEWS.answer(world, now, EmailQuery()) == EMAIL_VIEWS.answer(anew, now, EmailQuery())
        shown = EmailStateView.model_validate_json(state)
        assert shown.model_dump_json() == EmailStateView.model_validate(json.loads(state)).model_dump_json()
        assert sorted(shown.threads) == sorted({email.thread_id for email in shown.emails.values()})
        assert sorted(chain.from_iterable(shown.folders.values())) == sorted(shown.emails)
        assert all(not email.bcc_addresses or email.from_address == USER for email in shown.emails.values())
