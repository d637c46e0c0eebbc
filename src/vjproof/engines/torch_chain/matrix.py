"""A constant matrix W, and the fastest product x W that this PyTorch offers for it.

oneDNN multiplies faster where the constant was laid out for it once; PyTorch reaches that through operators that its
own compiler uses and that may change, so they are tried first, and `torch.mm` stands in where they are not as expected.
"""

from __future__ import annotations

from functools import cache
from typing import Any

Tensor = Any
ROWS = 512  # rows that the layout is chosen for; any number may come
TOLERANCE = 1e-5


class Matrix:
    """W (n, m) as it lies, multiplied by `torch.mm`."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight

    def times(self, x: Tensor, out: Tensor) -> Tensor:
        """Return x W: x (rows, n), the result (rows, m) in `out`, or in memory of its own."""
        import torch

        return torch.mm(x, self.weight, out=out)


class PackedMatrix(Matrix):
    """W laid out for oneDNN."""

    def __init__(self, weight: Tensor) -> None:
        import torch

        super().__init__(torch.ops.mkldnn._reorder_linear_weight(weight.t().contiguous(), ROWS))

    def times(self, x: Tensor, out: Tensor) -> Tensor:  # noqa: ARG002
        """Return x W in new memory: x (rows, n) to (rows, m)."""
        import torch

        return torch.ops.mkldnn._linear_pointwise(x, self.weight, None, "none", [], "")


def matrix(weight: Tensor) -> Matrix:
    """Return the fastest form of a weight (n, m)."""
    import torch

    return PackedMatrix(weight) if weight.dtype == torch.float32 and can_pack() else Matrix(weight)


@cache
def can_pack() -> bool:
    """Whether oneDNN's layout is there and gives the right product."""
    import torch

    if not torch.backends.mkldnn.is_available():
        return False
    x, weight = torch.linspace(-1, 1, 35).view(5, 7), torch.linspace(-2, 3, 77).view(7, 11)
    try:
        got = PackedMatrix(weight).times(x, x)
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return False
    want = x @ weight
    return bool(got.shape == want.shape and (got - want).abs().max() <= TOLERANCE * want.abs().max())
