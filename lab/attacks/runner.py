"""The runner: makes one attack, and checks afterwards that the stack still works."""

import asyncio
from typing import Final

import httpx

from lab.attacks.attack import Attack, NotHeldError, NotTriedError, Outcome, Verdict
from lab.attacks.target import Target

LIMIT_S: Final = 120
"""The time limit of an attack (seconds). Against a stack that holds, every attack ends well before it."""

ALIVE_S: Final = 10


async def run_attack(attack: Attack, target: Target) -> Outcome:
    """Makes an attack and returns its outcome. A stack that stops answering or loses a process did not hold."""
    before = target.processes()
    try:
        async with asyncio.timeout(LIMIT_S):
            seen = await attack.run(target)
        verdict = Verdict.HELD
    except NotTriedError as reason:
        return Outcome(attack, Verdict.NOT_TRIED, str(reason))
    except NotHeldError as error:
        verdict, seen = Verdict.NOT_HELD, str(error)
    except Exception as error:
        verdict, seen = Verdict.NOT_HELD, f"it ended with {type(error).__name__}: {error}"
    if fault := await _gone(target) or _died(before, target.processes()):
        return Outcome(attack, Verdict.NOT_HELD, f"{fault}; {seen}")
    return Outcome(attack, verdict, seen)


async def _gone(target: Target) -> str:
    async with httpx.AsyncClient(timeout=ALIVE_S) as http:
        for name, url in (("gateway", target.gateway), ("collector", target.collector)):
            try:
                status = (await http.get(f"{url}/readyz")).status_code
            except httpx.HTTPError as error:
                return f"the {name} does not answer any more: {type(error).__name__}"
            if status != 200:
                return f"the {name} is not ready any more: {status}"
    return ""


def _died(before: dict[str, int], after: dict[str, int]) -> str:
    return "".join(f"the {name} died; " for name, pid in before.items() if after[name] != pid)
