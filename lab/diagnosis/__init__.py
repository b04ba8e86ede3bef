"""The protocol of diagnosis on corpora of failed runs."""
