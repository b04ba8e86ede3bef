"""Notices of what happens, for who subscribed: over web sockets and webhooks."""
