"""Settings from mounted secret files."""

from pathlib import Path

import pytest

from concord.llm import LLMSettings
from concord_environment.settings import EnvironmentSettings
from concord_gateway.settings import GatewaySettings

KEY = "k" * 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of secrets, and an environment without settings."""
    for name in ("CONCORD_API_KEYS", "CONCORD_TASK_SECRET", "AGENTBEATS_LLM_API_KEY", "UES_ADMIN_KEY", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CONCORD_SECRETS_DIR", str(tmp_path))
    return tmp_path


def test_a_file_with_the_name_of_a_variable_sets_it(folder: Path) -> None:
    (folder / "concord_api_keys").write_text(f"{KEY}\n")
    (folder / "REDIS_URL").write_text("redis://:password@redis/0")
    (folder / "agentbeats_llm_api_key").write_text(KEY)
    (folder / "ues_admin_key").write_text(KEY)
    gateway, llm, environment = GatewaySettings(), LLMSettings(), EnvironmentSettings()
    assert gateway.api_keys.get_secret_value() == KEY
    assert gateway.redis_url == "redis://:password@redis/0"
    assert llm.api_key is not None
    assert llm.api_key.get_secret_value() == KEY
    assert environment.admin_secret() == (KEY, False)


def test_the_environment_wins_over_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "concord_api_keys").write_text("of the file")
    monkeypatch.setenv("CONCORD_API_KEYS", KEY)
    assert GatewaySettings().api_keys.get_secret_value() == KEY


def test_an_empty_file_sets_nothing(folder: Path) -> None:
    for name in ("concord_task_secret", "agentbeats_llm_api_key", "ues_admin_key"):
        (folder / name).touch()
    assert GatewaySettings().task_secret is None
    assert not LLMSettings().available
    assert EnvironmentSettings().admin_key is None


def test_without_the_folder_settings_come_from_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_SECRETS_DIR", "/nowhere")
    monkeypatch.setenv("CONCORD_API_KEYS", KEY)
    assert GatewaySettings().api_keys.get_secret_value() == KEY
