"""The command `green`: runs Redis and the services under one supervisor."""

import asyncio
import os

from concord.loopback import free_ports
from concord_cli.errors import UsageError
from concord_cli.green.plan import Address, green_program
from concord_cli.stack.local import bypass_proxies_on_loopback, start_redis
from concord_cli.stack.probes import is_free
from concord_cli.stack.redis import choose_redis
from concord_cli.stack.stack_folder import stack_folder
from concord_cli.stack.supervisor import Supervisor
from concord_cli.terminal import ProgressLog
from concord_collector.settings import CollectorSettings


async def green(address: Address, progress: ProgressLog) -> None:
    """Runs the green agent until interrupted. Its programs log to standard error.

    Raises UsageError for a port in use and for an open collector; AssessmentError if a program cannot be kept running.
    """
    if CollectorSettings().open:
        raise UsageError(
            "CONCORD_OPEN is set, but a green agent accepts no reports without a token on its port: unset it, or give "
            "the collector a port of its own (--collector-port 9010)"
        )
    if not is_free(address.port, address.host):
        raise UsageError(f"port {address.port} of {address.host} is in use: choose another port with --port")
    bypass_proxies_on_loopback()
    async with stack_folder() as folder:
        redis = choose_redis(os.environ, folder.path / "redis", free_ports(1)[0])
        async with Supervisor(folder, progress.log, logs_to_stderr=True) as supervisor:
            await start_redis(redis, supervisor, progress)
            supervisor.start([green_program(address, redis.url)])
            await supervisor.ready()
            progress.log(f"The green agent is ready at {address.card_url or address.local_url}")
            await supervisor.guard(asyncio.Event().wait())
