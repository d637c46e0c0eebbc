"""The n x n tables of attention, one for each head of each image, and the arrays that belong to them.

Rows hold the heads side by side, (images * n, h * dh), as dense layers read and write them. A product of one head may
read that as it lies; in bfloat16 PyTorch is faster where heads stand apart, without gaps, and many are multiplied in
one call, which is worth two copies.
"""

from __future__ import annotations

from typing import Any

from vjproof.engines.torch_chain.memory import empty
from vjproof.vit.config import Config

Tensor = Any
CACHE = 2**21  # bytes of scores that are worked on at a time


class HeadRows:
    """`parts` arrays of each head, such as Q, K and V, for some slots: `view` is (parts, slots, h, n, dh)."""

    def __init__(self, config: Config, slots: int, parts: int, kind: Any) -> None:
        self.config, self.apart = config, stand_apart(kind)
        self.memory: Tensor = None
        if self.apart:
            self.view = empty(kind, parts, slots, config.heads, config.tokens, config.head_width)
        else:
            self.memory = empty(kind, slots * config.tokens, parts * config.hidden)
            self.view = by_head(config, self.memory)

    def put(self, rows: Tensor) -> None:
        """Take what rows (slots * n, parts * h * dh) hold."""
        self.view.copy_(by_head(self.config, rows))

    def rows(self) -> Tensor:
        """Return all as rows (slots * n, parts * h * dh)."""
        if self.apart:
            if self.memory is None:
                parts, slots, heads, n, width = self.view.shape
                self.memory = empty(self.view.dtype, slots * n, parts * heads * width)
            by_head(self.config, self.memory).copy_(self.view)
        return self.memory


def by_head(config: Config, rows: Tensor) -> Tensor:
    """View rows (slots * n, parts * h * dh) as (parts, slots, h, n, dh)."""
    cut = rows.view(-1, config.tokens, rows.shape[1] // config.hidden, config.heads, config.head_width)
    return cut.permute(2, 0, 3, 1, 4)


def stand_apart(kind: Any) -> bool:
    """Whether heads are kept apart, for products of this dtype."""
    import torch

    return bool(kind == torch.bfloat16)


def groups(config: Config, images: int, kind: Any) -> list[slice]:
    """Return the tables that are worked on together: what stays in the cache, of one image unless heads are apart."""
    most = max(1, CACHE // (config.tokens**2 * kind.itemsize))
    spans = (
        [(0, images * config.heads)] if stand_apart(kind) else [(i * config.heads, config.heads) for i in range(images)]
    )
    found = []
    for start, count in spans:
        pieces = -(-count // most)
        found += [slice(start + count * k // pieces, start + count * (k + 1) // pieces) for k in range(pieces)]
    return found


def of_group(view: Tensor, group: slice) -> Tensor:
    """Return the arrays (parts, g, n, dh) of a group of tables, of a view (parts, slots, h, n, dh)."""
    image, first = divmod(group.start, view.shape[2])
    last = first + group.stop - group.start
    return view[:, image, first:last] if last <= view.shape[2] else view.flatten(1, 2)[:, group]
