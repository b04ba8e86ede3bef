"""The process of evaluators: an evaluator that misbehaves has no result, and the others have theirs."""

import ast
import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from concord_assistant.evaluation.evaluator_process import EvaluatorError, EvaluatorProcess, Limits
from concord_assistant.scenario.evaluators import EvalResult, EvaluatorRegistry
from tests.unit.assistant.evaluation.days import BOB, Day
from tests.unit.assistant.evaluation.hostile_evaluators import BAD, GOOD, SOURCE

LIMITS = Limits(criterion_s=5)
SECRET = "a-secret-of-the-service"

Results = Mapping[str, EvalResult | str]


def registry(source: str, **modules: str) -> EvaluatorRegistry:
    """The evaluators in a source."""
    names = [node.name for node in ast.parse(source).body if isinstance(node, ast.AsyncFunctionDef)]
    return EvaluatorRegistry(source, frozenset(names), modules)


async def evaluated(evaluators: EvaluatorRegistry, names: list[str], limits: Limits = LIMITS) -> Results:
    """The results of evaluators in one process, or their errors."""
    day = Day()
    day.sends(BOB, "Late", "I am late.")
    found: dict[str, EvalResult | str] = {}
    async with EvaluatorProcess(evaluators, day.context(), limits=limits) as process:
        for name in names:
            try:
                found[name] = await process.evaluate(name, {"points": 2})
            except EvaluatorError as error:
                found[name] = str(error)
    return found


@pytest.fixture(scope="module")
def results() -> Results:
    """The results of all evaluators that misbehave, among others that do not, from one process."""
    os.environ["CONCORD_TEST_SECRET"] = SECRET
    try:
        return asyncio.run(evaluated(registry(SOURCE), ["first", *BAD, *GOOD[1:]]))
    finally:
        del os.environ["CONCORD_TEST_SECRET"]


@pytest.mark.parametrize("name", BAD)
def test_an_evaluator_that_misbehaves_has_an_error_that_says_how(results: Results, name: str) -> None:
    error = results[name]
    assert isinstance(error, str)
    with pytest.raises(EvaluatorError, match=BAD[name]):
        raise EvaluatorError(error)


@pytest.mark.parametrize("name", GOOD)
def test_the_others_have_their_results(results: Results, name: str) -> None:
    assert isinstance(results[name], EvalResult)


def test_an_evaluator_sees_no_environment_variables_and_an_empty_folder(results: Results) -> None:
    told = results["environment"]
    assert isinstance(told, EvalResult)
    assert SECRET not in told.explanation
    assert "evaluators-" in told.explanation


def test_an_evaluator_cannot_spoil_the_evidence_of_the_next(results: Results) -> None:
    assert results["last"] == EvalResult(2, 2, "1 ['calendar', 'chat', 'contacts', 'email', 'sms']")


def children() -> set[str]:
    """The process ids of this process's children."""
    listed = (task / "children" for task in Path("/proc/self/task").iterdir())
    return {pid for file in listed for pid in file.read_text(encoding="ascii").split()}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_no_process_is_left_of_a_cancelled_evaluation() -> None:
    before = children()
    async with EvaluatorProcess(registry(SOURCE), Day().context()) as process:
        assert isinstance(await process.evaluate("first", {}), EvalResult)
        hanging = asyncio.create_task(process.evaluate("hangs", {}))
        await asyncio.sleep(0)
        assert children() > before
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert children() == before
        assert isinstance(await process.evaluate("last", {}), EvalResult)
    assert children() == before


REFERENCE = """
from __future__ import annotations
from datetime import timedelta
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from src.common.agentbeats.results import ActionLogEntry
from src.green.scenarios.schema import AgentBeatsEvalContext, EvalResult

import _eval_helpers as helpers
import ground_truth as truth

async def sends(ctx: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    entries: list[ActionLogEntry] = [each for each in ctx.action_log if each.action == "email.send"]
    state = await ctx.client.email.get_state()
    now = await ctx.get_time() - timedelta(hours=1)
    sent = [each for each in state.emails.values() if each.from_address == state.user_email_address]
    told = f"{len(entries)} {len(sent)} {helpers.upper(truth.WORD)} {now.hour} {ctx.scenario_config.keys()}"
    return EvalResult(score=len(entries), max_score=params["points"], explanation=told)

async def queries(ctx, params):
    return await ctx.client.email.query(limit=1)

async def asks(ctx, params):
    return ctx.llm

async def bare(ctx, params):
    return EvalResult(1, 1, str((await ctx.get_state("email"))["user_email_address"]))
"""


async def test_evaluators_of_the_reference_layout_run_unedited() -> None:
    modules = {"_eval_helpers": "def upper(text): return text.upper()", "ground_truth": "WORD = 'late'"}
    found = await evaluated(registry(REFERENCE, **modules), ["sends", "queries", "asks", "bare"])
    assert found["sends"] == EvalResult(1, 2, "1 2 LATE 8 dict_keys(['characters'])")
    assert "get_state only, and not query" in str(found["queries"])
    assert "none is configured" in str(found["asks"])
    assert found["bare"] == EvalResult(1, 1, "mara@home.example")


ASKS = """
from langchain_core.messages import HumanMessage, SystemMessage
from src.green.scenarios.schema import EvalResult

async def asks(ctx, params):
    answer = await ctx.llm.ainvoke([SystemMessage(content="Be brief."), HumanMessage(content="Is it late?")])
    return EvalResult(1, 1, answer.content)

async def asks_on(ctx, params):
    while True: await ctx.llm.ainvoke("Is it late?")
"""


async def test_an_evaluator_may_ask_the_judges_model_a_limited_number_of_questions() -> None:
    asked = []

    async def answer(system: str, user: str) -> str:
        asked.append((system, user))
        return "It is."

    async with EvaluatorProcess(registry(ASKS), Day().context(), limits=LIMITS, ask_model=answer) as process:
        assert await process.evaluate("asks", {}) == EvalResult(1, 1, "It is.")
        assert asked == [("Be brief.", "Is it late?")]
        with pytest.raises(EvaluatorError, match="more than 200 questions"):
            await process.evaluate("asks_on", {})
        assert await process.evaluate("asks", {}) == EvalResult(1, 1, "It is.")


@pytest.mark.parametrize("source", ["def broken(:", "import nothing_like_it", "raise SystemExit(1)"])
async def test_a_source_that_cannot_be_loaded_is_an_error_of_each_evaluator(source: str) -> None:
    found = await evaluated(EvaluatorRegistry(source, frozenset({"first"})), ["first"])
    assert str(found["first"]).startswith(("SyntaxError", "ModuleNotFoundError", "SystemExit"))
