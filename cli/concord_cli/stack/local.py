"""The whole system as a local stack that runs for the duration of a context."""

import os
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from concord.assessment.results import SeatContainers
from concord.errors import StorageUnavailableError, UnusableServerError
from concord.loopback import LOOPBACK, free_ports
from concord.processes.forked import fork_server
from concord.trust.urls import is_every_interface
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.isolation.seats import MAX_SOCKET_PATH, RELAY_IMAGE, Isolation
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.stack.containers import check_engine, containers_removed, fetch_images, identity_of
from concord_cli.stack.plan import FOR_SERVICES, Listening, Ports, StackPlan, plan_stack
from concord_cli.stack.probes import is_free
from concord_cli.stack.redis import RedisChoice, choose_redis
from concord_cli.stack.stack_folder import StackFolder, stack_folder
from concord_cli.stack.supervisor import FORKABLE, Program, Supervisor, forkable, log_tail
from concord_cli.terminal import ProgressLog


@dataclass(frozen=True, slots=True)
class LocalStack:
    """A stack that is ready: its URLs, and the supervisor of its programs."""

    plan: StackPlan
    supervisor: Supervisor
    folder: StackFolder
    redis_url: str

    def log_tail(self, name: str, lines: int = 5) -> str:
        """The last lines of a program's log."""
        return log_tail(self.folder.log(name), lines)


@asynccontextmanager
async def local_stack(
    scenario: ScenarioFile,
    ports: Ports,
    progress: ProgressLog,
    output: Path | None = None,
    env: Mapping[str, str] | None = None,
    *,
    separate: bool = False,
    task_secret: str | None = None,
) -> AsyncIterator[LocalStack]:
    """Starts Redis, the services and the scenario's team; at the end, stops them in reverse and removes their files.

    The gateway writes its results under `output`, by default into the run's folder. `env`: further environment
    variables of services and team. With `separate`, each service is a program of its own. `task_secret`: of the tasks
    that the gateway generates, by default the one in CONCORD_TASK_SECRET. Services on one port, which have no other
    user, log to standard error and write their results where their settings say. Raises ProgramFailedError, UsageError.
    """
    bypass_proxies_on_loopback()
    one_port = ports.services.collector is None
    async with stack_folder() as folder:
        redis = choose_redis(os.environ, folder.path / "redis", ports.redis)
        run_id = uuid4().hex
        plan = plan_stack(
            scenario,
            ports,
            redis.url,
            output or folder.path / "output",
            os.environ.get("CONCORD_ALLOWED_HOSTS"),
            os.environ,
            run_id,
            separate=separate,
            isolation=await _prepared(scenario, folder, progress),
            task_secret=task_secret,
        )
        async with (
            _fork_server(
                () if separate or one_port else plan.groups, folder, secret=task_secret is not None
            ) as forking,
            _containers(scenario, plan, run_id, progress),
            Supervisor(folder, progress.log, forking, logs_to_stderr=one_port) as supervisor,
        ):
            progress.status(f"Starting {sum(map(len, plan.groups))} programs")
            try:
                await start_redis(redis, supervisor, progress)
                supervisor.start(plan.relays)
                await supervisor.ready()
                for group in plan.groups:
                    supervisor.start(replace(program, env={**program.env, **(env or {})}) for program in group)
                await supervisor.ready()
                yield LocalStack(plan, supervisor, folder, redis.url)
            finally:
                progress.status("Stopping")


@asynccontextmanager
async def _fork_server(
    groups: Iterable[Iterable[Program]], folder: StackFolder, *, secret: bool
) -> AsyncIterator[Path | None]:
    """The socket of a server that has imported what programs of Concord need; None if none of these can use it.

    `secret`: this process has a secret of tasks, which no agent may have in its memory.
    """
    found = [module for group in groups for each in group if (module := forkable(each)) is not None]
    socket = folder.path / "fork-server.sock"
    if not found or sys.platform != "linux" or len(os.fsencode(socket)) > MAX_SOCKET_PATH:
        yield None
        return
    modules = list(dict.fromkeys(FORKABLE[module] for module, _ in found))
    env = {name: value for name, value in os.environ.items() if name not in FOR_SERVICES}
    anew = secret or len(env) < len(os.environ)
    async with fork_server(socket, modules, env, folder.log("fork-server"), anew=anew) as path:
        yield path


async def _prepared(scenario: ScenarioFile, folder: StackFolder, progress: ProgressLog) -> Isolation | None:
    """Pulls the images of a scenario. The isolation of its seats, None if they are not isolated. Raises UsageError."""
    images = scenario.images
    isolated = scenario.team.isolation is not None
    if isolated:
        await check_engine()
        images = {**images, "a seat's relay": RELAY_IMAGE}
    await fetch_images(images, progress.status)
    if not isolated:
        return None
    image = scenario.local[0].image or ""
    identity = await identity_of(image)
    containers = SeatContainers(
        image=image,
        image_id=identity.image_id,
        image_digest=identity.registry_digest,
        model_endpoints=tuple(each.url for each in scenario.team.model_endpoints),
    )
    return Isolation(containers, folder.path / "seats")


@asynccontextmanager
async def _containers(
    scenario: ScenarioFile, plan: StackPlan, run_id: str, progress: ProgressLog
) -> AsyncIterator[None]:
    """Opens the doors of isolated seats for the block. Removes the containers that remain after the block."""
    async with AsyncExitStack() as stack:
        if plan.isolated is not None:
            # Only isolated seats need an HTTP client and server in this process.
            from concord_cli.isolation.doors import open_doors

            await stack.enter_async_context(open_doors(plan.isolated, progress.log))
        if scenario.images:
            await stack.enter_async_context(containers_removed(run_id))
        yield


async def start_redis(redis: RedisChoice, supervisor: Supervisor, progress: ProgressLog) -> None:
    """Starts the chosen Redis, waits for it, and tells which it is.

    Raises AssessmentError if the one in REDIS_URL does not answer, UsageError if it cannot be used.
    """
    if redis.program is not None:
        progress.log(f"Redis: {redis.description}")
        supervisor.start([redis.program])
        await supervisor.ready()
        return
    # The client of Redis takes a while to load.
    from concord.storage.connection import servers

    try:
        found = await servers(redis.url, os.environ.get("CONCORD_QUEUE_REDIS_URL"))
    except UnusableServerError as error:
        raise UsageError(str(error)) from error
    except StorageUnavailableError as error:
        raise AssessmentError(f"{str(error).rstrip('.')}. Start Redis there, or unset the variable") from error
    progress.log(f"{' and '.join(found)}, {redis.description}")


def free_stack_ports(scenario: ScenarioFile) -> Ports:
    """Ports that are free now, for a stack with arbitrary ports."""
    redis, collector, gateway, *agents = free_ports(3 + len(scenario.local))
    roles = [each.role for each in scenario.local]
    return Ports(redis, Listening(LOOPBACK, gateway, collector), dict(zip(roles, agents, strict=True)))


def fixed_stack_ports(scenario: ScenarioFile, services: Listening, first_agent: int) -> Ports:
    """The same ports for every run, consecutive ones for the agents.

    Raises UsageError if one is in use, and for services on every interface without a URL that agents could use.
    """
    if services.collector is not None and is_every_interface(services.host) and services.card_url is None:
        raise UsageError(
            f"--host {services.host} is not an address for agents: "
            "give --card-url, the URL by which they reach the gateway"
        )
    agents = {each.role: first_agent + i for i, each in enumerate(scenario.local)}
    collector = {} if services.collector is None else {"collector": services.collector}
    wanted = {"gateway": services.gateway, **collector, **agents}
    if len(set(wanted.values())) < len(wanted):
        raise UsageError("two programs have the same port: choose different ports")
    for name, port in wanted.items():
        host = LOOPBACK if name in agents else services.host
        if not is_free(port, host):
            raise UsageError(f"port {port} of {host}, for {name}, is in use: choose another port with an option")
    return Ports(free_ports(1)[0], services, agents)


def bypass_proxies_on_loopback() -> None:
    """Programs on this machine connect to each other directly, even if the environment names a proxy."""
    listed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = ",".join(filter(None, [listed, LOOPBACK]))
