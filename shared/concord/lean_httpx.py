"""Importing this before httpx keeps httpx from importing its command line, and with it rich and pygments.

They take half of httpx's own start, only to offer `httpx.main`.
"""

import sys

sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # the import then fails, which httpx expects
