"""The program of the process that runs a scenario's evaluators. Standard library only.

It reads one JSON document a line from its standard input and writes one a line to its standard output: first the
set-up, then a question for each criterion. `evaluator_process.py` is the other side.
"""

import asyncio
import dataclasses
import importlib.abc
import importlib.machinery
import importlib.util
import json
import linecache
import os
import sys
import traceback
import types
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

HERE: Final = Path(__file__).resolve().parent
MAIN: Final = "evaluators"
MAX_EXPLANATION: Final = 4000


class View(dict[str, Any]):
    """A JSON object whose fields are attributes too."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - JSON
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no field {name!r}") from None


@dataclasses.dataclass(slots=True)
class ActionLogEntry:
    """An action of the assistant."""

    turn: int
    timestamp: datetime
    action: str
    parameters: dict[str, Any]
    success: bool
    error_message: str | None = None


class Message:
    """A message of a prompt."""

    def __init__(self, content: str = "", **_: Any) -> None:  # noqa: ANN401 - any options
        self.content = content


class SystemMessage(Message):
    """Instructions."""


class HumanMessage(Message):
    """A question."""


class AIMessage(Message):
    """An answer."""


class Channel:
    """The pipes to the process that asks."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests = requests
        self._answers = answers

    def read(self) -> dict[str, Any] | None:
        """The next document, or None at the end."""
        line = self._requests.readline()
        return json.loads(line, object_hook=View) if line else None

    def write(self, document: Mapping[str, Any]) -> None:
        """Sends a document."""
        self._answers.write(json.dumps(document, default=str).encode() + b"\n")
        self._answers.flush()


class Model:
    """The judge's language model, as evaluators for LangChain call it."""

    def __init__(self, channel: Channel, nonce: str) -> None:
        self._channel = channel
        self._nonce = nonce

    async def ainvoke(self, messages: object) -> AIMessage:
        """The model's answer to a text or to a list of messages. Raises RuntimeError if there is none."""
        given = messages if isinstance(messages, Sequence) and not isinstance(messages, str) else [messages]
        parts: dict[bool, list[str]] = {True: [], False: []}
        for each in given:
            parts[isinstance(each, SystemMessage)].append(str(getattr(each, "content", each)))
        self._channel.write(
            {"nonce": self._nonce, "ask": {"system": "\n\n".join(parts[True]), "user": "\n\n".join(parts[False])}}
        )
        answer = self._channel.read()
        if answer is None or answer.get("text") is None:
            raise RuntimeError(f"the model gave no answer: {(answer or {}).get('error')}")
        return AIMessage(answer["text"])


class Client:
    """Read access to the final state, in the place of the environment's client."""

    def __init__(self, states: Mapping[str, Any], final_time: datetime) -> None:
        self._states = states
        self.time = Reader("time", View(current_time=final_time))

    def __getattr__(self, name: str) -> "Reader":
        if name not in self._states:
            raise AttributeError(f"an evaluator has no environment to call; ctx.client.{name} is not available")
        return Reader(name, self._states[name])


class Reader:
    """The state of one modality."""

    def __init__(self, name: str, state: Any) -> None:  # noqa: ANN401 - JSON
        self._name = name
        self._state = state

    async def get_state(self) -> Any:  # noqa: ANN401 - JSON
        """The final state."""
        return self._state

    def __getattr__(self, call: str) -> Any:  # noqa: ANN401 - never returns
        raise AttributeError(f"ctx.client.{self._name} has get_state only, and not {call}: the environment has ended")


class Sources(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the scenario's modules from their sources."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:  # noqa: ANN401
        """The specification of one of the modules."""
        return importlib.machinery.ModuleSpec(name, self) if name in self._sources else None

    def exec_module(self, module: types.ModuleType) -> None:
        """Runs a module."""
        # This process exists to run them.
        source, file = self._sources[module.__name__], f"{module.__name__}.py"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102  # nosec B102


def main() -> None:
    """Answers questions until the input ends."""
    channel = _channel()
    setup = channel.read()
    if setup is None:
        return
    contract = _load("concord_assistant.scenario.evaluators", HERE.parent / "scenario" / "evaluators.py")
    _offer_aliases(contract)
    loop = asyncio.new_event_loop()
    sys.meta_path.insert(0, Sources({**setup["modules"], MAIN: setup["source"]}))
    context = json.dumps(setup["context"])
    channel.write({"nonce": setup["nonce"]})
    while (question := channel.read()) is not None:
        nonce = question["nonce"]
        try:
            result = _evaluate(loop, contract, context, question, channel, model=setup["model"])
        except BaseException as error:
            result = {"error": _described(error)}
        try:
            channel.write({**result, "nonce": nonce})
        except (TypeError, ValueError, RecursionError, MemoryError) as error:
            channel.write({"error": f"the result is not JSON: {error}"[:MAX_EXPLANATION], "nonce": nonce})


def _channel() -> Channel:
    """The pipes, moved away from the standard streams, so that nothing printed gets into them."""
    channel = Channel(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return channel


def _evaluate(
    loop: asyncio.AbstractEventLoop,
    contract: Any,  # noqa: ANN401 - the module of the interface
    context: str,
    question: Mapping[str, Any],
    channel: Channel,
    *,
    model: bool,
) -> dict[str, Any]:
    evaluator = getattr(importlib.import_module(MAIN), question["evaluator_id"])
    given = _context(contract, json.loads(context, object_hook=View), channel, question["nonce"], model=model)
    try:
        result = loop.run_until_complete(evaluator(given, question["params"]))
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
    if not isinstance(result, contract.EvalResult):
        raise TypeError(f"the evaluator returned {type(result).__name__} and no EvalResult")
    return {
        "score": result.score,
        "max_score": result.max_score,
        "explanation": str(result.explanation)[:MAX_EXPLANATION],
        "details": result.details,
    }


def _context(contract: Any, given: View, channel: Channel, nonce: str, *, model: bool) -> Any:  # noqa: ANN401
    final_time = datetime.fromisoformat(given["final_time"])

    class Context(contract.AgentBeatsEvalContext):  # type: ignore[misc]
        """The evidence, with stand-ins for a client of the environment and for a model."""

        client = Client(given["final_state"], final_time)

        @property
        def llm(self) -> Model:
            """The model."""
            if not model:
                raise RuntimeError("the evaluator asks a language model, and none is configured")
            return Model(channel, nonce)

    log = [
        ActionLogEntry(**{**each, "timestamp": datetime.fromisoformat(each["timestamp"])})
        for each in given["action_log"]
    ]
    return Context(**{**given, "action_log": log, "final_time": final_time})


def _described(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(str(HERE))]
    at = next(
        (f" ({frame.filename}, line {frame.lineno})" for frame in reversed(frames) if "/" not in frame.filename), ""
    )
    return f"{type(error).__name__}: {error}"[: MAX_EXPLANATION - len(at)] + at


def _load(name: str, file: Path) -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _offer_aliases(contract: Any) -> None:  # noqa: ANN401 - a module
    """Makes the modules importable that evaluators import: ours, and those of the layout of ues-agentbeats."""
    interface = {name: value for name, value in vars(contract).items() if not name.startswith("__")}
    messages = {"HumanMessage": HumanMessage, "SystemMessage": SystemMessage, "AIMessage": AIMessage}
    for name, content in (
        ("concord_assistant.scenario.evaluators", interface),
        ("concord_assistant.results", {"ActionLogEntry": ActionLogEntry}),
        ("src.green.scenarios.schema", interface),
        ("src.common.agentbeats.results", {"ActionLogEntry": ActionLogEntry}),
        ("langchain_core.messages", messages),
        ("langchain_core.language_models.chat_models", {"BaseChatModel": Model}),
        ("langchain_core.language_models", {"BaseChatModel": Model}),
    ):
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            package = ".".join(parts[:end])
            if package not in sys.modules:
                module = types.ModuleType(package)
                module.__path__ = []
                sys.modules[package] = module
        vars(sys.modules[name]).update(content)


if __name__ == "__main__":
    main()
