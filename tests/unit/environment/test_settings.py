"""The environment's settings: the admin key has one source."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from concord_environment.settings import EnvironmentSettings


def test_the_admin_key_comes_from_a_variable_or_a_file_or_is_generated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, made_up = EnvironmentSettings().admin_secret()
    assert made_up
    assert EnvironmentSettings().admin_secret()[0] != first

    file = tmp_path / "key"
    file.write_text("f" * 64 + "\n")
    monkeypatch.setenv("UES_ADMIN_KEY_FILE", str(file))
    assert EnvironmentSettings().admin_secret() == ("f" * 64, False)

    monkeypatch.setenv("UES_ADMIN_KEY", "e" * 64)
    with pytest.raises(ValidationError):
        EnvironmentSettings()
    monkeypatch.delenv("UES_ADMIN_KEY_FILE")
    assert EnvironmentSettings().admin_secret() == ("e" * 64, False)
    assert "e" * 64 not in repr(EnvironmentSettings())
