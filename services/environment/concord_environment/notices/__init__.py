"""Publish and subscribe: notices of events, delivered over web sockets."""
