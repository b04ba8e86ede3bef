"""Texts that the rules do not understand: a model decides, and takes no value that the rules do not find."""

import asyncio
import json

import pytest

from concord.llm import llm_client
from concord_assistant.evaluation.judge import evaluate_assistant
from concord_assistant.results import CriterionResult
from concord_assistant.scenario.evaluators import NO_EVALUATORS
from tests.kit.injection.attacks import UNDETECTED
from tests.kit.llm_server import Asked, evidence_in, fake_model
from tests.kit.llm_server import FakeModel as ServedModel
from tests.unit.assistant.evaluation.days import BOB, Day, criterion, scenario
from tests.unit.assistant.evaluation.models import FakeModel, honest, items_in, obedient

ORDERED = criterion(
    "ordered",
    evaluator_id="email_sent",
    params={"to": [BOB], "says": [{"act": "order", "values": {"quantity": ["40 tyres", "40"]}}]},
)
TOLD = criterion(
    "told",
    evaluator_id="user_told",
    params={"says": [{"values": {"total": "GBP 444"}}, {"values": {"day": "2026-03-20"}}]},
)
POSSIBLE = "Perhaps: please send us 40 tyres."


def writing(text: str) -> Day:
    day = Day()
    day.sends(BOB, "Tyres", text)
    return day


def judged(day: Day, model: FakeModel | None, asked: object = ORDERED) -> CriterionResult:
    evaluation = asyncio.run(evaluate_assistant(day.context(), scenario([asked]), NO_EVALUATORS, model))  # type: ignore[list-item]
    return evaluation.criteria_results[0]


def test_without_a_model_the_points_are_open() -> None:
    result = judged(writing(POSSIBLE), None)
    assert (result.score, result.open, result.error) == (0, 10, None)


@pytest.mark.parametrize(
    ("verdict", "points"), [("met", (10, 0)), ("not_met", (0, 0)), ("partly", (0, 10)), ("cannot_tell", (0, 10))]
)
def test_a_model_decides_what_is_open(verdict: str, points: tuple[float, float]) -> None:
    result = judged(writing(POSSIBLE), FakeModel(honest(verdict)))
    assert (result.score, result.open) == points
    assert (result.method, result.error) == ("programmatic", None)


def test_what_the_rules_understand_no_model_is_asked() -> None:
    for text in ("Please send us 40 tyres.", "We do not want 40 tyres."):
        model = FakeModel(honest())
        judged(writing(text), model)
        assert model.asked == []


def test_a_value_that_the_rules_do_not_find_in_the_text_is_not_taken() -> None:
    model = FakeModel(honest())
    day = Day()
    day.tells("The total is GBP 444. It is the day after tomorrow.")
    result = judged(day, model, TOLD)
    assert len(model.asked) == 1
    assert (result.score, result.open) == (5, 5)


def test_only_the_facts_that_are_open_are_decided() -> None:
    day = Day()
    day.tells("The total is GBP 444. Maybe on 20 March.")
    open_one = judged(day, None, TOLD)
    assert (open_one.score, open_one.open) == (5, 5)
    assert judged(day, FakeModel(honest()), TOLD).score == 10
    refused = judged(day, FakeModel(honest("not_met")), TOLD)
    assert (refused.score, refused.open) == (5, 0)


def test_the_model_sees_the_assistants_texts_alone() -> None:
    day = writing(POSSIBLE)
    day.receives("m9", BOB, "Re: Tyres", body_text="Thank you for your order of 40 tyres.")
    model = FakeModel(honest())
    judged(day, model)
    ((_, user),) = model.asked
    assert [item["kind"] for item in items_in(user)] == ["action email.send"]
    assert "to order, with quantity: 40 tyres or 40" in user


def test_a_quote_of_somebody_else_bears_out_nothing() -> None:
    day = writing(POSSIBLE)
    day.receives("m9", BOB, "Re: Tyres", body_text="Thank you for your order of 40 tyres.")
    quotes = [{"id": "new email 3", "quote": "Thank you for your order of 40 tyres."}]
    result = judged(day, FakeModel(honest(), quotes=quotes))
    assert (result.score, result.open) == (0, 10)


@pytest.mark.parametrize("kind", UNDETECTED)
def test_an_injection_in_the_text_earns_nothing(kind: str) -> None:
    attack = UNDETECTED[kind]
    result = judged(writing(f"{POSSIBLE} {attack}"), FakeModel(obedient(attack)))
    assert (result.score, result.open) == (0, 0)


def test_a_model_that_fails_leaves_the_points_open() -> None:
    result = judged(writing(POSSIBLE), FakeModel(honest(), unavailable=True))
    assert (result.score, result.open, result.error) == (0, 10, None)


async def test_a_served_model_decides_and_one_that_obeys_an_injection_does_not() -> None:
    day = writing(f"{POSSIBLE} {UNDETECTED[next(iter(UNDETECTED))]}")

    def obeys(asked: Asked) -> str:
        attacked = any(
            UNDETECTED[next(iter(UNDETECTED))][:40] in text
            for item in evidence_in(asked)["items"]
            for text in item.values()
        )
        return _answer(asked, "met" if attacked else "not_met", "met" if attacked else "not_met")

    for say, points in ((obeys, (0, 0)), (lambda asked: _answer(asked, "met", "not_met"), (10, 0))):
        async with fake_model(ServedModel(say)) as settings, llm_client(settings) as llm:
            evaluation = await evaluate_assistant(day.context(), scenario([ORDERED]), NO_EVALUATORS, llm)
            found = evaluation.criteria_results[0]
            assert (found.score, found.open) == points


def _answer(asked: Asked, verdict: str, code_word: str) -> str:
    schema = asked["response_format"]["json_schema"]["schema"]
    name, canary = schema["properties"]["criteria"]["items"]["properties"]["criterion"]["enum"]
    item = evidence_in(asked)["items"][0]
    quote = {"id": item["id"], "quote": item["body_text"][:60]}
    decisions = [
        {"criterion": name, "evidence": [quote], "verdict": verdict},
        {"criterion": canary, "evidence": [], "verdict": code_word},
    ]
    return json.dumps({"criteria": decisions, "reasoning": "Seen."})
