"""Faults: the errors that a caller can act on. The API answers each with a status of its own."""


class Fault(Exception):  # noqa: N818 - the members of the family have names of their own
    """Base class of all faults. The message is for the caller."""


class NotFound(Fault):
    """The call names something that does not exist."""


class Conflict(Fault):
    """The current state does not allow the call."""


class Forbidden(Fault):
    """The caller lacks a permission."""


class Invalid(Fault):
    """A field has an invalid value."""


class BadRequest(Fault):
    """The call has no meaning in the current state, or its action is incomplete."""
