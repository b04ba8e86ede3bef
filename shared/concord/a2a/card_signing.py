"""Signed agent cards (A2A 1.0, section 8.4): a JWS over the card's canonical JSON, and the public key as a JWK Set."""

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from a2a.types import a2a_pb2 as pb
from a2a.utils.signing import create_agent_card_signer
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import ECAlgorithm
from jwt.utils import base64url_encode
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concord.files import read_bounded

JWKS_PATH: Final = "/.well-known/jwks.json"
ALGORITHM: Final = "ES256"

_MAX_KEY: Final = 16 * 1024


@dataclass(frozen=True, slots=True, repr=False)
class CardKey:
    """The private key (ECDSA on P-256) that signs an agent's card, and nothing else."""

    pem: bytes
    public: dict[str, str]
    """The public key as a JWK; `kid` is its thumbprint (RFC 7638)."""

    def sign(self, card: pb.AgentCard, url: str) -> pb.AgentCard:
        """Adds the signature to the card of the agent at `url`, where the key set is, too."""
        signer = create_agent_card_signer(
            self.pem,
            {"kid": self.public["kid"], "alg": ALGORITHM, "jku": f"{url.rstrip('/')}{JWKS_PATH}", "typ": "JOSE"},
        )
        return signer(card)

    def route(self) -> Route:
        """The route of the key set."""
        keys = {"keys": [{**self.public, "use": "sig", "alg": ALGORITHM}]}

        async def jwks(_: Request) -> Response:
            return JSONResponse(keys, headers={"cache-control": "public, max-age=60"})

        return Route(JWKS_PATH, jwks, methods=["GET"])


def read_card_key(path: Path) -> CardKey:
    """The key in a PEM file, which is made if it does not exist, readable for its owner alone.

    Raises OSError; ValueError for a file with anything else.
    """
    if not path.exists():
        _make(path)
    pem = read_bounded(path, _MAX_KEY)
    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: is not an unencrypted private key in PEM") from error
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise ValueError(f"{path}: is not a key of the curve P-256")
    numbers: dict[str, Any] = json.loads(ECAlgorithm.to_jwk(key.public_key()))
    public = {name: str(numbers[name]) for name in ("crv", "kty", "x", "y")}
    thumbprint = sha256(json.dumps(public, sort_keys=True, separators=(",", ":")).encode()).digest()
    return CardKey(pem, {**public, "kid": base64url_encode(thumbprint).decode()})


def _make(path: Path) -> None:
    """Writes a new key, unless another process writes one first: then that one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pem = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    temporary = path.with_name(f".{path.name}.{token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(temporary)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
