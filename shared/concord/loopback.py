"""The loopback interface of this machine."""

from typing import Final

LOOPBACK: Final = "127.0.0.1"
