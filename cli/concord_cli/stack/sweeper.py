"""Removes a folder once nobody needs it: `sweeper.py FOLDER`, with a pipe as standard input.

The other end of the pipe is held by everything that uses the folder. When the last of them is gone, however it ended,
the pipe closes. Run by path with `-I -S`, like the leash.
"""

import os
import shutil
import signal
import sys


def main(folder: str) -> None:
    """Waits for the end of standard input, then removes the folder."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 1):
        pass
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
