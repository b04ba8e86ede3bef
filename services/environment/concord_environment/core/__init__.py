"""The discrete-event core: pure state and time, without a wall clock, randomness or I/O."""
