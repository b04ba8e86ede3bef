"""Variants of a scenario: the same task with other names, times, amounts and order, drawn by a seed.

A scenario declares in `variants` which of its texts vary. Its files are playable as written.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeVar, cast

from pydantic import JsonValue

from concord.suite import Draw
from concord_assistant.scenario.loader import Scenario
from concord_assistant.scenario.schema import ScenarioConfig, Slot
from concord_assistant.scenario.selectors import whole

AS_WRITTEN: Final = 0
"""The seed of the scenario as its files have it."""

J = TypeVar("J")


def variant(scenario: Scenario, seed: int | None) -> Scenario:
    """The scenario's variant of a seed. Seed 0 and None give the scenario as written.

    The same seed gives the same variant in every process and release of Python. A variant has no variants itself.
    Raises pydantic.ValidationError if the variant is not a valid scenario.
    """
    replacements = replacements_of(scenario.config.variants, seed)
    if not replacements:
        return scenario
    document = scenario.config.model_dump(mode="json", exclude_unset=True, exclude={"variants"})
    return replace(scenario, config=ScenarioConfig.model_validate(filled(document, replacements)))


def replacements_of(variants: Mapping[str, Slot], seed: int | None) -> dict[str, str]:
    """What a seed puts in place of each text as written, without the texts that stay."""
    if not seed:
        return {}
    drawn: dict[str, str] = {}
    for name, slot in variants.items():
        draw = Draw(f"{seed}\0{name}".encode())
        pairs = (
            zip(slot.written, draw.shuffled(slot.written), strict=True)
            if slot.shuffle
            else [(slot.written[0], draw.choice(slot.choose))]
        )
        for written, chosen in pairs:
            drawn |= {text: chosen[column] for column, text in written.items() if text != chosen[column]}
    return drawn


def filled(document: J, replacements: Mapping[str, str]) -> J:
    """A JSON document with the texts replaced in its keys and strings, all at once and as whole words."""
    if not replacements:
        return document
    return cast(J, _filled(cast(JsonValue, document), occurrences_of(replacements), replacements))


def occurrences_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Matches the texts as whole words; of two at one place, the longer one."""
    longest_first = sorted(set(texts), key=lambda text: (-len(text), text))
    return re.compile("|".join(whole(text) for text in longest_first))


def _filled(value: JsonValue, pattern: re.Pattern[str], replacements: Mapping[str, str]) -> JsonValue:
    if isinstance(value, str):
        return pattern.sub(lambda found: replacements[found[0]], value)
    if isinstance(value, list):
        return [_filled(each, pattern, replacements) for each in value]
    if isinstance(value, dict):
        return {
            pattern.sub(lambda found: replacements[found[0]], key): _filled(each, pattern, replacements)
            for key, each in value.items()
        }
    return value
