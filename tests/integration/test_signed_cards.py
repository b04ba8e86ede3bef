"""Signed agent cards: the SDK's verifier accepts the served card, with the key from the agent's own key set."""

import stat
from pathlib import Path

import httpx
import pytest
from a2a.types import a2a_pb2 as pb
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.json_format import ParseDict
from jwt import PyJWK, PyJWKSet

from concord.a2a.card_signing import ALGORITHM, read_card_key
from concord.wire.roster import CARD_PATH
from tests.integration.verify.test_signature import pem
from tests.kit.stack import gateway


async def _served_card(url: str) -> tuple[pb.AgentCard, PyJWKSet, str]:
    """The card, its key set, and the key set's URL as the signature states it."""
    stated: list[str] = []
    async with httpx.AsyncClient(base_url=url) as http:
        document = (await http.get(CARD_PATH)).json()
        card = ParseDict(document, pb.AgentCard(), ignore_unknown_fields=True)
        keys = PyJWKSet.from_dict((await http.get("/.well-known/jwks.json")).raise_for_status().json())

    def key_of(kid: str | None, jku: str | None) -> PyJWK:
        stated.append(str(jku))
        return keys[str(kid)]

    create_signature_verifier(key_of, [ALGORITHM])(card)
    return card, keys, stated[0]


async def test_the_served_card_verifies_and_a_changed_one_does_not(redis_url: str, tmp_path: Path) -> None:
    async with gateway(redis_url, tmp_path, card_key=tmp_path / "card-key.pem") as url:
        card, keys, jku = await _served_card(url)
    assert jku == f"{url.rstrip('/')}/.well-known/jwks.json"
    assert len(card.signatures) == 1
    card.supported_interfaces[0].url = "http://elsewhere/"
    with pytest.raises(InvalidSignaturesError):
        create_signature_verifier(lambda kid, _: keys[str(kid)], [ALGORITHM])(card)


async def test_the_key_stays_the_same_and_only_its_owner_can_read_it(
    redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "keys" / "card-key.pem"
    async with gateway(redis_url, tmp_path, card_key=path) as url:
        _, first, _ = await _served_card(url)
    written = path.read_text()
    async with gateway(redis_url, tmp_path, card_key=path) as url:
        _, second, _ = await _served_card(url)
    assert [key.key_id for key in first.keys] == [key.key_id for key in second.keys]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.read_text() == written
    secret = written.splitlines()[1]
    assert secret not in caplog.text
    assert secret not in repr(read_card_key(path))


async def test_a_card_without_a_key_has_no_signature(redis_url: str, tmp_path: Path) -> None:
    async with gateway(redis_url, tmp_path) as url, httpx.AsyncClient(base_url=url) as http:
        assert "signatures" not in (await http.get(CARD_PATH)).json()
        assert (await http.get("/.well-known/jwks.json")).status_code == 404


@pytest.mark.parametrize("content", ["", "not a key", pem(Ed25519PrivateKey.generate())])
def test_a_file_with_anything_else_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "card-key.pem"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"card-key\.pem: is not"):
        read_card_key(path)
    assert path.read_text() == content
