"""The laws of scoring, over whole trials and rows: what may raise a score, and what never does."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from concord.assessment.result_row import ResultRow
from concord_evaluator.aggregate import make_row
from concord_evaluator.pipeline import score_inputs
from tests.unit.evaluator.graphs import Team, chain, mesh, ring, star
from tests.unit.evaluator.scoring.played import NAMES, TARGETS, Game, Played, calls, games, planned, reported, row

GAMES = games()


def useful(game: Game) -> int:
    """How many of the carried calls bought something."""
    record = game.verdict().record
    assert record is not None
    counted = {each.name: int(each.value) for part in record.sub_scores for each in part.inputs if each.value.isdigit()}
    return counted["carried"] - counted["failed"] - counted["bought_nothing"]


def reading(room: int) -> AbstractContextManager[object]:
    """So many characters of what the gateway carried are read."""
    return patch.object(score_inputs, "MAX_CARRIED_TEXT", room)


class TestOutcomeLeads:
    @given(GAMES)
    def test_a_failed_task_is_worth_nothing_however_well_the_team_talked(self, game: Game) -> None:
        assert replace(game, found=0).score == 0

    @given(GAMES, st.integers(0, len(TARGETS)), st.integers(0, len(TARGETS)))
    def test_a_better_outcome_is_never_worth_less(self, game: Game, one: int, other: int) -> None:
        worse, better = sorted((one, other))
        scores = [replace(game, found=found).score for found in (worse, better)]
        assert scores[0] is not None
        assert scores[1] is not None
        assert scores[0] <= scores[1]

    @given(games(least=1).filter(lambda game: len(game.agents) == 1))
    def test_a_lone_participants_score_is_its_outcome(self, game: Game) -> None:
        assert game.score == game.found / len(TARGETS)


class TestNothingAddedRaisesTheScore:
    """For an unchanged outcome. A team of which nothing was seen may be seen: that is the one way up."""

    @settings(max_examples=150)
    @given(st.data(), GAMES)
    def test_not_a_call(self, data: st.DataObject, game: Game) -> None:
        more = game.with_call(data.draw(st.integers(0, len(game.calls))), data.draw(calls(game.agents)))
        assume(useful(game) or not useful(more))
        self._never_higher(game, more)

    @settings(max_examples=150)
    @given(st.data(), GAMES, st.integers(0, 60))
    def test_not_a_call_that_leaves_others_unread(self, data: st.DataObject, game: Game, room: int) -> None:
        more = game.with_call(data.draw(st.integers(0, len(game.calls))), data.draw(calls(game.agents)))
        with reading(room):
            assume(useful(game) or not useful(more))
            self._never_higher(game, more)

    @given(GAMES, st.integers(0, 60))
    def test_not_what_is_left_unread(self, game: Game, room: int) -> None:
        read = game.score
        with reading(room):
            assert game.score is not None
            assert read is not None
            assert game.score <= read

    @given(st.data(), GAMES)
    def test_not_a_failed_call_or_a_closed_port(self, data: st.DataObject, game: Game) -> None:
        failed = replace(data.draw(calls(game.agents)), failed=True)
        self._never_higher(game, game.with_call(data.draw(st.integers(0, len(game.calls))), failed))

    @given(GAMES)
    def test_not_an_idle_participant(self, game: Game) -> None:
        self._never_higher(game, replace(game, agents=(*game.agents, "zoe")))

    @given(games(least=1).filter(lambda game: len(game.agents) == 1))
    def test_not_an_idle_second_participant(self, game: Game) -> None:
        self._never_higher(game, replace(game, agents=(*game.agents, "zoe")))

    @given(GAMES, st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=8))
    def test_not_a_report_invented_or_hidden(self, game: Game, pairs: Sequence[tuple[str, str]]) -> None:
        reports = tuple(reported(*pair, number) for number, pair in enumerate(pairs))
        assert replace(game, reports=reports).score == game.score

    @given(GAMES)
    def test_not_a_lost_judgment(self, game: Game) -> None:
        known, lost = row([game, game]), row([game, replace(game, judged=False)])
        self._never_higher_row(known, lost)
        assert row([replace(game, judged=False)]).score is None

    @given(st.lists(GAMES, min_size=1, max_size=3))
    def test_not_a_trial_whose_evaluation_was_lost(self, games: list[Game]) -> None:
        games = [replace(game, agents=NAMES) for game in games]
        plan = planned(games)
        verdicts = [game.verdict(number, plan) for number, game in enumerate(games, 1)]
        whole = make_row(plan, verdicts, [])
        for lost in range(len(verdicts)):
            self._never_higher_row(whole, make_row(plan, verdicts[:lost] + verdicts[lost + 1 :], []))

    @settings(max_examples=60)
    @given(st.data(), GAMES, GAMES)
    def test_and_what_lowers_a_trial_lowers_its_row(self, data: st.DataObject, game: Game, other: Game) -> None:
        game, other = replace(game, agents=NAMES), replace(other, agents=NAMES)
        failed = replace(data.draw(calls(NAMES)), failed=True)
        self._never_higher_row(row([game, other]), row([game.with_call(0, failed), other]))

    @staticmethod
    def _never_higher(before: Game, after: Game) -> None:
        assert before.score is not None
        assert after.score is not None
        assert after.score <= before.score

    @staticmethod
    def _never_higher_row(before: ResultRow, after: ResultRow) -> None:
        assert before.score is not None
        assert after.score is None or after.score <= before.score + 1e-9
        assert after.pass_rate is None or before.pass_rate is None or after.pass_rate <= before.pass_rate


def shaped(team: Callable[[int], Team], n: int) -> Game:
    """A team of this shape in which every call tells its reader something."""
    names, pairs = team(n)
    said = [f"finding{''.join(chr(97 + int(digit)) for digit in str(place))}" for place in range(len(pairs))]
    return Game(tuple(names), tuple(Played(*pair, text, "noted") for pair, text in zip(pairs, said, strict=True)))


def tree(n: int) -> Team:
    names, _ = star(n)
    return names, [(names[(place - 1) // 2], names[place]) for place in range(1, n)]


@pytest.mark.parametrize("n", [3, 5, 8])
@pytest.mark.parametrize("team", [star, chain, tree, ring, mesh])
def test_the_same_outcome_is_worth_the_same_in_every_shape(team: Callable[[int], Team], n: int) -> None:
    assert shaped(team, n).score == 1.0


RENAMED = dict(zip(NAMES, ("vic", "wes", "xia", "yan", "zoe"), strict=True))


@given(GAMES)
def test_what_agents_are_called_changes_nothing(game: Game) -> None:
    renamed = [replace(each, caller=RENAMED[each.caller], callee=RENAMED[each.callee]) for each in game.calls]
    other = replace(game, agents=tuple(RENAMED[agent] for agent in game.agents), calls=tuple(renamed))
    assert other.score == game.score


@given(GAMES)
def test_in_which_order_agents_are_declared_changes_nothing(game: Game) -> None:
    first, *others = game.agents
    assert replace(game, agents=(first, *reversed(others))).score == game.score


@settings(max_examples=60)
@given(st.lists(GAMES, min_size=1, max_size=3), GAMES)
def test_a_trial_more_changes_the_score_of_no_other(played: list[Game], more: Game) -> None:
    played = [replace(game, agents=NAMES) for game in played]
    alone, together = row(played), row([*played, replace(more, agents=NAMES)])
    scores = [trial.overall_score for trial in alone.detail.trials]
    assert [trial.overall_score for trial in together.detail.trials][:-1] == scores
