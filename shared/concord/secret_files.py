"""Settings that may be in files, one per setting, as container engines mount secrets."""

import os
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SecretsSettingsSource

DEFAULT_FOLDER = "/run/secrets"
"""The folder in which Docker mounts secrets. `CONCORD_SECRETS_DIR` names another folder."""


class SecretFileSettings(BaseSettings):
    """Settings from the environment and, for variables that are not set, from files with the variables' names.

    Names are case-insensitive. An empty file is like an unset variable.
    """

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The arguments first, then the environment, then the files."""
        del dotenv_settings, file_secret_settings
        folder = Path(os.environ.get("CONCORD_SECRETS_DIR") or DEFAULT_FOLDER)
        files = (_SecretFiles(settings_cls, folder),) if folder.is_dir() else ()
        return (init_settings, env_settings, *files)


class _SecretFiles(SecretsSettingsSource):
    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The text of a setting's file; None without a file."""
        text, key, is_complex = super().get_field_value(field, field_name)
        return text or None, key, is_complex
