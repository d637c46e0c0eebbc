"""Rigorous bounds on the error of a gradient that an engine computed."""
