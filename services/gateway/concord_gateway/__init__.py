"""The gateway: takes assessments over A2A, drives the agents under test, and answers with the result row."""

from importlib.metadata import version

__version__ = version("concord-gateway")
