"""Agent cards, valid for 1.0 and 0.3 clients."""

from dataclasses import dataclass
from typing import Final

from a2a.types import a2a_pb2 as pb

from concord.trust.api_keys import KEY_HEADER
from concord.wire.extensions import SUPPORTED_URIS

_PLACEHOLDER: Final = "http://localhost/"
"""Stands in a card that nobody sees, because its agent has no URL of its own. The SDK demands one."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill in an agent's card."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """The contents of an agent's card.

    `url` is where clients post to: it must be reachable for them. None: the address by which they request the card.
    """

    name: str
    description: str
    version: str
    url: str | None
    skills: tuple[Skill, ...]
    extensions: tuple[str, ...] = SUPPORTED_URIS
    rest: bool = False
    """Whether the agent is also served by HTTP+JSON."""


def card_of(profile: AgentProfile, *, with_keys: bool, with_webhooks: bool = False) -> pb.AgentCard:
    """The card. `with_keys` says that clients need an API key, `with_webhooks` that tasks can have webhooks."""
    bindings = ("JSONRPC", "HTTP+JSON") if profile.rest else ("JSONRPC",)
    card = pb.AgentCard(
        name=profile.name,
        description=profile.description,
        version=profile.version,
        supported_interfaces=[
            pb.AgentInterface(url=profile.url or _PLACEHOLDER, protocol_binding=binding, protocol_version=version)
            for binding in bindings
            for version in ("1.0", "0.3")
        ],
        capabilities=pb.AgentCapabilities(
            streaming=True,
            push_notifications=with_webhooks,
            extensions=[pb.AgentExtension(uri=uri) for uri in profile.extensions],
        ),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain", "application/json"],
        skills=[
            pb.AgentSkill(id=skill.id, name=skill.name, description=skill.description, tags=skill.tags)
            for skill in profile.skills
        ],
    )
    if with_keys:
        bearer = pb.HTTPAuthSecurityScheme(scheme="Bearer", description="One of the server's API keys.")
        header = pb.APIKeySecurityScheme(
            location="header", name=KEY_HEADER, description="The same key without a prefix."
        )
        card.security_schemes["bearer"].http_auth_security_scheme.CopyFrom(bearer)
        card.security_schemes["api_key"].api_key_security_scheme.CopyFrom(header)
        # Either one suffices (A2A 1.0, section 4.5.1).
        card.security_requirements.extend(
            pb.SecurityRequirement(schemes={name: pb.StringList()}) for name in ("bearer", "api_key")
        )
    return card
