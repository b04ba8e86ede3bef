"""The service's settings, from environment variables."""

import secrets
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator

from concord.service.settings import ServiceSettings


class EnvironmentSettings(ServiceSettings):
    """`UES_ADMIN_KEY` or `UES_ADMIN_KEY_FILE`, `CONCORD_SEED` and so on."""

    admin_key: SecretStr | None = Field(None, validation_alias="UES_ADMIN_KEY")
    admin_key_file: Path | None = Field(None, validation_alias="UES_ADMIN_KEY_FILE")
    seed: int = 0
    max_body_bytes: int = 16 * 1024 * 1024

    @model_validator(mode="after")
    def _one_admin_key(self) -> Self:
        if self.admin_key is not None and self.admin_key_file is not None:
            raise ValueError("set UES_ADMIN_KEY or UES_ADMIN_KEY_FILE, not both")
        return self

    def admin_secret(self) -> tuple[str, bool]:
        """The admin key, and whether it was generated because none is set."""
        if self.admin_key is not None:
            return self.admin_key.get_secret_value(), False
        if self.admin_key_file is not None:
            return self.admin_key_file.read_text().strip(), False
        return secrets.token_hex(32), True
