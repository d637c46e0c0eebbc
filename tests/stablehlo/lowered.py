"""JAX functions as StableHLO text, read, run, and compared with JAX in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vjproof.stablehlo.module import Module
from vjproof.stablehlo.read import End, Link, read_pair, read_stablehlo

TOLERANCE = 1e-10


def arrays(*shapes: tuple[int, ...], seed: int = 0) -> list[Any]:
    """Random float64 arrays."""
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape) for shape in shapes]


def lowered(function: Callable[..., Any], *arguments: Any) -> str:
    """The StableHLO text of a function on arguments, all of them kept, in float64."""
    import jax

    with jax.enable_x64(True):
        return str(jax.jit(function, keep_unused=True).lower(*jax.tree.map(np.asarray, arguments)).as_text())


def values(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The leaves of what JAX computes in float64."""
    import jax

    with jax.enable_x64(True):
        return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]


def gap(module: Module, function: Callable[..., Any], *arguments: Any) -> float:
    """The largest relative difference between the module read and JAX; all numbers are finite."""
    import jax

    ours, theirs = module.run(*jax.tree.leaves(arguments)), values(function, *arguments)
    assert len(ours) == len(theirs)
    worst = 0.0
    for left, right in zip(ours, theirs, strict=True):
        assert left.shape == right.shape
        assert np.isfinite(left).all()
        assert np.isfinite(right).all()
        worst = max(worst, float(np.abs(left - right).max() / max(np.abs(right).max(), 1e-300)))
    return worst


def reverse_of(function: Callable[..., Any], wrt: int) -> Callable[..., Any]:
    """The function (arguments, cotangent) -> gradient with respect to one argument, by jax.vjp."""
    import jax

    def reverse(*arguments: Any) -> Any:
        *given, d_y = arguments
        _, back = jax.vjp(lambda x: function(*given[:wrt], x, *given[wrt + 1 :]), given[wrt])
        return back(d_y)[0]

    return reverse


def links_of(function: Callable[..., Any], arguments: tuple[Any, ...], wrt: int) -> list[Link]:
    """The links between a forward module and the module of its reverse, arguments first, then cotangents."""
    import jax

    count, before = len(jax.tree.leaves(arguments)), len(jax.tree.leaves(arguments[:wrt]))
    outputs = len(values(function, *arguments))
    links = [Link(End("input", place), End("input", place)) for place in range(count)]
    links += [Link(End("output", place), End("input", count + place)) for place in range(outputs)]
    inner = len(jax.tree.leaves(arguments[wrt]))
    return links + [Link(End("input", before + place), End("output", place)) for place in range(inner)]


def cotangents(function: Callable[..., Any], *arguments: Any) -> Any:
    """Random cotangents, a tree shaped as the function's result."""
    import jax

    generator = np.random.default_rng(7)
    with jax.enable_x64(True):
        return jax.tree.map(lambda leaf: generator.standard_normal(leaf.shape), jax.eval_shape(function, *arguments))


def pair_of(function: Callable[..., Any], arguments: tuple[Any, ...], wrt: int) -> tuple[Module, Module, Any]:
    """The forward and the gradient module, read together, and the cotangents they were lowered for."""
    d_y = cotangents(function, *arguments)
    texts = lowered(function, *arguments), lowered(reverse_of(function, wrt), *arguments, d_y)
    forward, gradient = read_pair(*texts, links_of(function, arguments, wrt))
    return forward, gradient, d_y


__all__ = ["arrays", "gap", "lowered", "pair_of", "read_stablehlo", "reverse_of"]
