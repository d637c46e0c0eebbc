"""Layers: formula, saved activations, forward and pullback side by side, each written once.

Every function works on the trailing axes of its arrays and treats the leading ones as independent examples, so
one definition serves a vector, a sequence and a batch of sequences.
"""
