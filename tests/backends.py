"""Run one function on NumPy arrays through each array library, and bring the results back."""

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import torch

LIBRARIES = ("numpy", "jax", "jax-jit", "torch", "array_api_strict")


def run(library, function, *trees):
    """Return `function(*trees)` computed by `library`: trees of NumPy arrays in, trees of NumPy arrays out.

    JAX computes in float64, without leaving its 64-bit mode on.
    """
    if library.startswith("jax"):
        with jax.enable_x64(True):
            run_in_jax = jax.jit(function) if library == "jax-jit" else function
            return jax.tree.map(np.asarray, run_in_jax(*jax.tree.map(jnp.asarray, trees)))
    to_library, back = {
        "numpy": (np.asarray, np.asarray),
        "torch": (torch.from_numpy, lambda a: a.numpy()),
        "array_api_strict": (array_api_strict.asarray, np.from_dlpack),
    }[library]
    return jax.tree.map(back, function(*jax.tree.map(to_library, trees)))
