"""An ONNX graph in the making: nodes with readable names, and constants that are stored once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vjproof.layers.array import Array


class Graph:
    """Nodes in order and the constants that they read; equal nodes and equal constants are one."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self._known: dict[Any, str] = {}
        self._counts: dict[str, int] = {}

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Return the name of the operator's one result."""
        from onnx import helper

        key = (operator, *inputs, *sorted((name, repr(value)) for name, value in attributes.items()))
        if key not in self._known:
            name = self._numbered(operator)
            self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
            self._known[key] = name
        return self._known[key]

    def number(self, value: float) -> str:
        """Return the name of a float32 constant without axes."""
        import numpy as np

        return self.constant(np.asarray(value, np.float32))

    def integers(self, values: Sequence[int]) -> str:
        """Return the name of a constant list of int64, as shapes and axes are."""
        import numpy as np

        return self.constant(np.asarray(values, np.int64))

    def constant(self, array: Array) -> str:
        """Return the name of a constant array."""
        key = (str(array.dtype), array.shape, array.tobytes())
        if key not in self._known:
            name = self._numbered("Constant")
            self.constants[name] = array
            self._known[key] = name
        return self._known[key]

    def rename(self, name: str, wanted: str) -> None:
        """Give a node's result another name, here and where it is read."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for place, other in enumerate(names):
                    if other == name:
                        names[place] = wanted

    def _numbered(self, stem: str) -> str:
        self._counts[stem] = self._counts.get(stem, 0) + 1
        return f"{stem.lower()}_{self._counts[stem]}"
