"""What outlives the process: a snapshot, and a journal of every change since."""
