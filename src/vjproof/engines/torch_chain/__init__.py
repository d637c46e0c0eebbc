"""The chain written out for PyTorch on a CPU: constants folded, memory allocated once, each step in place.

The formulas are those of `vjproof.vit.model`; the rewritings are listed in `weights` and `last_block`, and tests hold
the two chains equal.
"""
