"""Answers that the model gave before to the very same question."""

import asyncio
import json
import logging
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from concord.storage import AnswerCache, StorageUnavailableError
from concord_evaluator.judge.evidence import Evidence
from concord_evaluator.judge.prompt import write_prompt

PATIENCE_S: Final = 1.0
"""How long a cache may take: asking the model takes seconds, and that is all that it could save."""

logger = logging.getLogger(__name__)


class CachedAnswers:
    """A cache of the answers of one model at one endpoint. Where it cannot be reached, nothing is remembered."""

    def __init__(self, cache: AnswerCache | None = None, endpoint: str = "", model: str = "") -> None:
        self._cache = cache
        self._asked_of = (endpoint, model)

    def key(self, evidence: Evidence, figures: Sequence[str], sample: int) -> str:
        """Names a question: endpoint, model, prompt and evidence as they are sent, but for the secrets; the sample."""
        prompt = write_prompt(evidence, figures, delimiter="", code_word="")
        asked = (*self._asked_of, prompt.system, prompt.user, sample)
        return sha256(json.dumps(asked).encode()).hexdigest()

    async def recall(self, key: str) -> str | None:
        """The answer to a question, or None."""
        if self._cache is None:
            return None
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._cache.get(key)
        except (StorageUnavailableError, TimeoutError) as error:
            logger.info("no cache of answers: %s", error)
            return None

    async def keep(self, key: str, answer: str) -> None:
        """Remembers an answer for a time."""
        if self._cache is None:
            return
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._cache.put(key, answer)
        except (StorageUnavailableError, TimeoutError) as error:
            logger.info("no cache of answers: %s", error)
