"""Oracles in other words and in another order: what they do is as right, and earns as much."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any, Final

from concord_assistant.scenario.generator import filled
from concord_purple.assistant.scripted import Oracle, OracleAction

PARAPHRASES: Final = 40
"""The paraphrases of an oracle: each wording in each frame."""

ORDERS: Final = 2
"""The orders of an oracle's actions that are played beside its own."""

_FILE: Final = Path(__file__).with_name("paraphrases.json")
_FRAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "body_text": (
        "{}",
        "Dear Sir or Madam,\n\n{}\n\nKind regards",
        "Hello,\n\nI hope you are well. {}\n\nPlease let me know if you have any questions.\n\nBest regards",
        "Hi there,\n\nI am writing on behalf of my employer.\n\n{}\n\nThank you very much in advance!",
        "Good day,\n\nthank you for your message.\n\n{}\n\nSent from my phone",
    ),
    "body": (
        "{}",
        "Hi! {}",
        "Hello, how are you? {}",
        "{} Take care!",
        "Good morning, here is a short message for you. {} All the best",
    ),
    "content": (
        "{}",
        "Hi! {}",
        "Here is a short summary:\n\n{}",
        "{}\n\nLet me know if there is anything else that I can do.",
        "All done. {} Have a nice day!",
    ),
}
"""By the parameter that has the text (of an email, a text message and a chat message), what is written around it."""


def paraphrased(oracle: Oracle, scenario_id: str, replacements: Mapping[str, str], number: int) -> Oracle:
    """An oracle that says everything in other words. `number`: which paraphrase, less than `PARAPHRASES`."""
    wordings = {
        text: entry["wordings"]
        for entry in filled(_entries().get(scenario_id, []), replacements)
        for text in entry["texts"]
    }
    actions = [_reworded(action, wordings, number) for action in oracle.actions]
    return oracle.model_copy(update={"actions": actions})


def reordered(oracle: Oracle, number: int) -> Oracle:
    """An oracle that performs the actions of each turn in another order."""
    random, actions = Random(number), list[OracleAction]()  # noqa: S311 - no secret
    for _, group in groupby(sorted(oracle.actions, key=lambda each: each.turn), key=lambda each: each.turn):
        turn = list(group)
        random.shuffle(turn)
        actions += turn
    return oracle.model_copy(update={"actions": actions, "last_turn": oracle.end})


def unknown_texts(oracle: Oracle, scenario_id: str, replacements: Mapping[str, str]) -> Iterator[str]:
    """The texts with paraphrases that an oracle does not say."""
    said = {action.parameters.get(name) for action in oracle.actions for name in _FRAMES}
    entries = filled(_entries().get(scenario_id, []), replacements)
    yield from (text for entry in entries for text in entry["texts"] if text not in said)


def _reworded(action: OracleAction, wordings: Mapping[str, list[str]], number: int) -> OracleAction:
    for name, frames in _FRAMES.items():
        if known := wordings.get(str(action.parameters.get(name))):
            frame, wording = divmod(number, len(known))
            text = frames[frame % len(frames)].format(known[wording])
            return action.model_copy(update={"parameters": {**action.parameters, name: text}})
    return action


@cache
def _entries() -> dict[str, list[Any]]:
    entries: dict[str, list[Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return entries
