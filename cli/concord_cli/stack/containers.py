"""Agents in containers: their command lines, their images, and their removal."""

import asyncio
import json
import re
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from concord import parent_guard
from concord_cli.errors import UsageError

LABEL: Final = "concord.run"
"""Label of every container that a stack starts; its value is the run."""

HOST_NETWORK: Final = ("--network", "host")

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\}")

_REMOVAL: Final = (
    'left=$(docker ps --all --quiet --filter "label=$0"); [ -z "$left" ] || docker rm --force --volumes $left'
)


def docker_run(run_id: str, options: Iterable[str], names: Iterable[str] = ()) -> tuple[str, ...]:
    """The beginning of a command line that runs a container, with the variables `names` of docker's own environment.

    The values of the variables are not on the command line, which every user of the machine can read.
    """
    passed = [word for name in names for word in ("--env", name)]
    return ("docker", "run", "--rm", "--init", *options, "--label", f"{LABEL}={run_id}", *passed)


def variables_of(where: str, env: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """An agent's variables, with `${NAME}` and `${NAME:-default}` replaced from the environment.

    Raises UsageError for a variable that is not set and has no default.
    """

    def value(match: re.Match[str]) -> str:
        if found := environment.get(match[1]) or match[2] or "":
            return found
        if match[2] is None and match[1] not in environment:
            raise UsageError(f"{where}: set the variable {match[1]}, which its `env` refers to")
        return ""

    return {name: _REFERENCE.sub(value, text) for name, text in env.items()}


@dataclass(frozen=True, slots=True)
class ImageIdentity:
    """What an image is: the digest of its configuration, and the one under which a registry serves it, if one does."""

    image_id: str
    registry_digest: str | None


async def fetch_images(images: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """Pulls the images that this machine does not have; `images` are by participant. Raises UsageError."""
    if images and shutil.which("docker") is None:
        role = next(iter(images))
        raise UsageError(f"{role} has only an `image`, and docker is not installed: install docker, or give its `cmd`")
    if images and (answer := await _docker("version", "--format", "{{.Server.Version}}"))[0] != 0:
        raise UsageError(f"docker does not answer: {answer[1]}")
    pulled = set[str]()
    for role, image in images.items():
        if image in pulled or (await _docker("image", "inspect", image))[0] == 0:
            continue
        tell(f"Pulling the image {image}")
        code, error = await _docker("pull", "--quiet", image)
        if code != 0:
            raise UsageError(f"{role}: docker cannot pull its image {image}: {error}")
        pulled.add(image)


async def check_engine() -> None:
    """Refuses docker where containers cannot share Unix sockets with this machine. Raises UsageError."""
    if sys.platform != "linux":
        raise UsageError("isolation needs Linux, where containers share Unix sockets with the programs beside them")
    if shutil.which("docker") is None:
        raise UsageError("isolation needs docker, which is not installed: install Docker Engine")
    code, answer = await _docker("info", "--format", "{{.OperatingSystem}} {{.SecurityOptions}}")
    if code != 0:
        raise UsageError(f"docker does not answer: {answer}")
    if "name=seccomp" not in answer or "profile=unconfined" in answer:
        raise UsageError("isolation needs docker with seccomp: without it, containers share the kernel's keys")
    if answer.startswith("Docker Desktop"):
        raise UsageError("isolation needs Docker Engine on this machine; Docker Desktop runs containers in another one")


async def identity_of(image: str) -> ImageIdentity:
    """The identity of an image that this machine has. Raises UsageError."""
    code, answer = await _docker("image", "inspect", "--format", "{{json .}}", image)
    if code != 0:
        raise UsageError(f"docker cannot inspect the image {image}: {answer}")
    found = json.loads(answer)
    digests = dict(each.rpartition("@")[::2] for each in sorted(found.get("RepoDigests") or []))
    repository = re.sub(r"(:[^/:@]*)?(@.*)?$", "", image)
    return ImageIdentity(found["Id"], digests.get(repository, next(iter(digests.values()), None)))


@asynccontextmanager
async def containers_removed(run_id: str) -> AsyncIterator[None]:
    """Removes the containers of a run when the context ends, or this process does, however it ends."""
    # A killed `docker run` passes no signal on, and an agent may ignore the signal that it gets.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", parent_guard.__file__, "after", "sh", "-c", _REMOVAL, f"{LABEL}={run_id}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        await process.wait()


async def _docker(*arguments: str) -> tuple[int, str]:
    """The exit code, and the output or, after a failure, the last line of the error."""
    process = await asyncio.create_subprocess_exec(
        "docker", *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, error = await process.communicate()
    code = process.returncode or 0
    if code == 0:
        return 0, output.decode(errors="replace")
    return code, (error.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
