"""Agents in containers: their command lines, their images, and their removal."""

import asyncio
import re
import shutil
from collections.abc import Iterable, Mapping
from typing import Final

from concord_cli.errors import UsageError

LABEL: Final = "concord.run"
"""Label of every container that a stack starts; its value is the run."""

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\}")


def container_command(image: str, names: Iterable[str], run_id: str, *arguments: str) -> tuple[str, ...]:
    """The command line that runs an image with the network of this machine, and with the variables `names` of docker's
    own environment.

    The values of the variables are not on the command line, which every user of the machine can read.
    """
    passed = [word for name in names for word in ("--env", name)]
    options = ("--rm", "--init", "--network", "host", "--label", f"{LABEL}={run_id}", *passed)
    return ("docker", "run", *options, image, *arguments)


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


async def fetch_images(images: Mapping[str, str]) -> None:
    """Pulls the images that this machine does not have; `images` are by participant. Raises UsageError."""
    if images and shutil.which("docker") is None:
        role = next(iter(images))
        raise UsageError(f"{role} has only an `image`, and docker is not installed: install docker, or give its `cmd`")
    for role, image in images.items():
        if (await _docker("image", "inspect", image))[0] != 0:
            code, error = await _docker("pull", "--quiet", image)
            if code != 0:
                raise UsageError(f"{role}: docker cannot pull its image {image}: {error}")


async def remove_containers(run_id: str) -> None:
    """Removes the containers of a run that outlived their `docker run`."""
    # A killed `docker run` passes no signal on.
    _, listed = await _docker("ps", "--all", "--quiet", "--filter", f"label={LABEL}={run_id}")
    if left := listed.split():
        await _docker("rm", "--force", *left)


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
