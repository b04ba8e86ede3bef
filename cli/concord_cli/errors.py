"""The errors that end a command, one for each exit code."""


class UsageError(Exception):
    """The command cannot run as given: an invalid scenario, a port in use. One line; exit code 2."""


class AssessmentError(Exception):
    """There is no result: the green agent rejected the assessment, or that or its stack failed. Exit code 1."""


class IncompleteError(Exception):
    """There are results, but not for all of the input. Exit code 3."""


class PlugInsDifferError(Exception):
    """All is as it should be but the metrics of packages that are installed here or there alone. Exit code 6."""


class UnrecognisedError(Exception):
    """The input has traces, but no agent in any of them was recognised. Exit code 4."""
