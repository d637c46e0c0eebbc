"""One transformer block in Equinox, by its own layers."""

import equinox
import jax


class Block(equinox.Module):
    """A pre-norm block of width `width` on tokens (n, width)."""

    first: equinox.nn.LayerNorm
    attention: equinox.nn.MultiheadAttention
    second: equinox.nn.LayerNorm
    up: equinox.nn.Linear
    down: equinox.nn.Linear

    def __init__(self, width, heads, hidden):
        keys = jax.random.split(jax.random.key(0), 3)
        biases = {f"use_{part}_bias": True for part in ("query", "key", "value", "output")}
        self.first, self.second = equinox.nn.LayerNorm(width), equinox.nn.LayerNorm(width)
        self.attention = equinox.nn.MultiheadAttention(heads, width, **biases, key=keys[0])
        self.up = equinox.nn.Linear(width, hidden, key=keys[1])
        self.down = equinox.nn.Linear(hidden, width, key=keys[2])

    def __call__(self, x):
        y = jax.vmap(self.first)(x)
        x = x + self.attention(y, y, y)
        y = jax.vmap(self.second)(x)
        return x + jax.vmap(self.down)(jax.nn.gelu(jax.vmap(self.up)(y)))


def forward_and_parameters(width=6, heads=2, hidden=5):
    """Return the block as a function of its parameters and tokens, and the parameters."""
    parameters, rest = equinox.partition(Block(width, heads, hidden), equinox.is_array)
    return (lambda parameters, x: equinox.combine(parameters, rest)(x)), parameters
