"""A program for a fork server: writes its id to the file in its first argument, and does what the second one says."""

import os
import signal
import sys
import time


def main() -> None:
    """Ends with exit code 7, shows its variables, or sleeps."""
    path, does = sys.argv[1:]
    if does == "ignores SIGTERM":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - appends
        print(os.getpid(), file=file)
    sys.stdout.write(" ".join(sorted(os.environ)) + "\n")
    sys.stdout.flush()
    if does == "fails":
        sys.exit(7)
    time.sleep(600)


if __name__ == "__main__":
    main()
