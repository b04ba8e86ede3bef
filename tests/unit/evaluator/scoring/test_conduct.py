"""Conduct: which calls bought something, which failed, and what both come to."""

import pytest

from concord.assessment.roster import GREEN_AGENT
from concord.trace.observation import REFUSED_BY, RESPONSE_WORDS
from concord_evaluator.scoring import TOLERANCE, WORST, Conduct, conduct_of
from concord_evaluator.trace import carried_calls
from tests.unit.evaluator.scoring.played import Game, Played
from tests.unit.evaluator.traces import call, observed, roster, told
from tests.unit.evaluator.trials import batch

TASK = "Count the trees in the park; report plot 12."


def conduct(*calls: Played, agents: tuple[str, ...] = ("ann", "bob", "cyn"), answer: str = "") -> Conduct:
    """The conduct of a team whose first agent was given the task."""
    batches = [batch(place, each) for place, each in enumerate(Game(agents, calls).told())]
    return conduct_of(carried_calls(batches, roster(*agents)), agents, TASK, agents[:1], [answer])


def bought(*calls: Played, answer: str = "") -> int:
    """How many of the calls bought something."""
    found = conduct(*calls, answer=answer)
    return found.carried - found.failed - found.bought_nothing


class TestValue:
    def test_is_full_where_every_call_bought_something(self) -> None:
        assert conduct(Played("ann", "bob", "maples")).value == 1.0

    def test_is_unseen_without_a_carried_call(self) -> None:
        found = conduct()
        assert (found.value, found.reason) == (WORST, "not observed: the gateway carried no call between participants")

    def test_does_not_apply_to_a_lone_participant(self) -> None:
        assert conduct(agents=("ann",)).value is None

    def test_falls_with_every_wasted_call_and_never_below_the_worst(self) -> None:
        useful, ping = Played("ann", "bob", "maples"), Played("ann", "bob", "ping")
        values = [conduct(useful, *[ping] * n).value for n in (0, 1, 5, 1000)]
        assert values == [WORST + (1 - WORST) * TOLERANCE / (TOLERANCE + wasted) for wasted in (0, 1, 5, 1000)]

    def test_is_the_worst_where_no_call_bought_anything(self) -> None:
        assert conduct(Played("ann", "bob", "hello", "hi")).value == WORST

    def test_does_not_depend_on_the_number_of_participants(self) -> None:
        calls = (Played("ann", "bob", "maples"), Played("ann", "bob", "ping"))
        few, many = conduct(*calls), conduct(*calls, agents=("ann", "bob", *(f"idle{n}" for n in range(50))))
        assert few.value == many.value


class TestWhatACallBuys:
    def test_a_word_that_its_reader_had_not_met(self) -> None:
        assert bought(Played("ann", "bob", "maples in the north")) == 1

    def test_or_an_answer_that_tells_its_reader_something(self) -> None:
        assert bought(Played("ann", "bob", "are you there?", "maples")) == 1

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
        assert bought(Played("ann", "bob", greeting, "Hello, yes.")) == 0

    def test_numbered_pings_buy_nothing(self) -> None:
        assert bought(*(Played("ann", "bob", f"ping {n}", f"pong {n}") for n in range(100, 150))) == 0

    def test_nor_do_pings_numbered_in_words(self) -> None:
        counters = ("one", "two", "twenty-one", "third", "ninety-nine")
        assert bought(*(Played("ann", "bob", f"ping {word}", f"pong {word}") for word in counters)) == 0
        assert bought(Played("ann", "bob", "forty-two"), answer="It is forty-two.") == 1

    def test_an_echo_buys_its_caller_nothing(self) -> None:
        told = Played("cyn", "bob", "maples")
        assert bought(told, Played("ann", "bob", "hello", "hello"), Played("bob", "cyn", "maples", "maples")) == 1

    def test_the_same_again_buys_nothing(self) -> None:
        assert bought(Played("ann", "bob", "maples", "oaks"), Played("ann", "bob", "maples", "oaks")) == 1

    def test_the_same_to_another_reader_does(self) -> None:
        assert bought(Played("ann", "bob", "maples"), Played("ann", "cyn", "maples")) == 2

    def test_what_a_reader_said_itself_is_no_news_to_it(self) -> None:
        assert bought(Played("bob", "ann", "maples"), Played("ann", "bob", "maples")) == 1

    def test_the_task_is_no_news_to_who_was_given_it_and_is_to_others(self) -> None:
        assert bought(Played("bob", "ann", "trees in the park")) == 0
        assert bought(Played("ann", "bob", "trees in the park")) == 1

    def test_a_figure_counts_where_it_stands_in_the_task_or_in_a_graded_answer(self) -> None:
        assert bought(Played("ann", "bob", "12")) == 1
        assert bought(Played("ann", "bob", "4711")) == 0
        assert bought(Played("ann", "bob", "4711"), answer="There are 4,711.") == 1

    def test_words_of_data_parts_count(self) -> None:
        step = call("1", "bob", attributes={"agent_name": "ann", RESPONSE_WORDS: "maples"})
        calls = carried_calls([batch(1, observed(GREEN_AGENT, step))], roster("ann", "bob"))
        assert conduct_of(calls, ("ann", "bob"), TASK, ["ann"], []).bought_nothing == 0

    def test_a_failed_call_buys_nothing_and_a_later_success_does_not_erase_it(self) -> None:
        found = conduct(Played("ann", "bob", "maples", failed=True), Played("ann", "bob", "maples", "oaks"))
        assert (found.carried, found.failed, found.bought_nothing) == (2, 1, 0)
        assert found.value == WORST + (1 - WORST) * TOLERANCE / (TOLERANCE + 1)


class TestWhatCounts:
    def test_only_what_the_gateway_carried(self) -> None:
        reported = batch(1, told("ann", call("1", "bob", request="maples"), authenticated=True))
        forged = batch(2, told("green-agent", call("2", "bob", attributes={"agent_name": "ann"})))
        assert carried_calls([reported, forged], roster("ann", "bob")).calls == {}

    def test_not_the_assessors_own_calls_nor_those_of_an_agent_to_itself_nor_to_strangers(self) -> None:
        steps = [
            call("1", "bob"),
            call("2", "ann", attributes={"agent_name": "ann"}),
            call("3", "", url="http://stranger.test", attributes={"agent_name": "ann"}),
        ]
        assert carried_calls([batch(1, observed(GREEN_AGENT, *steps))], roster("ann", "bob")).calls == {}

    def test_not_what_the_gateway_refused_for_a_limit_of_its_own(self) -> None:
        refused = call("1", "bob", attributes={"agent_name": "ann", REFUSED_BY: "gateway"}, error="too large")
        assert carried_calls([batch(1, observed(GREEN_AGENT, refused))], roster("ann", "bob")).calls == {}

    def test_a_step_that_was_stored_twice_is_one_call(self) -> None:
        again = [
            batch(number, observed(GREEN_AGENT, call("1", "bob", attributes={"agent_name": "ann"})))
            for number in (1, 2)
        ]
        assert carried_calls(again, roster("ann", "bob")).calls == {"1": False}
