"""The proxy's time limits (seconds), and its answer to a caller when a callee exceeds one."""

from http import HTTPStatus
from typing import Final

from concord.a2a.client import CARD_TIMEOUT_S, CONNECT_TIMEOUT_S
from concord.wire.platform import SILENCE_S

CONNECT_S: Final = CONNECT_TIMEOUT_S
CARD_S: Final = CARD_TIMEOUT_S

ANSWER_PAUSE_S: Final = SILENCE_S
"""The longest pause before an answer, and in an event stream: as long as the platform's clients wait."""

BODY_PAUSE_S: Final = 30.0
"""The longest pause in a body that has begun, by default. Event streams are exempt."""

REFUSED_BODY_S: Final = 5.0
"""How long the rest of a refused request is read."""

IDLE_CONNECTION_S: Final = 2.0
"""How long an idle connection is kept. Well below uvicorn's keep-alive of five seconds, so that no connection closes
just after a request is sent."""

LATE: Final = HTTPStatus.GATEWAY_TIMEOUT
"""The status of the answer to a caller whose callee exceeded a limit, except where the answer has begun."""

ANSWER_IS_LATE: Final = "the agent did not answer in time"
CARD_IS_LATE: Final = "the agent's card did not arrive in time"
