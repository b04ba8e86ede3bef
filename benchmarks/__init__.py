"""Measures what the project promises about speed, side by side in one run, and as ratios where possible."""
