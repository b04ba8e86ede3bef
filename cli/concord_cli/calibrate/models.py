"""The models to calibrate, read from TOML, and the scenario in which each takes all seats."""

import hashlib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, JsonValue, model_validator

from concord.llm import ProviderName
from concord_cli.errors import UsageError
from concord_cli.input_files import toml_of, validated
from concord_cli.scenario.scenario_file import Participant, ScenarioFile, check_config

MAX_MODELS: Final = 200

CONTROLS: Final = ("solo", "silent")
"""What each model also plays, unless the config says otherwise."""

RESERVED: Final = "calibration"
"""The name of the documents beside the results files of the models."""

NO_KEY: Final = "none"
"""Sent to an endpoint that needs no key."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Model(_Table):
    """A model at an endpoint. `key` is the name of the environment variable with the key; none: it needs no key."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$", max_length=100)]
    """In the table, and of the results file."""
    model: Annotated[str, Field(min_length=1, max_length=200)]
    """As the endpoint calls it."""
    provider: ProviderName = "openai"
    base_url: HttpUrl | None = None
    """None: the provider's own endpoint."""
    key: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")] | None = None
    json_schema: bool = True
    """Whether replies are asked for by a JSON schema, and not only in words."""
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 2_000
    """Tokens of a reply."""
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 120
    """Of one request."""

    @property
    def api_key(self) -> str | None:
        """The key, as the environment has it; None if the variable is missing or empty."""
        return NO_KEY if self.key is None else os.environ.get(self.key) or None

    def participant(self) -> Participant:
        """The model as the only participant, which takes all seats."""
        options = ["--max-tokens", str(self.max_tokens), *([] if self.json_schema else ["--no-schema"])]
        env = {
            "AGENTBEATS_LLM_PROVIDER": self.provider,
            "AGENTBEATS_LLM_API_KEY": self.api_key or "",
            "AGENTBEATS_LLM_BASE_URL": "" if self.base_url is None else str(self.base_url),
            "AGENTBEATS_LLM_MODEL": self.model,
            "AGENTBEATS_LLM_TIMEOUT_S": f"{self.timeout_s:g}",
        }
        return Participant(role="agent", cmd=shlex.join(["python", "-m", "concord_purple.seat", *options]), env=env)


class ModelsFile(_Table):
    """The models, and the config of the assessment that each of them gets."""

    models: Annotated[list[Model], Field(min_length=1, max_length=MAX_MODELS)]
    config: dict[str, JsonValue] = {}

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [each.name.casefold() for each in self.models]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"name used twice: {', '.join(repeated)}")
        if RESERVED in names:
            raise ValueError(
                f"a model cannot be called {RESERVED}: its results file would replace the table's document"
            )
        return self

    def scenario(self, model: Model) -> ScenarioFile:
        """The assessment of a model, with `CONTROLS` by default."""
        config: dict[str, JsonValue] = {"suite": "standard-1", "controls": list(CONTROLS), **self.config}
        return ScenarioFile(participants=[model.participant()], config=config)

    def digest(self, model: Model) -> str:
        """Identifies all that decides a model's row but the tasks: settings and config (SHA-256, hex)."""
        return hashlib.sha256(_Settings(model=model, config=self.config).model_dump_json().encode()).hexdigest()


class _Settings(_Table):
    model: Model
    config: Mapping[str, JsonValue]


def read_models(path: Path) -> ModelsFile:
    """Reads the file, and checks its config and that the keys are there. Raises UsageError."""
    file = validated(path, toml_of(path), ModelsFile)
    if missing := sorted({each.key for each in file.models if each.key is not None and each.api_key is None}):
        raise UsageError(f"{path}: the environment has no key in {', '.join(missing)}")
    check_config(path, file.scenario(file.models[0]))
    return file
