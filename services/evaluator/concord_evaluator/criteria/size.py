"""The size of results: shortens them so that a verdict can be stored and a row read."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from concord_assistant.results import AssessmentResults
from concord_assistant.turns.shortening import shortened

MAX_STORED: Final = 512 * 1024
"""Bytes of the results of one trial in its verdict."""

MAX_RESULTS: Final = 2 * 2**20
"""Bytes of the results of all trials of a submission, over all shards, beside the trials' records."""


def shortened_results(results: AssessmentResults, max_bytes: int) -> AssessmentResults:
    """The results unchanged if they fit.

    Otherwise they lose, in this order and only as needed: the ends of long texts, the last actions, the last
    events of others, the details of criteria, the notes and last turns. Scores and explanations stay.
    """
    for lighter in _LIGHTER:
        if len(results.model_dump_json()) <= max_bytes:
            break
        results = lighter(results)
    return results


def _with_short_texts(results: AssessmentResults, limit: int) -> AssessmentResults:
    log = [
        action.model_copy(update={"parameters": shortened(action.parameters, limit)}) for action in results.action_log
    ]
    return results.model_copy(update={"action_log": log})


def _with_actions(results: AssessmentResults, most: int) -> AssessmentResults:
    kept = results.action_log[:most]
    omitted = results.actions_omitted + len(results.action_log) - len(kept)
    return results.model_copy(update={"action_log": kept, "actions_omitted": omitted})


def _with_other_events(results: AssessmentResults, most: int) -> AssessmentResults:
    kept = results.other_events[:most]
    omitted = results.other_events_omitted + len(results.other_events) - len(kept)
    return results.model_copy(update={"other_events": kept, "other_events_omitted": omitted})


def _without_details(results: AssessmentResults) -> AssessmentResults:
    criteria = [criterion.model_copy(update={"details": None}) for criterion in results.criteria_results]
    return results.model_copy(update={"criteria_results": criteria})


def _with_turns(results: AssessmentResults, most: int) -> AssessmentResults:
    turns = [turn.model_copy(update={"notes": None}) for turn in results.turns[:most]]
    return results.model_copy(update={"turns": turns, "user_faults": results.user_faults[:most]})


_LIGHTER: Final[Sequence[Callable[[AssessmentResults], AssessmentResults]]] = (
    partial(_with_short_texts, limit=2000),
    partial(_with_short_texts, limit=200),
    partial(_with_actions, most=500),
    partial(_with_actions, most=100),
    partial(_with_other_events, most=50),
    _without_details,
    partial(_with_turns, most=100),
    partial(_with_actions, most=0),
    partial(_with_other_events, most=0),
    partial(_with_turns, most=0),
)
