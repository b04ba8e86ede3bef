"""Text messages: SMS and RCS, in conversations of two or more."""
