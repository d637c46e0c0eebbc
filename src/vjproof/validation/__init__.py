"""Gradients that others wrote: modules and JAX functions proved, refuted, or told where a proof stops."""
