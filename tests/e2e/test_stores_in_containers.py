"""The tests of storage on a Redis in a container, as the compose file runs it."""

import os
import subprocess

import pytest
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from tests.kit.redis_servers import wait_until_up

IMAGE = "redis:8-alpine"

pytestmark = pytest.mark.containers


def test_the_stores_work_on_the_image_of_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)  # it needs another image, and `with` removes ours
    with DockerContainer(IMAGE).with_exposed_ports(6379) as container:
        url = f"redis://{container.get_container_host_ip()}:{container.get_exposed_port(6379)}/0"
        wait_until_up(url)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        ran = subprocess.run(
            ["make", "test-redis", f"SERVER={url}"], env=environment, capture_output=True, text=True, check=False
        )
    assert ran.returncode == 0, ran.stdout[-5000:]
