"""The services of one stack agree on what signs tokens, configured or not."""

import asyncio
import time

import pytest
from pydantic import SecretStr

from concord.storage import StorageUnavailableError
from concord.storage.redis import connect
from concord.trust.token_keys import TokenKeys
from concord.trust.tokens import Claims, TokenRejectedError
from tests.redis_servers import PrivateServer

CONFIGURED = SecretStr("x" * 32)


def claims() -> Claims:
    return Claims("a1", "t1", "writer", time.time() + 60)


async def test_two_services_of_one_redis_agree_without_being_configured(redis_url: str) -> None:
    async with connect(redis_url) as here, connect(redis_url) as there:
        ours, theirs = (TokenKeys(SecretStr(""), storage.secrets.token_secret) for storage in (here, there))
        issuer, other = await asyncio.gather(ours.issuer(), theirs.issuer())
        for token_keys, signer in ((ours, other), (theirs, issuer)):
            token = signer.issue(claims()).get_secret_value()
            assert (await token_keys.verify(token)).agent_id == "writer"


async def test_a_secret_that_redis_lost_is_replaced_and_the_new_one_found(redis_url: str) -> None:
    async with connect(redis_url) as storage:
        gateway, collector = (TokenKeys(SecretStr(""), storage.secrets.token_secret) for _ in range(2))
        old = (await gateway.issuer()).issue(claims()).get_secret_value()
        await collector.verify(old)
        await storage.redis.flushall()
        new = (await gateway.issuer()).issue(claims()).get_secret_value()
        collector._asked_at = float("-inf")  # a second has passed
        assert (await collector.verify(new)).agent_id == "writer"
        with pytest.raises(TokenRejectedError):
            await collector.verify(old)


async def test_strange_tokens_do_not_make_it_ask_redis_each_time(redis_url: str) -> None:
    async with connect(redis_url) as storage:
        asked = 0

        async def shared() -> str:
            nonlocal asked
            asked += 1
            return await storage.secrets.token_secret()

        token_keys = TokenKeys(SecretStr(""), shared)
        for _ in range(20):
            with pytest.raises(TokenRejectedError):
                await token_keys.verify("nonsense")
        assert asked == 1


async def test_with_a_configured_secret_redis_is_not_asked(private_redis: PrivateServer) -> None:
    async with connect(private_redis.url, retry_s=0) as storage:
        private_redis.stop()
        token_keys = TokenKeys(CONFIGURED, storage.secrets.token_secret)
        token = (await token_keys.issuer()).issue(claims()).get_secret_value()
        assert (await token_keys.verify(token)).agent_id == "writer"
        with pytest.raises(TokenRejectedError):
            await token_keys.verify("nonsense")
        with pytest.raises(StorageUnavailableError):
            await TokenKeys(SecretStr(""), storage.secrets.token_secret).verify(token)
