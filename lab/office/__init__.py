"""The gate of the office: who passes its days, and who must not."""
