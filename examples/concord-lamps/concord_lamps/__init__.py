"""A suite with one family: how much oil the lamps of all seats need."""

from concord.suite import Suite
from concord_lamps.lamp_oil import LampOil

SUITE = Suite({LampOil.name: LampOil()})
