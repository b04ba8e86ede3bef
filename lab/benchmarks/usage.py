"""What processes use: CPU time, memory and time by the clock. Linux, but for `cost_of`."""

import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


_LAUNCHER: Final = """
import os, subprocess, sys, time
began = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
took = time.perf_counter() - began
print(os.waitstatus_to_exitcode(status), took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""
"""A small process that starts the command: Linux takes the peak of the process that forks for the child's own."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took, with all of its processes; `peak_mib`: of the largest of them."""

    seconds: float
    cpu_s: float
    peak_mib: float


def cost_of(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    variables: Mapping[str, str] | None = None,
    succeeds_with: Collection[int] = (0,),
) -> Cost:
    """Runs a command. Raises RuntimeError if it ends with another exit code."""
    words = [str(word) for word in command]
    launcher = subprocess.Popen(
        [sys.executable, "-S", "-c", _LAUNCHER, *words],
        cwd=cwd, env=variables, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        told, _ = launcher.communicate()
    except BaseException:
        os.killpg(launcher.pid, signal.SIGTERM)
        launcher.wait()
        raise
    code, seconds, cpu, peak_kib = map(float, told.split())
    if code not in succeeds_with:
        raise RuntimeError(f"{' '.join(words[1:])} ended with {code:.0f}")
    return Cost(seconds, cpu, peak_kib / 1024)


def family(pid: int) -> list[int]:
    """A process and all of its descendants."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children[int(fields[1])].append(int(entry.name))
    found = [pid]
    for each in found:
        found += children[each]
    return found


def cpu_s(pid: int) -> float:
    """CPU seconds of a process, its descendants, and the children that they have waited for."""
    return sum(sum(map(int, _stat(each)[11:15])) for each in family(pid)) / TICKS_PER_S


def pss_mib(pid: int) -> float:
    """The proportional set size of a process and its descendants: shared pages count by their share."""
    return sum(map(_pss_kb, family(pid))) / 1024


def _pss_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` after the name of the program; none of a process that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
