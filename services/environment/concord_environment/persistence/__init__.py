"""Durability: a snapshot of the environment, and a journal of every change since the snapshot."""
