"""Variants: what a seed changes, that it changes it everywhere, and that it gives the same bytes in every process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_assistant.scenario.generator import filled, replacements_of, variant
from concord_assistant.scenario.lint import lint
from concord_assistant.scenario.loader import Scenario, ScenarioError, load_scenario, scenario_folders
from concord_assistant.scenario.schema import Slot
from tests.unit.assistant.scenario.folders import DOCUMENT, write

SHIPPED = scenario_folders(Path("scenarios/assistant"))

PEOPLE = {"choose": [{"first": "Bob", "email": "bob@b.example"}, {"first": "Kim", "email": "kim@b.example"}]}
DAYS = {"shuffle": [{"day": "Monday"}, {"day": "Tuesday"}, {"day": "Friday"}]}

DIGESTS = """
import hashlib, sys
from pathlib import Path
from concord_assistant.scenario.generator import variant
from concord_assistant.scenario.loader import load_scenario
config = variant(load_scenario(Path(sys.argv[1])), 7).config
print(hashlib.sha256(config.model_dump_json().encode()).hexdigest())
"""


def seed_with(variants: dict[str, Any], text: str, wanted: str) -> int:
    """The first seed whose variant has `wanted` in the place of `text`."""
    slots = {name: Slot.model_validate(slot) for name, slot in variants.items()}
    return next(seed for seed in range(1, 100) if replacements_of(slots, seed).get(text) == wanted)


def family(folder: Path, variants: dict[str, Any], **changes: Any) -> Scenario:  # noqa: ANN401 - fields of the document
    """The small scenario with variants."""
    return load_scenario(write(folder / "s", variants=variants, **changes))


def test_seed_0_and_no_seed_give_the_scenario_as_written(tmp_path: Path) -> None:
    scenario = family(tmp_path, {"people": PEOPLE})
    assert variant(scenario, 0) is scenario
    assert variant(scenario, None) is scenario


def test_a_row_replaces_the_one_as_written_in_prompt_characters_state_and_criteria(tmp_path: Path) -> None:
    criterion = DOCUMENT["criteria"][0] | {"params": {"to": ["bob@b.example"]}}
    state = {
        "environment": {"modality_states": {"email": {"bob@b.example": "Bob's"}, "sms": {}, "calendar": {}, "chat": {}}}
    }
    scenario = family(tmp_path, {"people": PEOPLE}, user_prompt="Ask Bob.", criteria=[criterion], initial_state=state)
    config = variant(scenario, seed_with({"people": PEOPLE}, "Bob", "Kim")).config
    assert config.user_prompt == "Ask Kim."
    assert (config.characters["bob"].name, config.characters["bob"].email) == ("Kim", "kim@b.example")
    assert config.initial_state["scenario"]["environment"]["modality_states"]["email"] == {"kim@b.example": "Kim's"}
    assert config.criteria[0].params == {"to": ["kim@b.example"]}


def test_a_shuffled_slot_exchanges_its_rows_at_once(tmp_path: Path) -> None:
    scenario = family(tmp_path, {"days": DAYS}, user_prompt="Monday, Tuesday or Friday")
    seed = seed_with({"days": DAYS}, "Monday", "Friday")
    days = variant(scenario, seed).config.user_prompt.replace(",", "").replace("or ", "").split()
    assert days[0] == "Friday"
    assert sorted(days) == ["Friday", "Monday", "Tuesday"]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("48", "50"),
        ("EUR 48.", "EUR 50."),
        ("48, 49", "50, 49"),
        ("48.50 or 1,480 or 148", "48.50 or 1,480 or 148"),
        ("9:30 and 09:30 and 9:30:15 and 19:30", "8:15 and 09:30 and 9:30:15 and 19:30"),
        ("2026-05-07T15:00:00Z", "2026-05-08T15:00:00Z"),
        ("Bob, Bobby and bob@b.example", "Kim, Bobby and kim@b.example"),
    ],
)
def test_texts_are_replaced_as_whole_words(text: str, result: str) -> None:
    replacements = {"48": "50", "9:30": "8:15", "Bob": "Kim", "bob@b.example": "kim@b.example", "bob": "wrong"}
    replacements["2026-05-07T15:00:00Z"] = "2026-05-08T15:00:00Z"
    assert filled({"key": [text]}, replacements) == {"key": [result]}


@given(st.integers(min_value=1, max_value=2**32 - 1))
def test_a_shuffle_loses_no_text(seed: int) -> None:
    replacements = replacements_of({"days": Slot.model_validate(DAYS)}, seed)
    assert sorted(replacements) == sorted(replacements.values())


def test_a_seed_gives_the_same_bytes_under_every_hash_seed(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", variants={"people": PEOPLE})
    runs = [
        subprocess.run(
            [sys.executable, "-c", DIGESTS, str(folder)],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
        )
        for hash_seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout != b""


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_scenario_is_without_faults(name: str) -> None:
    assert lint(load_scenario(SHIPPED[name])) == []


@pytest.mark.parametrize(
    ("slot", "reason"),
    [
        ({}, "needs either `choose` or `shuffle`"),
        ({"choose": [{"first": "Bob"}]}, "at least two rows"),
        ({"choose": [{"first": "Bob"}, {"last": "Kim"}]}, "row 1 and the first row do not both have first, last"),
        ({"pick": [{"first": "Bob"}, {"first": "Kim"}]}, "variants.people.pick"),
    ],
)
def test_a_slot_that_cannot_be_filled_is_refused(tmp_path: Path, slot: dict[str, Any], reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        family(tmp_path, {"people": slot})


@pytest.mark.parametrize(
    ("variants", "finding"),
    [
        ({"people": {"choose": [{"first": "Zoe"}, {"first": "Kim"}]}}, ("unused-slot", "variants.people.first")),
        ({"days": {"shuffle": [{"day": "Monday"}, {"day": "Sunday"}]}}, ("unused-slot", "variants.days.day")),
        ({"people": {"choose": [{"first": "Bob"}, {"first": "Ann"}]}}, ("slot-collision", "variants.people")),
        ({"people": PEOPLE, "more": {"choose": [{"a": "Ann"}, {"a": "Kim"}]}}, ("slot-collision", "variants.more")),
        (
            {"people": {"choose": [{"a": "Bob", "b": "Bob"}, {"a": "Kim", "b": "Jo"}]}},
            ("slot-collision", "variants.people"),
        ),
    ],
)
def test_the_linter_reports_slots_that_change_nothing_or_too_much(
    tmp_path: Path, variants: dict[str, Any], finding: tuple[str, str]
) -> None:
    assert [(each.rule, each.field) for each in lint(family(tmp_path, variants))] == [finding]
    assert lint(family(tmp_path, {"people": PEOPLE})) == []
