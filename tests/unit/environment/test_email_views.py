"""The mailbox as it is shown: threads and folders of the emails in it, and Bcc to the sender only."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from concord_environment.core.actions import Action
from concord_environment.core.events import Submission
from concord_environment.core.faults import Conflict
from concord_environment.modalities.email.requests import AddLabel, Move
from concord_environment.modalities.email.views import EMAIL_VIEWS, EmailStateView
from concord_environment.modalities.modality import StatePage
from tests.unit.environment.worlds import USER, copy_of, delete, mail, new_simulation, note_to_self, read, star

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
def test_a_state_has_the_threads_and_folders_of_its_emails_and_bcc_of_sent_ones_only(
    steps: Iterable[Action | str],
) -> None:
    simulation = new_simulation()
    for step in steps:
        if isinstance(step, str):
            simulation.undo(1)
        else:
            with suppress(Conflict):  # a mail with the same id
                simulation.act(Submission(step, simulation.now))
    world, now, page = simulation.world, simulation.now, StatePage()
    shown = EMAIL_VIEWS.state(world, now, page)
    assert isinstance(shown, EmailStateView)
    assert shown == EMAIL_VIEWS.state(copy_of(world), now, page)
    assert sorted(shown.threads) == sorted({email.thread_id for email in shown.emails.values()})
    assert sorted(chain.from_iterable(shown.folders.values())) == sorted(shown.emails)
    assert all(not email.bcc_addresses or email.from_address == USER for email in shown.emails.values())
