"""The cache of the model's answers to identical questions."""

import asyncio
import json
import logging
from hashlib import sha256
from typing import Final

from concord.errors import StorageUnavailableError
from concord.judging.transcript import Transcript
from concord.storage import AnswerCache

TIMEOUT_S: Final = 1.0
"""How long a cache operation may take. A cache hit saves only the seconds of asking the model."""

logger = logging.getLogger(__name__)


class CachedAnswers:
    """A cache of the answers of one model at one endpoint. An unreachable cache acts like an empty one."""

    def __init__(
        self,
        cache: AnswerCache | None = None,
        endpoint: str = "",
        model: str = "",
        transcript: Transcript | None = None,
    ) -> None:
        """`transcript`: records or replays the answers of the cache and of the model."""
        self.transcript = Transcript() if transcript is None else transcript
        self._cache = cache
        self._endpoint_and_model = (endpoint, model)

    def key(self, system: str, user: str, sample: int) -> str:
        """The key of a question: endpoint, model, prompt without the secrets, and the number of the sample."""
        asked = (*self._endpoint_and_model, system, user, sample)
        return sha256(json.dumps(asked).encode()).hexdigest()

    async def get(self, key: str) -> str | None:
        """The cached answer to a question, or None."""
        if self._cache is None:
            return None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._cache.get(key)
        except (StorageUnavailableError, TimeoutError) as error:
            logger.info("the cache of model answers is unavailable: %s", error)
            return None

    async def put(self, key: str, answer: str) -> None:
        """Stores an answer."""
        if self._cache is None:
            return
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._cache.put(key, answer)
        except (StorageUnavailableError, TimeoutError) as error:
            logger.info("the cache of model answers is unavailable: %s", error)
