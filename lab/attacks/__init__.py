"""Attacks on a running stack: what SECURITY.md promises, tried from outside."""
