"""A server of an environment in a thread, with clients."""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import uvicorn

from concord_environment.app import create_app
from concord_environment.core.simulation import Simulation
from concord_environment.environment import Environment
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment.settings import EnvironmentSettings
from concord_environment_client import UESClient

START = datetime(2026, 1, 1, 9, tzinfo=UTC)


@contextmanager
def served(simulation: Simulation[EnvironmentWorld]) -> Iterator[tuple[UESClient, UESClient]]:
    """An admin's and an agent's client of a running simulation."""
    environment, secret = Environment(0), secrets.token_hex(32)
    environment.simulation = simulation
    admin = environment.keys.set_admin(secret, START)
    permissions = ["email:state", "email:query", "email:send", "calendar:query"]
    _, agent_secret = environment.keys.create("agent", permissions, admin, START)
    config = uvicorn.Config(create_app(environment, EnvironmentSettings()), port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    with UESClient(url, secret, timeout=120) as admin_client, UESClient(url, agent_secret) as agent:
        admin_client.simulation.start()
        yield admin_client, agent
    server.should_exit = True
    thread.join()
