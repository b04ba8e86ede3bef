"""Recovery: a snapshot and the journal after it restore the environment after any operations."""

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from concord_environment.access.keys import Key
from concord_environment.core.events import Submission
from concord_environment.core.faults import Fault
from concord_environment.environment import Environment, new_simulation
from concord_environment.persistence.capture import capture_all
from concord_environment.persistence.change_tracking import ChangeTracker
from concord_environment.persistence.store import Store
from tests.unit.environment.worlds import delete, mail, note_to_self, read, say, seconds, star

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ADMIN = Key("admin", "admin", ("*",), NOW, "0" * 64)

NAMES = st.sampled_from(["a", "b", "c"])
ACTIONS = st.one_of(
    st.builds(mail, NAMES),
    st.builds(lambda name, answered: mail(f"{name}-re", in_reply_to=answered), NAMES, NAMES),
    st.builds(read, NAMES),
    st.builds(star, NAMES),
    st.builds(delete, NAMES),
    st.builds(note_to_self, NAMES),
    st.builds(say, NAMES),
)
Operation = Callable[[Environment], object]


def _scheduled(action: object, after: int) -> Operation:
    def operation(environment: Environment) -> None:
        simulation = environment.simulation
        submission = Submission(action, simulation.now, "somebody")  # type: ignore[arg-type]  # actions are drawn
        later = Submission(action, simulation.now.replace(microsecond=after), "somebody")  # type: ignore[arg-type]
        simulation.schedule([submission, later] if later.due > simulation.now else [submission])

    return operation


def _cancelled(environment: Environment) -> None:
    event = environment.simulation.next_event()
    if event is not None:
        environment.simulation.cancel(event.event_id)


def _revoked(environment: Environment) -> None:
    environment.keys.revoke(environment.keys.all()[-1].key_id, NOW)


def _paused(environment: Environment) -> None:
    environment.lifecycle.is_paused = not environment.lifecycle.is_paused


OPERATIONS: st.SearchStrategy[Operation] = st.one_of(
    st.builds(_scheduled, ACTIONS, st.integers(0, 999_999)),
    ACTIONS.map(
        lambda action: lambda environment: environment.simulation.act(Submission(action, environment.simulation.now))
    ),
    st.integers(1, 3).map(lambda count: lambda environment: environment.simulation.advance(seconds(count))),
    st.integers(1, 9).map(lambda count: lambda environment: environment.simulation.undo(count)),
    st.integers(1, 9).map(lambda count: lambda environment: environment.simulation.redo(count)),
    st.just(lambda environment: environment.simulation.skip_to_next()),
    st.just(lambda environment: environment.simulation.jump(environment.simulation.now.replace(year=2027))),
    st.just(lambda environment: environment.simulation.reset()),
    st.just(lambda environment: environment.simulation.set_origin(b"a file")),
    st.just(lambda environment: environment.replace(new_simulation(environment.seed))),
    st.just(lambda environment: environment.keys.create("agent", ["email:*"], ADMIN, NOW)),
    st.just(_cancelled),
    st.just(_revoked),
    st.just(_paused),
)


def everything(environment: Environment) -> bytes:
    return capture_all(environment).snapshot("", 0)


class Writer:
    """The journal writer's work after an operation: nothing, a frame, or a checkpoint if one is needed."""

    def __init__(self, store: Store, environment: Environment) -> None:
        self._store, self._changes = store, ChangeTracker(environment)
        self._committed = 0

    def commit(self, *, checkpoint: bool, cut: bool) -> None:
        version = self._changes.version()
        if self._changes.is_replaced:
            self._checkpoint(cut=True)
        elif version > self._committed:
            self._store.append(self._changes.capture_changes().delta())
            if checkpoint:
                self._checkpoint(cut=cut)
        self._committed = version

    def _checkpoint(self, *, cut: bool) -> None:
        self._store.end_segment()
        self._store.write_snapshot(self._changes.capture_all(), self._store.last_frame)
        if cut:
            self._store.remove_segments(self._store.last_frame)


@given(st.lists(st.tuples(OPERATIONS, st.booleans(), st.booleans()), min_size=4, max_size=24))
@settings(deadline=None)
def test_a_snapshot_and_the_journal_after_it_restore_the_environment(
    operations: list[tuple[Operation, bool, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "snapshot.json")
        environment = store.recover(0)
        environment.keys.set_admin("0" * 64, NOW)
        writer = Writer(store, environment)
        writer.commit(checkpoint=False, cut=False)
        for operation, checkpoint, cut in operations:
            try:
                operation(environment)
            except Fault:
                continue
            writer.commit(checkpoint=checkpoint, cut=cut)
        store.close()

        reopened = Store(Path(folder) / "snapshot.json")
        assert everything(reopened.recover(0)) == everything(environment)
        reopened.close()
