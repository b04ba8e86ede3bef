"""Notices of events to subscribers, over web sockets and webhooks."""
