"""The base participants: teams of A2A agents that really coordinate."""

from importlib.metadata import version

__version__ = version("concord-purple")
