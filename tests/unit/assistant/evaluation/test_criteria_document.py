"""docs/criteria.md: its examples are valid."""

import json
import re
from pathlib import Path
from typing import Any, Final

from concord_assistant.evaluation.built_in import check_params
from concord_assistant.evaluation.evaluator_process import EvaluatorProcess
from concord_assistant.scenario.evaluators import EvalResult, EvaluatorRegistry
from concord_assistant.scenario.schema import EvaluationCriterion
from tests.unit.assistant.evaluation.days import BOB, Day, scenario

TEXT: Final = Path("docs/criteria.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The examples in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_the_examples_are_valid() -> None:
    examples: list[dict[str, Any]] = list(map(json.loads, blocks("json")))
    criteria = [EvaluationCriterion.model_validate(each) for each in examples if "criterion_id" in each]
    others = {name: value for each in examples if "criterion_id" not in each for name, value in each.items()}
    for criterion in criteria:
        check_params(criterion)
    assert scenario(criteria, **others).criteria == criteria


async def test_the_example_of_an_evaluator_runs() -> None:
    (source,) = blocks("python")
    day = Day()
    day.sends(BOB, "Late", "I am late.")
    registry = EvaluatorRegistry(source, frozenset({"answered_in_time"}))
    async with EvaluatorProcess(registry, day.context()) as process:
        result = await process.evaluate("answered_in_time", {"turns": 1})
    assert result == EvalResult(10, 10, "1 of 1 emails in time.")
