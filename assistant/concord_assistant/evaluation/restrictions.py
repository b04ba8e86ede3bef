"""Restrictions of the process that runs a scenario's evaluators, which it puts on itself. Standard library only."""

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any, Final

_DENIED_EVENTS: Final = (
    *("socket.", "subprocess.", "ctypes.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.kill"),
    *("pty.", "signal.pthread_kill", "syslog.", "shutil.", "sqlite3.", "webbrowser.", "urllib.", "ftplib.", "smtplib."),
    *("os.chdir", "os.chflags", "os.chmod", "os.chown", "os.link", "os.mkdir", "os.putenv", "os.remove", "os.rename"),
    *("os.rmdir", "os.setxattr", "os.symlink", "os.truncate", "os.unsetenv", "os.utime", "resource.", "mmap."),
)
"""Beginnings of the names of audit events. Source: the audit events table of Python's documentation."""

_DENIED_MODULES: Final = frozenset({"ctypes", "_ctypes", "_testcapi", "_testinternalcapi", "_posixsubprocess"})
_LISTINGS: Final = frozenset({"os.listdir", "os.scandir"})
_LIBRARY: Final = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))

_X86_64: Final = 0xC000003E
_AARCH64: Final = 0xC00000B7
_ARCHITECTURES: Final = {"x86_64": _X86_64, "aarch64": _AARCH64}

_CALLS: Final[dict[int, Sequence[int]]] = {
    # socket connect bind, fork vfork execve execveat, kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo
    # pidfd_send_signal pidfd_open pidfd_getfd, setsid setpgid, ptrace process_vm_readv process_vm_writev,
    # unshare setns mount bpf perf_event_open io_uring_setup prlimit64
    _X86_64: (
        *(41, 42, 49, 57, 58, 59, 322, 62, 200, 234, 129, 297, 424, 434, 438, 112, 109, 101, 310, 311),
        *(272, 308, 165, 321, 298, 425, 302),
    ),
    _AARCH64: (
        *(198, 203, 200, 221, 281, 129, 130, 131, 138, 240, 424, 434, 438, 157, 154, 117, 270, 271),
        *(97, 268, 40, 280, 241, 425, 261),
    ),
}
"""The system calls that fail with EPERM, by the kernel's number of the architecture."""
_CLONE: Final = {_X86_64: 56, _AARCH64: 220}
_CLONE3: Final = 435
_CLONE_THREAD: Final = 0x10000
_X32: Final = 0x40000000

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_FILTER: Final = 2

_LOAD: Final = 0x20
_IF_EQUAL: Final = 0x15
_IF_AT_LEAST: Final = 0x35
_IF_BITS: Final = 0x45
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF0000
_EPERM: Final = 0x00050001
_ENOSYS: Final = 0x00050026


def limit_resources(*, memory_bytes: int, cpu_s: int) -> None:
    """Limits address space and processor time. No file can be written and no core dumped, and few can be open.

    Where the process is not root's, it cannot start processes either.
    """
    for limit, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(limit, (value, value))


def deny_system_calls() -> bool:
    """Denies network, new processes and signals by a seccomp filter, which needs no privileges. False: unavailable.

    The process also ends with its parent from now on.
    """
    architecture = _ARCHITECTURES.get(platform.machine())
    if sys.platform != "linux" or architecture is None:
        return False
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _filter(architecture))
    instructions = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0
        and libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        and libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(program), 0, 0) == 0
    )


def _filter(architecture: int) -> list[tuple[int, int, int, int]]:
    """The instructions of the filter: code, offsets if true and if false, operand."""
    checks: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _EPERM),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_IF_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _EPERM),
        # The C library falls back from clone3 to clone, whose flags a filter can read.
        (_IF_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _ENOSYS),
    ]
    for call in _CALLS[architecture]:
        checks += [(_IF_EQUAL, 0, 1, call), (_RETURN, 0, 0, _EPERM)]
    return [
        *checks,
        (_IF_EQUAL, 0, 3, _CLONE[architecture]),
        (_LOAD, 0, 0, 16),  # its flags
        (_IF_BITS, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def deny_audited_events(zones: Sequence[str] = ()) -> None:
    """Denies what Python reports to audit hooks: network, processes, C calls, and files outside its own library.

    A hook cannot be removed. It binds Python code, not native code. `zones`: folders of time zones.
    """
    library = tuple({os.path.realpath(path) + os.sep for path in (*_LIBRARY, *zones)})
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int) or (not flags & writing and _within(path, library)):
                return
        elif event in _LISTINGS:
            if arguments and _within(arguments[0], library):
                return
        elif not (event == "import" and arguments[0] in _DENIED_MODULES) and not event.startswith(_DENIED_EVENTS):
            return
        raise PermissionError(f"an evaluator may not use {event}")

    add: Callable[[Callable[[str, tuple[Any, ...]], None]], None] = sys.addaudithook
    add(hook)


def _within(path: object, folders: tuple[str, ...]) -> bool:
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    return isinstance(path, str) and f"{os.path.realpath(path)}{os.sep}".startswith(folders)
