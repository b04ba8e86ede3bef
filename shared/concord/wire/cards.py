"""Where A2A's agents serve their cards."""

from typing import Final

CARD_PATH: Final = "/.well-known/agent-card.json"
"""Below the agent's URL."""
