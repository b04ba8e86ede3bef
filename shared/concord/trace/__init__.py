"""Traces: steps, reports of steps, their digests, and their decoding."""
