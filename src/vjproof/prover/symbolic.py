"""Symbolic networks: parameters and sizes of a Vision Transformer on a tape, towers of unknown depth.

Sizes: B images; an image C x (r P) x (s P), so N = r s patches; D = h c (heads x head width); M, K.
A tower of unknown depth is an opaque function; the functions of `vit` that recurse over the blocks are told so
while they are recorded, and run as they are otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from vjproof.layers import cls
from vjproof.layers.lift import flat, rows_of
from vjproof.layers.linear_map import LinearMap
from vjproof.program.recorder import Tape
from vjproof.program.size import Size
from vjproof.vit import spec, tower
from vjproof.vit.params import BlockParams, Params, shapes

AXES = ("B", "r", "s", "P", "C", "h", "c", "M", "K")
TOWER = "tower"  # all rows in, all rows out
SHORT_TOWER = "short_tower"  # all rows in, the rows that the head reads out


class OpaqueBlocks(Sequence[BlockParams]):
    """The blocks of a tower of unknown depth; `first` blocks stand before them."""

    def __init__(self, first: Sequence[BlockParams] = ()) -> None:
        self.first = tuple(first)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        raise TypeError("the number of these blocks is not known")

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return OpaqueBlocks(self.first[1:])
        return self.first[0]

    @property
    def opaque(self) -> bool:
        """Whether nothing is known of the first block."""
        return not self.first


class Net:
    """One symbolic network on a tape: `config`, `params`, and inputs by name."""

    def __init__(
        self, gelu: str = "erf", layer_scale: bool = False, pooling: str = "cls", depth: int | None = None
    ) -> None:
        self.tape = Tape(dict.fromkeys(AXES))
        size = {name: Size.of(name) for name in AXES}
        hidden, patches = size["h"] * size["c"], size["r"] * size["s"]
        height, width = size["r"] * size["P"], size["s"] * size["P"]
        self.config: Any = SimpleNamespace(
            channels=size["C"], height=height, width=width, patch=size["P"], hidden=hidden, heads=size["h"],
            head_width=size["c"], mlp=size["M"], classes=size["K"], depth=1 if depth is None else depth,
            eps=self.tape.input("eps", ()), gelu=gelu, prefix=1, readout=1, pooling=pooling,
            layer_scale=layer_scale, grid=(size["r"], size["s"]), patches=patches, tokens=1 + patches,
            image_shape=(size["C"], height, width),
        )  # fmt: skip
        self.batch = size["B"]
        self._shapes: Any = self._shapes_of(self.config)

    @staticmethod
    def _shapes_of(config: Any) -> Params:
        return shapes(config)  # a stand-in: `Config` itself holds integers

    def input(self, name: str, *shape: Any) -> Any:
        """Return the input `name` of this shape (Sizes, ints or texts)."""
        return self.tape.input(name, shape)

    def block(self, prefix: str = "block") -> BlockParams:
        """Return one block's parameters as inputs `prefix.w_q` and so on."""
        one: Any = SimpleNamespace(**{**vars(self.config), "depth": 1})
        (fields,) = self._shapes_of(one).blocks
        return BlockParams(
            *(None if shape is None else self.input(f"{prefix}.{name}", *shape)
              for name, shape in zip(BlockParams._fields, fields, strict=True))
        )  # fmt: skip

    def params(self, blocks: Any) -> Params:
        """Return the network's parameters as inputs, with the given blocks."""
        return Params(
            *(blocks if name == "blocks" else self.input(name, *shape)
              for name, shape in zip(Params._fields, self._shapes, strict=True))
        )  # fmt: skip

    @property
    def flat_tokens(self) -> Size:
        """Entries of the flat token matrix, n * D."""
        count: Size = self.config.tokens * self.config.hidden
        return count

    @property
    def flat_image(self) -> Size:
        """Entries of the flat image, C * H * W."""
        count: Size = self.config.channels * self.config.height * self.config.width
        return count


@contextmanager
def opaque_towers(rows_out: int | None = None, *, as_seed: bool = False) -> Iterator[None]:
    """Record towers over `OpaqueBlocks` as calls of an unknown function with an unknown reverse.

    `rows_out`: rows that the model's tower returns (None: all). `as_seed`: the model's tower is recorded as the CLS
    row of the seed's, which is the hypothesis of the induction that they are equal. The input is all that an unknown
    tower saves.
    """
    symbol = TOWER if rows_out is None else SHORT_TOWER
    kept = (spec.vit_body_kv_flat, spec.vit_tower_back_k, tower.forward, tower.back)

    def body(config: Any, blocks: Any) -> Any:
        if not _unknown(blocks):
            return kept[0](config, blocks)
        return lambda v: v.tape.call(TOWER, v, v.shape[-1:], v.ndim - 1)

    def body_back(config: Any, blocks: Any, v: Any) -> Any:
        if not _unknown(blocks):
            return kept[1](config, blocks, v)
        return lambda d_y: v.tape.call_back(TOWER, v, d_y, v.ndim - 1)

    def forward(config: Any, blocks: Any, x: Any) -> Any:
        if not _unknown(blocks):
            return kept[2](config, blocks, x)
        if as_seed:
            seed = body(config, blocks)(flat(x))
            return cls.slice_rows(rows_of(x.shape[-2], seed), 1), (x,)
        rows = x.shape[-2] if rows_out is None else rows_out
        return x.tape.call(symbol, x, (rows, x.shape[-1]), x.ndim - 2), (x,)

    def back(config: Any, blocks: Any, saved: Any, lead: Any) -> Any:
        if not _unknown(blocks):
            return kept[3](config, blocks, saved, lead)
        rows = config.tokens if rows_out is None else rows_out
        return LinearMap(
            (*lead, rows, config.hidden),
            (*lead, config.tokens, config.hidden),
            lambda d_y: d_y.tape.call_back(symbol, saved[0], d_y, d_y.ndim - 2),
            _no_transpose,
        )

    spec.vit_body_kv_flat, spec.vit_tower_back_k, tower.forward, tower.back = body, body_back, forward, back
    try:
        yield
    finally:
        spec.vit_body_kv_flat, spec.vit_tower_back_k, tower.forward, tower.back = kept


def _unknown(blocks: Any) -> bool:
    return isinstance(blocks, OpaqueBlocks) and blocks.opaque


def _no_transpose(_: Any) -> Any:
    raise NotImplementedError("the JVP of an unknown tower is not recorded")
