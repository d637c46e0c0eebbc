"""The graph that a module unfolds to: tensor operations with sizes, each recorded once, data movement simplified.

Kinds: input(name) const(value, element type) refused(words), the kernel's unary and binary ones, power(exponent),
larger() compare(direction) select() broadcast(dims) transpose(order) reshape() slice(dim, start, stop) concat(dim)
reverse(dims) sum(dims) max(dims) dot(batch, contract).
Every simplification here is an equality of arrays of real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

from vjproof.errors import VjproofError
from vjproof.program.constants import read_literal
from vjproof.stablehlo.limits import MOST_OPERATIONS

Shape = tuple[int, ...]
Number = float | Fraction


class Node(NamedTuple):
    """One tensor: the operation that makes it, the nodes that it takes, its sizes, where it stands in the module."""

    kind: str
    inputs: tuple[int, ...]
    attributes: tuple[Any, ...]
    shape: Shape
    place: str


class Graph:
    """Nodes in order of definition; `place` is given to what is added next."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.place = ""
        self._known: dict[Any, int] = {}

    def add(self, kind: str, inputs: Sequence[int], attributes: tuple[Any, ...], shape: Shape) -> int:
        """Return the node of an operation, the earlier one where it is there already."""
        key = (kind, tuple(inputs), attributes, shape)
        if key not in self._known:
            if len(self.nodes) >= MOST_OPERATIONS:
                raise VjproofError(
                    "StableHLO module",
                    expected=f"at most {MOST_OPERATIONS} operations once calls and loops are unfolded",
                )
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(*key[:3], shape, self.place))
        return self._known[key]

    def shape(self, node: int) -> Shape:
        """Return the sizes of a node."""
        return self.nodes[node].shape

    def input(self, name: str, shape: Shape) -> int:
        """Return an input of the module, or a constant array that is kept by name."""
        return self.add("input", (), (name,), shape)

    def refused(self, words: str, shape: Shape, inputs: Sequence[int] = (), tag: int = 0) -> int:
        """Return a value that no program can state; `words` are the error should an output need it."""
        return self.add("refused", inputs, (words, tag), shape)

    def constant(self, value: Number | int, shape: Shape = (), element: str = "") -> int:
        """Return an array of one number: a literal of a floating-point format, or an exact rational (no format)."""
        number: Number = float(value) if element else Fraction(value)
        key = number.hex() if isinstance(number, float) else number
        scalar = self.add("const", (), (key, element), ())
        return scalar if shape == () else self.add("broadcast", (scalar,), ((),), shape)

    def literal(self, node: int) -> tuple[Number, str] | None:
        """Return (number, element type) where all entries are one literal or rational, else None."""
        kind, inputs, attributes, _, _ = self.nodes[node]
        if kind == "broadcast" and self.nodes[inputs[0]].kind == "const":
            attributes = self.nodes[inputs[0]].attributes
        elif kind != "const":
            return None
        key, element = attributes
        return (float.fromhex(key) if isinstance(key, str) else key), element

    def is_truth(self, node: int) -> bool:
        """Say whether a node holds truth values: a comparison, moved about."""
        kind, inputs, _, _, _ = self.nodes[node]
        while kind in ("broadcast", "reshape", "transpose", "slice"):
            kind, inputs, _, _, _ = self.nodes[inputs[0]]
        return kind == "compare"

    def number(self, node: int) -> Fraction | None:
        """Return the number that all entries are, where it is rational and is read as its own exact value."""
        found = self.literal(node)
        if found is None or (isinstance(found[0], float) and not math.isfinite(found[0])):
            return None
        if isinstance(found[0], Fraction):
            return found[0]
        constant, exact = read_literal(found[0], found[1])
        return Fraction(constant[0]) if exact else None

    def reshape(self, x: int, shape: Shape) -> int:
        """Return x with the same entries in the same row-major order."""
        kind, inputs, _, old, _ = self.nodes[x]
        if shape == old:
            return x
        if self.literal(x) is not None:
            return self._filled(x, shape)
        if kind == "reshape":
            return self.reshape(inputs[0], shape)
        return self.add("reshape", (x,), (), shape)

    def _filled(self, x: int, shape: Shape) -> int:
        node = self.nodes[x]
        scalar = x if node.kind == "const" else node.inputs[0]
        return scalar if shape == () else self.add("broadcast", (scalar,), ((),), shape)

    def broadcast(self, x: int, dims: Sequence[int], shape: Shape) -> int:
        """Return x with its dimension k at place dims[k], repeated along the others and along sizes of 1."""
        if self.literal(x) is not None:
            return self._filled(x, shape)
        kept = [k for k, dim in enumerate(dims) if self.shape(x)[k] == shape[dim]]
        x = self.reshape(x, tuple(self.shape(x)[k] for k in kept))
        places = tuple(dims[k] for k in kept)
        if self.shape(x) == shape and places == tuple(range(len(shape))):
            return x
        fresh = [size for dim, size in enumerate(shape) if dim not in places]
        if all(size == 1 for size in fresh) and places == tuple(sorted(places)):
            return self.reshape(x, shape)
        return self.add("broadcast", (x,), (places,), shape)

    def transpose(self, x: int, order: Sequence[int]) -> int:
        """Return x with dimension order[k] at place k."""
        kind, inputs, attributes, old, _ = self.nodes[x]
        shape = tuple(old[k] for k in order)
        if self.literal(x) is not None:
            return self._filled(x, shape)
        if kind == "transpose":
            return self.transpose(inputs[0], [attributes[0][k] for k in order])
        if tuple(order) == tuple(range(len(old))):
            return x
        if kind == "reverse":
            turned = [k for k, dim in enumerate(order) if dim in attributes[0]]
            return self.reverse(self.transpose(inputs[0], order), turned)
        return self.add("transpose", (x,), (tuple(order),), shape)

    def slice(self, x: int, dim: int, start: int, stop: int) -> int:
        """Return the entries start to stop - 1 along a dimension."""
        kind, inputs, attributes, old, _ = self.nodes[x]
        if (start, stop) == (0, old[dim]):
            return x
        shape = (*old[:dim], stop - start, *old[dim + 1 :])
        if self.literal(x) is not None:
            return self._filled(x, shape)
        if kind == "slice" and attributes[0] == dim:
            return self.slice(inputs[0], dim, attributes[1] + start, attributes[1] + stop)
        if kind == "concat" and attributes[0] == dim:
            parts, at = [], 0
            for part in inputs:
                size = self.shape(part)[dim]
                low, high = max(start, at), min(stop, at + size)
                if low < high:
                    parts.append(self.slice(part, dim, low - at, high - at))
                at += size
            return self.concat(parts, dim)
        return self.add("slice", (x,), (dim, start, stop), shape)

    def concat(self, parts: Sequence[int], dim: int) -> int:
        """Return arrays joined along a dimension; empty ones are left out, slices that meet become one again."""
        flat: list[int] = []
        for part in parts:
            kind, inputs, attributes, shape, _ = self.nodes[part]
            flat += inputs if kind == "concat" and attributes[0] == dim else [part] if prod(shape) else []
        merged: list[int] = []
        for part in flat or parts[:1]:
            joined = self._joined(merged[-1], part, dim) if merged else None
            merged[-1:] = [*merged[-1:], part] if joined is None else [joined]
        if len(merged) == 1:
            return merged[0]
        first = self.shape(merged[0])
        total = sum(self.shape(part)[dim] for part in merged)
        return self.add("concat", merged, (dim,), (*first[:dim], total, *first[dim + 1 :]))

    def _joined(self, left: int, right: int, dim: int) -> int | None:
        a, b = self.nodes[left], self.nodes[right]
        if a.kind == b.kind == "slice" and a.inputs == b.inputs and a.attributes[0] == b.attributes[0] == dim:
            return (
                self.slice(a.inputs[0], dim, a.attributes[1], b.attributes[2])
                if (a.attributes[2] == b.attributes[1])
                else None
            )
        if self.literal(left) is not None and self.literal(left) == self.literal(right):
            size = a.shape[dim] + b.shape[dim]
            return self._filled(left, (*a.shape[:dim], size, *a.shape[dim + 1 :]))
        return None

    def reverse(self, x: int, dims: Sequence[int]) -> int:
        """Return x in reverse order along dimensions."""
        kind, inputs, attributes, shape, _ = self.nodes[x]
        turned = set(dims)
        if kind == "reverse":
            turned, x = turned ^ set(attributes[0]), inputs[0]
        turned = {dim for dim in turned if shape[dim] > 1}
        return self.add("reverse", (x,), (tuple(sorted(turned)),), shape) if turned and self.literal(x) is None else x

    def live(self, outputs: Sequence[int]) -> list[int]:
        """Return the nodes that the outputs need, in order of definition."""
        needed, pending = set(), list(outputs)
        while pending:
            node = pending.pop()
            if node not in needed:
                needed.add(node)
                pending += self.nodes[node].inputs
        return sorted(needed)
