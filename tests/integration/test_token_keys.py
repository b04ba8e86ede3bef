"""Token keys: the services of one stack agree on the secret that signs tokens, configured or shared through Redis."""

import asyncio
import time

import pytest
from pydantic import SecretStr

from concord.errors import StorageUnavailableError
from concord.storage.connection import Storage, connect
from concord.trust.tokens import Claims, TokenKeys, TokenRejectedError
from tests.kit.redis_servers import PrivateServer

CONFIGURED = SecretStr("x" * 32)


def claims() -> Claims:
    return Claims("a1", "t1", "writer", time.time() + 60)


def token_keys_of(storage: Storage) -> TokenKeys:
    """Those of a service without a configured secret."""
    return TokenKeys(SecretStr(""), storage.secrets.token_secret, storage.now)


async def test_services_that_share_a_redis_agree_on_a_secret_without_configuration(redis_url: str) -> None:
    async with connect(redis_url) as here, connect(redis_url) as there:
        our_keys, their_keys = (token_keys_of(storage) for storage in (here, there))
        issuer, other = await asyncio.gather(our_keys.issuer(), their_keys.issuer())
        for token_keys, signer in ((our_keys, other), (their_keys, issuer)):
            token = signer.issue(claims()).get_secret_value()
            assert (await token_keys.verify(token)).agent_id == "writer"


async def test_a_secret_lost_with_redis_is_replaced_in_every_service(redis_url: str) -> None:
    async with connect(redis_url) as storage:
        gateway, collector = (token_keys_of(storage) for _ in range(2))
        old = (await gateway.issuer()).issue(claims()).get_secret_value()
        await collector.verify(old)
        await storage.redis.flushall()
        gateway._fetched_at = float("-inf")  # as if a second had passed
        new = (await gateway.issuer()).issue(claims()).get_secret_value()
        collector._asked_at = float("-inf")  # as if another second had passed
        assert (await collector.verify(new)).agent_id == "writer"
        with pytest.raises(TokenRejectedError):
            await collector.verify(old)


async def test_invalid_tokens_do_not_each_cause_a_request_to_redis(redis_url: str) -> None:
    async with connect(redis_url) as storage:
        asked = 0

        async def shared() -> str:
            nonlocal asked
            asked += 1
            return await storage.secrets.token_secret()

        token_keys = TokenKeys(SecretStr(""), shared, storage.now)
        for _ in range(20):
            with pytest.raises(TokenRejectedError):
                await token_keys.verify("nonsense")
        assert asked == 1


async def test_with_a_configured_secret_a_lost_redis_is_not_missed(private_redis: PrivateServer) -> None:
    async with connect(private_redis.url, retry_s=0) as storage:
        await storage.now()  # the last that Redis tells
        private_redis.stop()
        token_keys = TokenKeys(CONFIGURED, storage.secrets.token_secret, storage.now)
        token = (await token_keys.issuer()).issue(claims()).get_secret_value()
        assert (await token_keys.verify(token)).agent_id == "writer"
        with pytest.raises(TokenRejectedError):
            await token_keys.verify("nonsense")
        with pytest.raises(StorageUnavailableError):
            await token_keys_of(storage).verify(token)
