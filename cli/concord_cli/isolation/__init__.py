"""Seats in containers of their own: what each can reach, the doors through which it does, and their images."""
