"""`python -m concord_purple.seat`: a language model in the seats of team tasks, in rounds.

The reference for what a model does without a framework: one request for each turn, and no memory, since a turn's text
holds all that its seat needs. The model is the one that `AGENTBEATS_LLM_*` names.
"""

import logging
from typing import Any, Final

from fastapi import FastAPI

from concord.a2a import AgentProfile, IncomingMessage, Skill, TaskHandle
from concord.agent.reporter import TraceReporter
from concord.llm import NO_KEY, EmptyCompletionError, LLMClient, LLMSettings, LLMUnavailableError
from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve
from concord.version import VERSION
from concord.wire.assignment import Assignment
from concord_purple.agent_app import agent_app

logger = logging.getLogger(__name__)

MAX_TOKENS: Final = 2_000
"""Tokens of a reply, by default. Models that think before they answer need most of them for that."""

SYSTEM: Final = (
    "You take one seat of a team. Each message tells you all that your seat knows, and in which form to reply. "
    "Tell the other seats what they need, and answer when you can."
)


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


REPLY_SCHEMA: Final = _object(
    messages={"type": "array", "items": _object(to={"type": "string"}, text={"type": "string"})},
    answer={"type": ["string", "null"]},
)
"""The form of a reply in rounds. The answer is text, since a strict schema has no place for any JSON value."""


class ModelSeat:
    """Replies to each turn with one completion. A turn without one ends as a failed task that says why."""

    def __init__(self, llm: LLMClient, *, schema: bool, max_tokens: int) -> None:
        self._llm = llm
        self._schema = REPLY_SCHEMA if schema else None
        self._max_tokens = max_tokens

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """Serves one turn."""
        try:
            said = await self._llm.complete(
                SYSTEM,
                message.text,
                assignment=Assignment.from_metadata(message.metadata),
                max_tokens=self._max_tokens,
                schema=self._schema,
            )
        except EmptyCompletionError:
            await task.complete("")
        except LLMUnavailableError as error:
            logger.warning("a turn without a reply: %s", error)
            await task.fail(f"The language model gave no reply: {error}")
        else:
            await task.complete(said.text)


def create_app(url: str, settings: LLMSettings, *, schema: bool = True, max_tokens: int = MAX_TOKENS) -> FastAPI:
    """The seats as an ASGI app; `url` stands in the card. Model calls are reported as steps, with their tokens."""
    reporter = TraceReporter()
    llm = LLMClient(settings, reporter.report)

    skill = Skill("seats", "Seats", "Takes seats of a team in tasks in rounds.", ("model",))
    profile = AgentProfile(
        name=settings.model,
        description="A language model, asked once for each turn.",
        version=VERSION,
        url=url,
        skills=(skill,),
    )
    return agent_app(
        "Concord model seat",
        profile,
        ModelSeat(llm, schema=schema, max_tokens=max_tokens),
        llm.close,
        reporter.aclose,
    )


def main() -> None:
    """Reads the arguments, and serves until stopped."""
    parser = address_parser("concord_purple.seat", "A language model in the seats of team tasks (AGENTBEATS_LLM_*).")
    parser.add_argument("--card-url", help="URL in the agent's card: where others reach it")
    parser.add_argument("--max-tokens", type=int, default=MAX_TOKENS, help="tokens of a reply")
    parser.add_argument("--no-schema", action="store_true", help="ask for JSON in words only, not by a schema")
    arguments = parser.parse_args()
    settings = LLMSettings()
    if not settings.available:
        raise SystemExit(f"concord_purple.seat: {NO_KEY}")
    configure_logging("model seat")
    url = arguments.card_url or f"http://{arguments.host}:{arguments.port}/"
    app = create_app(url, settings, schema=not arguments.no_schema, max_tokens=arguments.max_tokens)
    serve(app, arguments.host, arguments.port)


if __name__ == "__main__":
    main()
