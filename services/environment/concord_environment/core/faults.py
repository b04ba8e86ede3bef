"""Errors that a caller can act on."""


class Fault(Exception):  # noqa: N818 - the family's name; its members say what happened
    """Base class of the errors that a call can raise. The message is for the caller."""


class NotThere(Fault):
    """The call names something that does not exist."""


class Conflict(Fault):
    """The current state does not allow the call."""


class Forbidden(Fault):
    """The caller lacks a permission."""


class Invalid(Fault):
    """A field has an invalid value."""


class NotKept(Fault):
    """A change could not be written to disk."""
