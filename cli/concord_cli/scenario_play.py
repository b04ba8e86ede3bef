"""Concord's own assistants in this process, through the interface by which the green agent speaks to any assistant."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from concord_environment_client import UESClientError

from concord.a2a import Answer, TaskState
from concord_assistant.messages import Message
from concord_purple.assistant.agent import Assistant, AssistantAgent, ProtocolError
from concord_purple.assistant.oracle import OracleError
from concord_purple.assistant.rules.planner import RuleAssistant
from concord_purple.assistant.unfit import DumpAssistant, NullAssistant, ReadOnlyAssistant

UNFIT: Final[dict[str, Callable[[], Assistant]]] = {
    "null": NullAssistant,
    "dump": DumpAssistant,
    "read_only": ReadOnlyAssistant,
}
RULES: Final = RuleAssistant

_CONTEXT: Final = "context"


@dataclass(slots=True)
class AssistantInProcess:
    """A `PurpleClient` whose assistant is in this process. `errors` has what made turns fail."""

    new_assistant: Callable[[], Assistant]
    url: str = "in-process"
    errors: list[str] = field(default_factory=list)
    _agent: AssistantAgent = field(init=False)

    def __post_init__(self) -> None:
        self._agent = AssistantAgent(self.new_assistant)

    async def send(self, message: Message) -> Answer:
        """The assistant's answer, a failed task if the assistant raises."""
        try:
            reply = await self._agent.receive(message.data(), _CONTEXT)
        except (OracleError, ProtocolError, UESClientError) as error:
            self.errors.append(f"{type(error).__name__}: {error}")
            return _answer(TaskState.FAILED, self.errors[-1])
        return _answer(TaskState.COMPLETED, "", reply)


def _answer(state: TaskState, text: str, *data: dict[str, object]) -> Answer:
    return Answer(
        state=state,
        text=text,
        status_text=text,
        text_parts=(),
        data_parts=data,  # type: ignore[arg-type]  # JSON
        artifacts=len(data),
        is_task=True,
        task_id="task",
        context_id=_CONTEXT,
    )
