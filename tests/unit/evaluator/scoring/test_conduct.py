"""Conduct: which calls bought something, which failed, and the value that follows."""

import pytest

from concord.trace.attributes import REFUSED_BY, UNQUOTED_RESPONSE_WORDS
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.scoring import TOLERANCE, WORST, Conduct, conduct_of
from concord_evaluator.trace import carried_calls
from tests.unit.evaluator.scoring.played import CarriedCall, TeamTrial
from tests.unit.evaluator.traces import call, observed, reported_by, roster
from tests.unit.evaluator.trials import batch

TASK = "Count the trees in the park; report plot 12."


def conduct(
    *calls: CarriedCall,
    agents: tuple[str, ...] = ("ann", "bob", "cyn"),
    answer: str = "",
    figures: tuple[str, ...] = (),
) -> Conduct:
    """The conduct of a team whose first agent received the task."""
    batches = [batch(place, each) for place, each in enumerate(TeamTrial(agents, calls).reports_by_batch())]
    return conduct_of(carried_calls(batches, roster(*agents)), agents, TASK, agents[:1], [answer], figures)


def bought(*calls: CarriedCall, answer: str = "") -> int:
    """The number of calls that bought something."""
    found = conduct(*calls, answer=answer)
    return found.carried - found.failed - found.bought_nothing


class TestValue:
    def test_conduct_is_full_if_every_call_bought_something(self) -> None:
        assert conduct(CarriedCall("ann", "bob", "maples")).value == 1.0

    def test_conduct_without_a_carried_call_is_the_worst_and_unseen(self) -> None:
        found = conduct()
        assert (found.value, found.reason) == (WORST, "not observed: the gateway carried no call between participants")

    def test_a_lone_participant_has_full_conduct_with_the_reason(self) -> None:
        found = conduct(agents=("ann",))
        assert (found.value, found.reason) == (1.0, "a lone participant has no other participant to call")

    def test_conduct_falls_with_every_wasted_call_but_never_below_the_worst(self) -> None:
        useful, ping = CarriedCall("ann", "bob", "maples"), CarriedCall("ann", "bob", "ping")
        values = [conduct(useful, *[ping] * n).value for n in (0, 1, 5, 1000)]
        assert values == [WORST + (1 - WORST) * TOLERANCE / (TOLERANCE + wasted) for wasted in (0, 1, 5, 1000)]

    def test_conduct_is_the_worst_if_no_call_bought_anything(self) -> None:
        assert conduct(CarriedCall("ann", "bob", "hello", "hi")).value == WORST

    def test_conduct_does_not_depend_on_the_number_of_participants(self) -> None:
        calls = (CarriedCall("ann", "bob", "maples"), CarriedCall("ann", "bob", "ping"))
        few, many = conduct(*calls), conduct(*calls, agents=("ann", "bob", *(f"idle{n}" for n in range(50))))
        assert few.value == many.value


class TestWhatACallBuys:
    def test_a_word_that_is_new_to_its_reader_buys_something(self) -> None:
        assert bought(CarriedCall("ann", "bob", "maples in the north")) == 1

    def test_an_answer_with_a_new_word_buys_something(self) -> None:
        assert bought(CarriedCall("ann", "bob", "are you there?", "maples")) == 1

    @pytest.mark.parametrize(
        "greeting",
        [
            "Hello!",
            "Hi bob, this is ann.",
            "Good morning, nice to meet you.",
            "ping",
            "Are you there?",
            "OK, thanks.",
            "Hallo",
            "",
        ],
    )
    def test_a_greeting_buys_nothing(self, greeting: str) -> None:
        assert bought(CarriedCall("ann", "bob", greeting, "Hello, yes.")) == 0

    def test_a_figure_that_the_task_is_about_buys_something_once(self) -> None:
        calls = (
            CarriedCall("ann", "bob", "48,213"),
            CarriedCall("ann", "bob", "48213"),
            CarriedCall("ann", "bob", "99999"),
        )
        assert conduct(*calls).bought_nothing == 3
        assert conduct(*calls, figures=("48213", "KX-44718")).bought_nothing == 2

    def test_numbered_pings_buy_nothing(self) -> None:
        assert bought(*(CarriedCall("ann", "bob", f"ping {n}", f"pong {n}") for n in range(100, 150))) == 0

    def test_pings_numbered_in_words_buy_nothing(self) -> None:
        counters = ("one", "two", "twenty-one", "third", "ninety-nine")
        assert bought(*(CarriedCall("ann", "bob", f"ping {word}", f"pong {word}") for word in counters)) == 0
        assert bought(CarriedCall("ann", "bob", "forty-two"), answer="It is forty-two.") == 1

    def test_an_echo_buys_its_caller_nothing(self) -> None:
        first = CarriedCall("cyn", "bob", "maples")
        assert (
            bought(first, CarriedCall("ann", "bob", "hello", "hello"), CarriedCall("bob", "cyn", "maples", "maples"))
            == 1
        )

    def test_a_repeated_call_buys_nothing(self) -> None:
        assert bought(CarriedCall("ann", "bob", "maples", "oaks"), CarriedCall("ann", "bob", "maples", "oaks")) == 1

    def test_the_same_words_to_another_reader_buy_something(self) -> None:
        assert bought(CarriedCall("ann", "bob", "maples"), CarriedCall("ann", "cyn", "maples")) == 2

    def test_a_readers_own_words_are_not_new_to_it(self) -> None:
        assert bought(CarriedCall("bob", "ann", "maples"), CarriedCall("ann", "bob", "maples")) == 1

    def test_the_words_of_the_task_are_new_only_to_agents_that_did_not_receive_it(self) -> None:
        assert bought(CarriedCall("bob", "ann", "trees in the park")) == 0
        assert bought(CarriedCall("ann", "bob", "trees in the park")) == 1

    def test_a_figure_counts_only_if_it_is_in_the_task_or_in_a_graded_answer(self) -> None:
        assert bought(CarriedCall("ann", "bob", "12")) == 1
        assert bought(CarriedCall("ann", "bob", "4711")) == 0
        assert bought(CarriedCall("ann", "bob", "4711"), answer="There are 4,711.") == 1

    def test_words_of_data_parts_count(self) -> None:
        step = call("1", "bob", attributes={"agent_name": "ann", UNQUOTED_RESPONSE_WORDS: "maples"})
        calls = carried_calls([batch(1, observed(GREEN_AGENT, step))], roster("ann", "bob"))
        assert conduct_of(calls, ("ann", "bob"), TASK, ["ann"], []).bought_nothing == 0

    def test_a_failed_call_buys_nothing_and_a_later_success_does_not_erase_it(self) -> None:
        found = conduct(CarriedCall("ann", "bob", "maples", failed=True), CarriedCall("ann", "bob", "maples", "oaks"))
        assert (found.carried, found.failed, found.bought_nothing) == (2, 1, 0)
        assert found.value == WORST + (1 - WORST) * TOLERANCE / (TOLERANCE + 1)


class TestWhatCounts:
    def test_only_calls_that_the_gateway_carried_count(self) -> None:
        reported = batch(1, reported_by("ann", call("1", "bob", request="maples"), authenticated=True))
        forged = batch(2, reported_by("green-agent", call("2", "bob", attributes={"agent_name": "ann"})))
        assert carried_calls([reported, forged], roster("ann", "bob")).calls == {}

    def test_calls_of_the_assessor_to_oneself_and_to_strangers_do_not_count(self) -> None:
        steps = [
            call("1", "bob"),
            call("2", "ann", attributes={"agent_name": "ann"}),
            call("3", "", url="http://stranger.test", attributes={"agent_name": "ann"}),
        ]
        assert carried_calls([batch(1, observed(GREEN_AGENT, *steps))], roster("ann", "bob")).calls == {}

    def test_calls_refused_for_a_limit_of_the_gateway_do_not_count(self) -> None:
        refused = call("1", "bob", attributes={"agent_name": "ann", REFUSED_BY: "gateway"}, error="too large")
        assert carried_calls([batch(1, observed(GREEN_AGENT, refused))], roster("ann", "bob")).calls == {}

    def test_a_step_that_was_stored_twice_is_one_call(self) -> None:
        duplicates = [
            batch(number, observed(GREEN_AGENT, call("1", "bob", attributes={"agent_name": "ann"})))
            for number in (1, 2)
        ]
        assert carried_calls(duplicates, roster("ann", "bob")).calls == {"1": False}
