"""What trials cost, and what coordination costs and carries: five published figures, a gap, and messages."""

import re
from collections.abc import Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from concord.assessment.request import Fraction
from concord.assessment.table import Record, Table
from concord.files import read_toml

# What trials cost: model calls, tokens and money, as far as participants tell; and the list of prices.

MAX_USES: Final = 100
"""Pairs of agent and model that a trial's record lists."""

SHIPPED_PRICES: Final = Path(__file__).with_name("prices.toml")

_DATED: Final = re.compile(r"[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest|\d{3})$")
"""What providers append to the name of a model for one of its versions."""

MILLION: Final = 1_000_000

Amount = Annotated[float, Field(ge=0)]


class ModelUse(Record):
    """The calls of a model that an agent reports of itself in a trial: claims, which nobody can check."""

    agent: str
    model: str | None
    """Null if the agent does not say which."""
    calls: int
    untold: int
    """Those of the calls whose tokens are not told."""
    unsplit: int
    """Those of which only the sum of tokens is told, not how many were read and written."""
    tokens: int
    """Of all calls that tell them, as `input_tokens` and `output_tokens`."""
    input_tokens: int
    output_tokens: int


class AgentCost(Record):
    """What an agent took over all trials that count. A null figure is unknown.

    `seconds`: how long the calls to it took, as the gateway measured. The other figures are its own claims.
    """

    agent: str
    model_calls: int | None
    tokens: int | None
    money: Amount | None
    seconds: float | None


class Cost(Record):
    """What the trials that count took. A null figure is unknown: no agent tells it, or a part of it is not told.

    `per_trial`, `per_success`: money for each trial, and for each that passed.
    """

    agents: Table[AgentCost]
    model_calls: int | None
    tokens: int | None
    money: Amount | None
    per_trial: Amount | None
    per_success: Amount | None
    currency: str | None
    prices_date: date | None
    prices_sha256: str | None
    """Of the list of prices, which is in the plan, and so in the bundle."""
    unpriced: list[str]
    """Models that the list of prices lacks."""
    untold_calls: int
    """Model calls whose tokens are not told. They are missing in `tokens`."""
    source: Literal["claimed"] = "claimed"
    """Tokens and model calls are what participants say of themselves."""


class Price(Record):
    """The price of a million tokens."""

    input: Amount
    output: Amount


class PriceList(Record):
    """Prices of models by name, of one day."""

    day: Annotated[date, Field(alias="date")]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    models: Mapping[str, Price]

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    @property
    def digest(self) -> str:
        """The SHA-256 of the list (hex)."""
        return sha256(self.model_dump_json().encode()).hexdigest()

    def of(self, model: str) -> Price | None:
        """The price of a model: by its whole name, or without provider and version (`openai/gpt-4o-2024-08-06`)."""
        name = model.rsplit("/", 1)[-1].lower()
        for candidate in (model, name, _DATED.sub("", name)):
            if candidate in self.models:
                return self.models[candidate]
        return None

    def money(self, use: ModelUse) -> float | None:
        """What a use costs; None if its model has no price, or not all tokens are told."""
        price = None if use.model is None else self.of(use.model)
        if price is None or use.untold or use.unsplit:
            return None
        return (use.input_tokens * price.input + use.output_tokens * price.output) / MILLION


def read_prices(path: Path = SHIPPED_PRICES) -> PriceList:
    """Reads a list of prices (TOML). Raises OSError; ValueError for an invalid one."""
    return PriceList.model_validate(read_toml(path))


# What coordination costs and carries: five published figures, a gap, and messages and artifacts over time.

MAX_ARTIFACTS: Final = 50
"""Artifacts of a trial that are listed."""

MAX_NAMED_AGENTS: Final = 20
"""Writers and readers of an artifact that are named."""


class CoordinationFigures(Record):
    """The five figures of Kim et al. 2025 (arXiv 2512.08296), of team tasks.

    S is the mean proven outcome of the team, and T its mean number of turns. S1 and T1 are those of one agent with all
    briefs (`solo`) on the same instances; `efficiency`, `overhead` and `error_amplification` are null without it.
    """

    pairs: int
    """Pairs of a trial of the team and of `solo`, both with an outcome."""
    turns: float | None
    """T: replies that the gateway asked for, and answered calls. Of the pairs; without any, of the team's trials."""
    solo_turns: float | None
    efficiency: float | None
    """S / (T / T1): success per relative number of turns."""
    overhead: float | None
    """(T - T1) / T1."""
    error_amplification: float | None
    """(1 - S) / (1 - S1); null where the agent alone made no error."""
    message_density: float | None
    """Delivered messages per turn, over the team's trials."""
    redundancy: Fraction | None
    """The mean similarity of what seats wrote: 1 - `information_diversity`, the cosine of TF-IDF vectors in the place
    of the paper's embeddings. Null without that metric."""
    failed_parts: int
    """Wrong or missing parts of answers, over the team's trials."""
    failed_informed: int
    """Those of them whose seat answered, and could know all that it needed when it did: Silo-Bench's gap between
    communication and reasoning (arXiv 2603.01045)."""
    failed_seats: int
    """Seats with a failed part, counted in each trial."""
    informed_seats: int
    """Those of them that could know all that their failed parts needed, and answered."""


class ArtifactUse(Record):
    """Who changed an artifact, and who read it after somebody else had."""

    artifact: str
    writers: list[str]
    """In the order of their first change; at most `MAX_NAMED_AGENTS`, as the readers."""
    readers: list[str]
    """Agents that read it after another agent had changed it, in the order of their first such reading."""
    writes: Annotated[int, Field(ge=0)]
    reads_after: Annotated[int, Field(ge=0)]
    """Readings of what another agent had written."""


class TemporalNetwork(Record):
    """Messages and artifacts as one network over time: what an agent knew could reach another by messages, and by what
    one wrote and the other read later (after arXiv 2608.16801)."""

    messages: int
    """Requests and answers that arrived."""
    writes: int
    reads: int
    reached: Fraction | None
    """The share of ordered pairs of agents of which the first could reach the second in time; null for fewer than two
    agents."""
    reached_by_messages: Fraction | None
    """The same by messages alone. What is missing went by artifacts."""
    artifacts: list[ArtifactUse]
    """Those with most writers and readers first; at most `MAX_ARTIFACTS`."""
    artifacts_omitted: int = 0
