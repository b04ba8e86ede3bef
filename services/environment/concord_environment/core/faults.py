"""What can be wrong with a call, named for what its caller can do about it."""


class Fault(Exception):  # noqa: N818 - the family's name; its members say what happened
    """A call that cannot be carried out. The message is for the caller."""


class NotThere(Fault):
    """Something that the call names does not exist (any more)."""


class Conflict(Fault):
    """The call does not fit the state that the simulation is in."""


class Forbidden(Fault):
    """The caller may not do this, or not in another's name."""


class Invalid(Fault):
    """The call says something that cannot be."""


class NotKept(Fault):
    """What was changed could not be written to where it would outlive the process."""
