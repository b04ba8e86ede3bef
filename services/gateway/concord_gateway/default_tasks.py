"""The shipped tasks, used where a request brings none, so that the platform's bare request works."""

from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from concord.assessment import TaskSpec


@cache
def default_tasks() -> list[TaskSpec]:
    """The tasks of `default_tasks.json`."""
    return TypeAdapter(list[TaskSpec]).validate_json(files(__package__).joinpath("default_tasks.json").read_bytes())
