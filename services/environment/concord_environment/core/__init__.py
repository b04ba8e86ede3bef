"""The discrete-event simulation. It uses no wall clock, no randomness and no I/O."""
