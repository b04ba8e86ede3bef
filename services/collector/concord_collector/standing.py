"""Standing tokens: what an agent outside any assessment shows to register itself, and to see who else did."""

import time
from typing import Final

from pydantic import SecretStr

from concord.storage import OPEN_SCOPE
from concord.trust.keyring import Keyring
from concord.trust.tokens import Claims

_DAY_S: Final = 24 * 3600


async def standing_token(keyring: Keyring, agent_id: str, days: float) -> SecretStr:
    """A token for the open registry: good for no assessment and no trace of one. Raises StorageUnavailableError."""
    claims = Claims(OPEN_SCOPE, OPEN_SCOPE, agent_id, time.time() + days * _DAY_S)
    return (await keyring.issuer()).issue(claims)
