"""A constant matrix W, and the fastest product x W that this PyTorch offers for it.

oneDNN multiplies faster where the constant was laid out for it once; PyTorch reaches that through operators that its
own compiler uses and that may change, so they are tried first, and `torch.mm` stands in where they are not as expected.
"""

from __future__ import annotations

from functools import cache
from typing import Any

Tensor = Any
ROWS = 512  # rows that the layout is chosen for; any number may come
TOLERANCE = {"float32": 1e-5, "bfloat16": 1e-2}


class Matrix:
    """W (n, m) as it lies, multiplied by `torch.mm`."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight

    def times(self, x: Tensor, bias: Tensor | None = None, out: Tensor | None = None) -> Tensor:
        """Return x W + bias: x (rows, n), bias (m,); the result (rows, m) in `out`, or in memory of its own."""
        import torch

        product = torch.mm(x, self.weight, out=out)
        return product if bias is None else product.add_(bias)


class PackedMatrix(Matrix):
    """W laid out for oneDNN."""

    def __init__(self, weight: Tensor) -> None:
        import torch

        super().__init__(torch.ops.mkldnn._reorder_linear_weight(weight.t().contiguous(), ROWS))

    def times(self, x: Tensor, bias: Tensor | None = None, out: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Return x W + bias in new memory: x (rows, n) to (rows, m)."""
        import torch

        return torch.ops.mkldnn._linear_pointwise(x, self.weight, bias, "none", [], "")


def matrix(weight: Tensor) -> Matrix:
    """Return the fastest form of a weight (n, m)."""
    return PackedMatrix(weight) if can_pack(weight.dtype) else Matrix(weight)


@cache
def can_pack(dtype: Any) -> bool:
    """Whether oneDNN's layout is there for `dtype`, and gives the right product."""
    import torch

    if dtype not in (torch.float32, torch.bfloat16) or not torch.backends.mkldnn.is_available():
        return False
    x, weight, bias = (
        torch.linspace(-1, end, rows * columns).view(rows, columns).to(dtype)
        for end, rows, columns in ((1, 5, 7), (3, 7, 11), (2, 1, 11))
    )
    try:
        if dtype == torch.bfloat16 and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            return False
        got = PackedMatrix(weight).times(x, bias[0]).double()
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return False
    want = x.double() @ weight.double() + bias
    return bool(
        got.shape == want.shape
        and (got - want).abs().max() <= TOLERANCE[str(dtype).removeprefix("torch.")] * want.abs().max()
    )
