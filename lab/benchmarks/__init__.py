"""Benchmarks of what the project promises about speed: variants in one run, and ratios where possible."""
