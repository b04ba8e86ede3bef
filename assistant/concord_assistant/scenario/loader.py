"""Loads scenarios from folders: `scenario.json`, `initial_state.json`, and optionally `evaluators.py` and an oracle."""

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from concord.files import read_bounded
from concord_assistant.evaluation.built_in import check_params, is_built_in
from concord_assistant.scenario.evaluators import EvaluatorRegistry
from concord_assistant.scenario.places import INITIAL_STATE_FILE, SCENARIO_FILE, place_of
from concord_assistant.scenario.schema import ScenarioConfig

EVALUATORS_FILE: Final = "evaluators.py"

MAX_BYTES: Final = {
    SCENARIO_FILE: 4 * 2**20,
    INITIAL_STATE_FILE: 16 * 2**20,
    EVALUATORS_FILE: 2**20,
}
"""Limits on the files. The environment accepts no larger initial state."""

MAX_MODULES: Final = 20
"""Modules beside `evaluators.py`."""

SHOWN_ERRORS: Final = 5


class ScenarioError(Exception):
    """A scenario cannot be loaded. The message names the file and the field."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A loaded scenario."""

    config: ScenarioConfig
    evaluators: EvaluatorRegistry


def load_scenario(folder: Path) -> Scenario:
    """Loads the scenario of a folder. Raises ScenarioError.

    `initial_state` in `scenario.json` is an object, or the name of a file in the folder, by default
    `initial_state.json`. The state is the body of the environment's `POST /scenario/import/full`, or only the
    `scenario` in it, as UES exports it.
    """
    document = _json(folder / SCENARIO_FILE, MAX_BYTES[SCENARIO_FILE])
    state_file, state = _initial_state(folder, document)
    document["initial_state"] = _import_body(folder, state_file, state)
    try:
        config = ScenarioConfig.model_validate(document)
    except ValidationError as error:
        raise ScenarioError(_reasons(folder, error)) from error
    registry = _evaluators(folder / EVALUATORS_FILE)
    if config.day is not None:
        return Scenario(config, registry)
    for number, criterion in enumerate(config.criteria):
        name = criterion.evaluator_id
        if name is not None and name not in registry.ids and not is_built_in(name):
            field = f"criteria[{number}].evaluator_id"
            why = f"{name!r} is neither built in nor a coroutine function of {EVALUATORS_FILE}"
            raise ScenarioError(f"{place_of(folder, field)}: {field}: {why}")
        if name not in registry.ids:
            try:
                check_params(criterion)
            except ValueError as error:
                field = f"criteria[{number}].params"
                raise ScenarioError(f"{place_of(folder, field)}: {field}: {error}") from error
    return Scenario(config, registry)


def scenario_folders(folder: Path) -> dict[str, Path]:
    """The folders below `folder` that have a `scenario.json`, by name, sorted."""
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{SCENARIO_FILE}"))}


def _initial_state(folder: Path, document: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """The initial state, and the file that has it."""
    given = document.get("initial_state", INITIAL_STATE_FILE)
    if isinstance(given, dict):
        return folder / SCENARIO_FILE, given
    if not isinstance(given, str) or Path(given).name != given:
        raise ScenarioError(
            f"{folder / SCENARIO_FILE}: initial_state: is neither an object nor the name of a file in the folder"
        )
    return folder / given, _json(folder / given, MAX_BYTES[INITIAL_STATE_FILE])


def _import_body(folder: Path, file: Path, state: dict[str, Any]) -> dict[str, Any]:
    """The state as the body of an import. A modality that it lacks is empty in the environment, as in UES."""
    body = state if "scenario" in state else {"scenario": state}
    try:
        states = body["scenario"]["environment"]["modality_states"]
    except (KeyError, TypeError) as error:
        raise ScenarioError(f"{file}: has no scenario.environment.modality_states") from error
    if not isinstance(states, dict):
        raise ScenarioError(f"{file}: scenario.environment.modality_states: is not a JSON object")
    _check_events(folder, body["scenario"].get("events"))
    return body


def _check_events(folder: Path, events: object) -> None:
    """Raises ScenarioError if the events of the day have another form than the environment's."""
    field = "initial_state.events"
    if events is None:
        return
    listed = events.get("events") if isinstance(events, dict) else None
    if not isinstance(listed, list):
        why = 'is not an object with a list: {"events": […]}'
        raise ScenarioError(f"{place_of(folder, field)}: {field}: {why}")
    for number, event in enumerate(listed):
        if not isinstance(event, dict):
            field = f"initial_state.events[{number}]"
            raise ScenarioError(f"{place_of(folder, field)}: {field}: is not a JSON object")


def _evaluators(file: Path) -> EvaluatorRegistry:
    """The evaluators of a file, without executing it: its public coroutine functions with two parameters.

    The other modules of the folder come with them, because the file may import them.
    """
    if not file.exists():
        return EvaluatorRegistry()
    others = sorted(each for each in file.parent.glob("*.py") if each != file)
    if len(others) > MAX_MODULES:
        raise ScenarioError(f"{file.parent}: has more than {MAX_MODULES} modules beside {EVALUATORS_FILE}")
    modules = {each.stem: _source(each)[0] for each in others}
    source, module = _source(file)
    functions = [node for node in module.body if isinstance(node, ast.AsyncFunctionDef)]
    return EvaluatorRegistry(source, frozenset(each.name for each in functions if _is_evaluator(each)), modules)


def _source(file: Path) -> tuple[str, ast.Module]:
    source = _text(file, MAX_BYTES[EVALUATORS_FILE])
    try:
        return source, ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise ScenarioError(f"{file}{'' if line is None else f':{line}'}: is not Python: {error}") from error


def _is_evaluator(function: ast.AsyncFunctionDef) -> bool:
    parameters = len(function.args.posonlyargs) + len(function.args.args)
    return not function.name.startswith("_") and parameters >= 2


def _json(file: Path, max_bytes: int) -> dict[str, Any]:
    try:
        document = json.loads(_text(file, max_bytes))
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{file}: is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ScenarioError(f"{file}: is not a JSON object")
    return document


def _text(file: Path, max_bytes: int) -> str:
    try:
        return read_bounded(file, max_bytes).decode()
    except OSError as error:
        raise ScenarioError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{file}: is not UTF-8: {error}") from error


def _reasons(folder: Path, error: ValidationError) -> str:
    faults = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        field = _field(fault["loc"])
        faults.append(f"{place_of(folder, field)}: {field}: {fault['msg'].removeprefix('Value error, ')}")
    more = f" (and {len(faults) - SHOWN_ERRORS} more)" if len(faults) > SHOWN_ERRORS else ""
    return "; ".join(faults[:SHOWN_ERRORS]) + more


def _field(location: tuple[int | str, ...]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".") or "scenario"
