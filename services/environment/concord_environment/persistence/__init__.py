"""What outlives the process: a snapshot of everything that a restart needs."""
