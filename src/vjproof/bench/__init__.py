"""Measurements against other ways to the same gradient: each in a process of its own, one after the other in turns."""
