"""Loaded at the start of each process of a measured run: notes every file of the sources that the process enters.

The first call of a function of a file writes a line with the process and the file to `ENTERED_LOG`. Modules that are
only imported do not count.
"""

import os
import sys
import threading
from types import CodeType, FrameType

_LOG = os.environ.get("ENTERED_LOG")
_TREE = os.environ.get("ENTERED_TREE", "")
_seen: set[str] = set()
_known: dict[CodeType, None] = {}


def _note(frame: FrameType, event: str, argument: object) -> None:
    del argument
    code = frame.f_code
    if event != "call" or code in _known:
        return
    _known[code] = None
    name = code.co_filename
    if name in _seen or code.co_name.startswith("<") or not name.startswith(_TREE) or "/.venv" in name:
        return
    if "__module__" in code.co_names[:2] and not code.co_argcount:  # the body of a class
        return
    _seen.add(name)
    with open(_LOG or os.devnull, "a", encoding="utf-8") as log:  # noqa: PTH123 - pathlib is not loaded yet
        log.write(f"{os.getpid()}\t{name}\n")


if _LOG:
    sys.setprofile(_note)
    threading.setprofile(_note)
