"""What can end a command, named for its exit code."""


class UsageError(Exception):
    """The command cannot be carried out as given: a bad scenario, a taken port. Exit code 2; one line."""


class AssessmentError(Exception):
    """There is no result: the assessment was rejected or failed, or the stack it needs did. Exit code 1."""


class IncompleteError(Exception):
    """There are results, but not of everything that was to be read. Exit code 3."""
