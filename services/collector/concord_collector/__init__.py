"""The collector: takes reports of steps and registrations of agents."""

from importlib.metadata import version

__version__ = version("concord-collector")
