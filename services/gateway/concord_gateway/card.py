"""What the gateway says of itself."""

from concord.a2a import AgentProfile, Skill
from concord_gateway import __version__


def gateway_profile(url: str) -> AgentProfile:
    """The card of the green agent, whose clients post to `url`."""
    return AgentProfile(
        name="Concord",
        description=(
            "Assesses how well a team of agents works together: drives the team over A2A, gathers its interactions "
            "as traces, and answers with a score, its parts and the evidence for them."
        ),
        version=__version__,
        url=url,
        skills=(
            Skill(
                id="assess_coordination",
                name="Assess coordination",
                description=(
                    "Send one text part with JSON: {participants: {role: url}, config: {...}}. The answer is one "
                    "artifact with one result row."
                ),
                tags=("assessment", "coordination", "multi-agent", "green-agent"),
            ),
            Skill(
                id="assess_pattern",
                name="Assess a given pattern of interactions",
                description="As above with config.interaction_pattern {agents, edges}; needs no participants.",
                tags=("assessment", "ground-truth"),
            ),
        ),
    )
