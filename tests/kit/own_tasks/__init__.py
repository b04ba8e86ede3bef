"""Scripted teams at own tasks, and the faults and traps planted in them."""
