"""The collector: receives step reports and agent registrations over HTTP."""

from importlib.metadata import version

__version__ = version("concord-collector")
