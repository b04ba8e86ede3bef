"""The version of Concord: the one place that states it. The build reads this file."""

VERSION = "0.1.0"
