"""Traces of an open collector: listed, evaluated, and watched."""
