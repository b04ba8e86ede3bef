"""The language model of the characters: the configured one, recorded on request, or a recording of one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from concord.llm import LLM, LLMSettings, llm_client


@asynccontextmanager
async def characters_model(
    settings: LLMSettings, record: Path | None = None, replay: Path | None = None
) -> AsyncIterator[LLM | None]:
    """The model that words the characters' replies, None without a key: characters are then rule-based.

    Raises OSError, RecordingError for a recording that cannot be replayed.
    """
    if replay is not None:
        from concord_assistant.characters.recording import ReplayedModel

        yield ReplayedModel(replay)
    elif not settings.available:
        yield None
    else:
        async with llm_client(settings) as client:
            yield client if record is None else _recorded(client, record)


def _recorded(client: LLM, record: Path) -> LLM:
    from concord_assistant.characters.recording import RecordedModel

    return RecordedModel(client, record)
