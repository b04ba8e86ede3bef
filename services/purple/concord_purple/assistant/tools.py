"""The tools of an assistant: the calls of the environment that an assistant's key permits, as its client declares them.

The oracle and the model use the same tools.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from concord_environment_client import AsyncUESClient
from concord_environment_client.endpoints import Endpoint
from concord_environment_client.modalities import MODALITIES
from concord_environment_client.operations import ModalityCalls, Operation, Schema


@dataclass(frozen=True, slots=True)
class Tool:
    """A call of the environment: its name, what it does, and the JSON schema of its arguments.

    `action`: its name in the action log, None for a tool that only reads. `defaults`: arguments of every call.
    """

    name: str
    description: str
    endpoint: Endpoint[Any]
    schema: Schema
    action: str | None
    defaults: Mapping[str, Any]

    async def __call__(self, ues: AsyncUESClient, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Calls the environment. Returns the response as JSON. Raises UESClientError."""
        response = await ues.send(self.endpoint.request({**self.defaults, **arguments}))
        return response.model_dump(mode="json") if isinstance(response, BaseModel) else response


def tools_of(modalities: Iterable[type[ModalityCalls[Any]]]) -> Iterator[Tool]:
    """A tool for each call of these modalities that an assistant may make."""
    for modality in modalities:
        for name, call in modality.tools():
            if (declared := call.tool) is not None:
                schema = {
                    "type": "object",
                    "properties": {**declared.needs, **declared.takes},
                    "required": list(declared.needs),
                    "additionalProperties": False,
                }
                action = f"{modality.name}.{call.name}" if isinstance(call, Operation) else None
                yield Tool(name, declared.description, call, schema, action, declared.defaults)


TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for tool in tools_of(MODALITIES)}

ACTIONS: Final[Mapping[str, Tool]] = {tool.action: tool for tool in TOOLS.values() if tool.action is not None}
"""The tools that act, by their names in the action log."""


def openai_tools(tools: Iterable[Tool] = TOOLS.values()) -> list[dict[str, Any]]:
    """The tools as OpenAI's protocol declares them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in tools
    ]
