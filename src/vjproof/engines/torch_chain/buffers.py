"""The memory of the chain, allocated once: what the forward pass saves, and what every step uses again.

Rows of all images stand in one matrix, image after image; rows of several cotangents of one image likewise. `kind` is
the dtype of products, `wide` that of sums, norms and the residual stream.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vjproof.engines.torch_chain.memory import empty, has_short_block
from vjproof.engines.torch_chain.tables import HeadRows, groups, of_group
from vjproof.vit.config import Config

Tensor = Any


class Heads(NamedTuple):
    """A group of heads: Q, K and V (g, n, dh), and the attention weights P (g, n, n) if they are kept."""

    query: Tensor
    key: Tensor
    value: Tensor
    weights: Tensor | None


class BlockActivations:
    """What one block saves: each norm's xh and 1 / sigma, the projections and attention weights by group, unless these
    are computed again, and the MLP's hidden input, or `slope`, the GELU's there."""

    def __init__(self, config: Config, images: int, kind: Any, wide: Any, keep: bool) -> None:
        n, d = config.tokens, config.hidden
        self.normed, self.normed2 = (empty(kind, images * n, d) for _ in range(2))
        self.reciprocal, self.reciprocal2 = (empty(wide, images * n, 1) for _ in range(2))
        self.hidden = empty(kind, images * n, config.mlp)
        self.slope: Tensor = None
        self.qkv = HeadRows(config, images, 3, kind)
        weights = empty(kind, images * config.heads, n, n) if keep else None
        self.heads = []
        for group in groups(config, images, kind):
            query, key, value = of_group(self.qkv.view, group)
            self.heads.append(Heads(query, key, value, None if weights is None else weights[group]))


class Activations:
    """What a tile of `images` images saves; `keep` says whether attention weights are among it."""

    def __init__(self, config: Config, images: int, kind: Any, wide: Any, keep: bool) -> None:
        self.images = images
        full = config.depth - has_short_block(config)
        self.blocks = [BlockActivations(config, images, kind, wide, keep) for _ in range(full)]


class Scratch:
    """What one tile uses again at every block, for a cotangent of each image or for `cotangents` of a single one.

    `slots` are the rows of one cotangent of all images.
    `stream` is the residual stream x (slots * n, D), and later its cotangent.
    `context` is attention's output, and later its cotangent; `contexts` and `d_heads` have what belongs to a group, of
    each cotangent.
    """

    def __init__(self, config: Config, images: int, cotangents: int, kind: Any, wide: Any) -> None:
        n, d, slots = config.tokens, config.hidden, images * cotangents
        rows = slots * n
        self.cotangents, self.low = cotangents, kind != wide
        self.slots = [slice(k * images * n, (k + 1) * images * n) for k in range(cotangents)]
        self.patches = empty(kind, slots * config.patches, config.channels * config.patch**2)
        self.embedded = empty(kind, slots * config.patches, d)
        self.dense = empty(kind, rows, d)
        self.active = empty(kind, rows, config.mlp)
        self.stream = empty(wide, rows, d)
        if self.low:
            self.lowered = empty(kind, rows, d)
            self.raised, self.raised2 = (empty(wide, rows, d) for _ in range(2))
        self.zero, self.one, self.eps = (empty(wide, rows, 1).fill_(value) for value in (0.0, 1.0, config.eps))
        self.context, self.d_qkv = (HeadRows(config, slots, parts, kind) for parts in (1, 3))
        cut = groups(config, images, kind)
        most = max(group.stop - group.start for group in cut)
        self.scores, self.weights = (empty(kind, most, n, n) for _ in range(2))
        self.contexts, self.d_heads = (
            [[of_group(part, group) for group in cut] for part in tables.view.split(images, 1)]
            for tables in (self.context, self.d_qkv)
        )
