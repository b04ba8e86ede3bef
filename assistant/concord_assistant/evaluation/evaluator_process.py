"""The process that runs the evaluators of a scenario, one criterion after the other, and is killed after its time."""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult, EvaluatorRegistry

_PROGRAM: Final = Path(__file__).with_name("evaluator_child.py")

END_S: Final = 5.0
"""How long the end of a killed process is awaited."""

MAX_QUESTIONS: Final = 200
"""Questions to the model that an evaluator may ask about one criterion."""

AskModel = Callable[[str, str], Awaitable[str]]
"""Sends a system and a user text to a model; returns its answer. Any error is the answer's."""


class EvaluatorError(Exception):
    """An evaluator gave no valid result. The message says why."""


class _UnusableProcessError(EvaluatorError):
    """The process ended, or cannot be asked further questions."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an evaluator may use. Time spent on the model's answers does not count."""

    criterion_s: float = 10.0
    start_s: float = 30.0
    output_bytes: int = 64 * 1024
    """Of the result of one criterion."""


class _Result(BaseModel):
    """A result as an evaluator may give it."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    nonce: str
    score: float = Field(ge=0)
    max_score: float = Field(gt=0)
    explanation: str
    details: dict[str, Any] | None

    @model_validator(mode="after")
    def _within_max(self) -> Self:
        if self.score > self.max_score:
            raise ValueError(f"score {self.score:g} exceeds max_score {self.max_score:g}")
        return self


class EvaluatorProcess:
    """The evaluators of one scenario over one context. A process that dies or hangs is replaced for the next criterion.

    The process has no environment variables and an empty working folder. It protects from accidents, not from malice:
    clients cannot send scenarios, so that evaluators are the operator's own code.
    """

    def __init__(
        self,
        registry: EvaluatorRegistry,
        context: AgentBeatsEvalContext,
        *,
        limits: Limits | None = None,
        ask_model: AskModel | None = None,
    ) -> None:
        self._registry = registry
        self._limits = limits or Limits()
        self._ask_model = ask_model
        self._context = context
        self._process: asyncio.subprocess.Process | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()
        if self._folder is not None:
            self._folder.cleanup()

    async def evaluate(self, evaluator_id: str, params: Mapping[str, Any]) -> EvalResult:
        """The result of one evaluator. Raises EvaluatorError."""
        if evaluator_id not in self._registry.ids:
            raise EvaluatorError(f"the scenario has no evaluator {evaluator_id!r}")
        usable = False
        try:
            result = await self._evaluate(evaluator_id, params)
            usable = True
            return result
        except _UnusableProcessError:
            raise
        except EvaluatorError:
            usable = True
            raise
        except TimeoutError:
            raise EvaluatorError(f"no result within {self._limits.criterion_s:g} s") from None
        except (OSError, ValueError) as error:
            raise EvaluatorError(f"the evaluator's process ended or wrote no JSON: {error}") from error
        finally:
            if not usable:
                await self._end()

    async def _evaluate(self, evaluator_id: str, params: Mapping[str, Any]) -> EvalResult:
        process = await self._started()
        nonce = secrets.token_hex(16)
        question = {"nonce": nonce, "evaluator_id": evaluator_id, "params": dict(params)}
        await self._send(process, json.dumps(question), self._limits.criterion_s)
        for _ in range(MAX_QUESTIONS):
            answer = await self._answer(process, nonce, self._limits.criterion_s)
            if (asked := answer.get("ask")) is None:
                return _result(answer)
            await self._send(process, json.dumps(await self._from_model(asked)), self._limits.criterion_s)
        raise _UnusableProcessError(f"the evaluator asked the model more than {MAX_QUESTIONS} questions")

    async def _answer(self, process: asyncio.subprocess.Process, nonce: str, timeout_s: float) -> dict[str, Any]:
        if process.stdout is None:
            raise _UnusableProcessError("the process has no output")
        async with asyncio.timeout(timeout_s):
            try:
                line = await process.stdout.readuntil()
            except asyncio.IncompleteReadError:
                raise _UnusableProcessError(f"the evaluator's process ended{await _status(process)}") from None
            except asyncio.LimitOverrunError:
                raise _UnusableProcessError(f"the result is longer than {self._limits.output_bytes} bytes") from None
        answer = json.loads(line)
        if not isinstance(answer, dict) or answer.get("nonce") != nonce:
            raise _UnusableProcessError("the evaluator wrote into the pipe of the results")
        return answer

    async def _from_model(self, asked: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        if self._ask_model is None or not isinstance(asked, dict):
            return {"error": "no language model is configured"}
        try:
            return {"text": await self._ask_model(str(asked.get("system", "")), str(asked.get("user", "")))}
        except Exception as error:
            return {"error": str(error)}

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is not None:
            return self._process
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="evaluators-")
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-B", str(_PROGRAM)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self._folder.name,
            env={},
            start_new_session=True,
            limit=self._limits.output_bytes,
        )
        nonce = secrets.token_hex(16)
        setup = _setup(self._registry, self._context)
        document = json.dumps({**setup, "nonce": nonce, "model": self._ask_model is not None}, default=str)
        await self._send(process, document, self._limits.start_s)
        await self._answer(process, nonce, self._limits.start_s)
        return process

    async def _send(self, process: asyncio.subprocess.Process, document: str, timeout_s: float) -> None:
        if process.stdin is None:
            raise _UnusableProcessError("the process has no input")
        process.stdin.write(document.encode() + b"\n")
        async with asyncio.timeout(timeout_s):
            await process.stdin.drain()

    async def _end(self) -> None:
        """Kills the process and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # A pipe that is not read to its end would keep the process's transport open, and the wait would not end.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                await process.communicate()


def _setup(registry: EvaluatorRegistry, context: AgentBeatsEvalContext) -> dict[str, Any]:
    """What the process needs to know before its first question."""
    return {
        "source": registry.source,
        "modules": dict(registry.modules),
        "context": {
            "scenario_config": dict(context.scenario_config),
            "action_log": [entry.model_dump(mode="json") for entry in context.action_log],
            "initial_state": context.initial_state,
            "final_state": context.final_state,
            "user_prompt": context.user_prompt,
            "final_time": context.final_time.isoformat(),
            "turns_taken": context.turns_taken,
            "other_events": context.other_events,
        },
    }


async def _status(process: asyncio.subprocess.Process) -> str:
    code = await process.wait()
    return f" by signal {-code}" if code < 0 else f" with status {code}"


def _result(answer: dict[str, Any]) -> EvalResult:
    if (told := answer.get("error")) is not None:
        raise EvaluatorError(str(told))
    try:
        result = _Result.model_validate(answer)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise EvaluatorError(f"{'.'.join(map(str, fault['loc'])) or 'result'}: {fault['msg']}") from error
    return EvalResult(result.score, result.max_score, result.explanation, result.details)
