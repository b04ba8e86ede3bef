"""Drivers: each runs a trial, by writing down a given pattern or by giving a team its task."""
