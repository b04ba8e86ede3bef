"""Errors that parts on every floor raise and handle alike."""


class StorageUnavailableError(Exception):
    """Storage cannot be reached or refuses writes. Nothing was stored; the caller may retry."""


class UnusableServerError(Exception):
    """A server of storage is too old, or its URL is none. One line, without the URL."""


class StorageFullError(StorageUnavailableError):
    """Storage has no memory left."""
