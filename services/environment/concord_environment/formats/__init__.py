"""Readers and writers of .ics, .eml and mbox files."""
