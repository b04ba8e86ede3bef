"""The temporal network: what an agent knew reaches another along messages and artifacts, in the order of time."""

from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.cost import TemporalNetwork
from concord.trace.effects import Effect, EffectKind
from concord_evaluator.observations import Act, Deed
from concord_evaluator.temporal_network import temporal_network

FILE = "src/park.py"


def said(agent: str, to: str, *, error: str | None = None) -> Act:
    return Act("", agent, Deed.MESSAGE, to, "hello", error=error)


def edited(agent: str, artifact: str = FILE) -> Act:
    return Act("", agent, Deed.TOOL, "edit", effect=Effect(EffectKind.EDITED, artifact))


def read(agent: str, artifact: str = FILE) -> Act:
    return Act("", agent, Deed.TOOL, "read_file", f'{{"path": "{artifact}"}}')


def network(*acts: Act) -> TemporalNetwork:
    found = temporal_network(acts, ["ann", "bob", "cyn"])
    assert found is not None
    return found


def test_what_one_wrote_and_another_read_after_reaches_it_without_a_message() -> None:
    found = network(edited("ann"), read("bob"))
    assert (found.reached, found.reached_by_messages) == (1 / 6, 0)
    [used] = found.artifacts
    assert (used.writers, used.readers, used.reads_after) == (["ann"], ["bob"], 1)


def test_what_was_read_before_it_was_written_reaches_nobody() -> None:
    found = network(read("bob"), edited("ann"))
    assert found.reached == 0
    assert found.artifacts[0].readers == []


def test_a_path_counts_only_in_the_order_of_time() -> None:
    assert network(said("ann", "bob"), said("bob", "cyn")).reached == 3 / 6
    assert network(said("bob", "cyn"), said("ann", "bob")).reached == 2 / 6


def test_what_its_writer_had_been_told_goes_on_by_the_artifact() -> None:
    assert network(said("ann", "bob"), edited("bob"), read("cyn")).reached == 3 / 6


def test_who_reads_what_it_wrote_itself_reads_after_nobody() -> None:
    assert network(edited("ann"), read("ann")).artifacts[0].reads_after == 0


def test_a_message_that_failed_carried_nothing() -> None:
    assert temporal_network([said("ann", "bob", error="refused")], ["ann", "bob"]) is None


NAMES = st.sampled_from(["ann", "bob", "cyn"])
ACTS = st.lists(st.builds(said, NAMES, NAMES) | st.builds(edited, NAMES) | st.builds(read, NAMES), max_size=12)


@given(ACTS, ACTS)
def test_further_acts_never_lower_what_reached_whom(acts: list[Act], more: list[Act]) -> None:
    less, whole = (temporal_network(some, ["ann", "bob", "cyn"]) for some in (acts, acts + more))
    if less is not None and whole is not None:
        assert less.reached is not None
        assert whole.reached is not None
        assert whole.reached_by_messages is not None
        assert whole.reached >= max(less.reached, whole.reached_by_messages)
