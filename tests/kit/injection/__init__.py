"""Attacks on the judge by what agents write."""
