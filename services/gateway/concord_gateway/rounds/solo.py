"""The solo control: one agent gets all briefs of a task, and answers alone."""

import json
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from concord.json_text import NoJsonError, json_in
from concord.suite import SuiteTask

SEVERAL = (
    'Answer for all of them: "answer" is a JSON object from the name of each seat to the answer that it would give.'
)


def solo_task(task: SuiteTask, agent: str) -> SuiteTask:
    """A task as one agent gets it: alone, with all briefs."""
    briefs = "\n\n".join(f"{seat} knows:\n{brief}" for seat, brief in task.briefs.items())
    question = task.question if len(task.answerers) == 1 else f"{task.question} {SEVERAL}"
    return replace(
        task,
        neighbours={agent: ()},
        briefs={agent: f"You have the briefs of all {len(task.seats)} seats.\n\n{briefs}"},
        question=question,
        answerers=(agent,),
    )


def answers_by_seat(task: SuiteTask, answer: JsonValue) -> Mapping[str, JsonValue]:
    """The answers of the task's own seats in the answer of one agent that was alone."""
    if len(task.answerers) == 1:
        return {task.answerers[0]: answer}
    if isinstance(answer, str):
        try:
            answer = json_in(answer)
        except NoJsonError:
            return {}
    if not isinstance(answer, dict):
        return {}
    return {seat: answer[seat] for seat in task.answerers if answer.get(seat) is not None}


def as_text(answer: JsonValue) -> str:
    """An answer as the row holds it."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
