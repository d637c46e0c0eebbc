"""The chain on PyTorch, without its automatic differentiation: images in tiles, a tile at a time on each core."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from vjproof.engines.pieces import cut
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params

TILE = 4  # images that share one matrix product: enough rows to run at full speed, few enough to keep memory small
KEEP = 2**28  # bytes per image up to which attention weights are saved; above, the reverse computes them again
MEMORY = 2**30  # bytes that the tiles in flight may take together; one image is always allowed


@dataclass(frozen=True, eq=False)
class Prepared:
    """The folded constants, and the memory that no tile is using."""

    network: Any
    kind: Any
    wide: Any
    idle: dict[Any, list[Any]] = field(default_factory=lambda: defaultdict(list))

    @contextmanager
    def lent(self, maker: Any, config: Config, *sizes: Any) -> Iterator[Any]:
        """Give memory that `maker` made for these sizes, and take it back."""
        idle = self.idle[(maker, *sizes)]
        try:
            memory = idle.pop()
        except IndexError:
            memory = maker(config, *sizes)
        try:
            yield memory
        finally:
            idle.append(memory)


class TorchEngine:
    """Products in the given dtype; norms, softmax and sums at least in float32."""

    name = "torch"

    def prepare(self, config: Config, params: Params, dtype: str) -> Prepared:
        """Return the folded constants as torch tensors."""
        import torch

        from vjproof.engines.torch_chain.weights import fold

        kind = getattr(torch, dtype)
        return Prepared(fold(config, params, dtype), kind, torch.float32 if dtype == "bfloat16" else kind)

    def logits(self, config: Config, prepared: Prepared, images: Array) -> Array:
        """Return logits (B, K) for images (B, C, H, W)."""
        return _by_tile(config, prepared, images)

    def logits_and_gradient(
        self, config: Config, prepared: Prepared, images: Array, d_logits: Array
    ) -> tuple[Array, Array]:
        """Return logits (B, K) and the input gradient (B, C, H, W) for d_logits (B, K)."""
        from vjproof.engines.torch_chain.memory import empty

        d_values, out = _tensor(d_logits, prepared.wide)[:, None], empty(prepared.wide, *images.shape)

        def reverse(tile: Any, scratch: Any, place: slice) -> None:
            tile.pullback(scratch, d_values[place], out[place])

        values = _by_tile(config, prepared, images, reverse)
        return values, out.numpy()

    def jacobian(self, config: Config, prepared: Prepared, images: Array, d_logits: Array) -> Array:
        """Return input gradients (B, T, C, H, W) for T cotangents of each image, d_logits (B, T, K)."""
        from vjproof.engines.torch_chain.memory import empty

        rows = empty(prepared.wide, *d_logits.shape[:2], *config.image_shape)
        for image, d_values, out in zip(images, d_logits, rows, strict=True):
            _many(config, prepared, image[None], _tensor(d_values, prepared.wide), out)
        return rows.numpy()


def _by_tile(config: Config, prepared: Prepared, images: Array, then: Callable[..., None] | None = None) -> Array:
    """Return logits (B, K); `then(tile, scratch, place)` is called for the tile of every slice of the images."""
    import numpy as np
    import torch

    from vjproof.engines.torch_chain import buffers, memory
    from vjproof.engines.torch_chain.network import Tile
    from vjproof.engines.torch_chain.threads import spread

    pixels, keep = _tensor(images, prepared.wide), _keep(config, prepared)
    values = np.empty((len(images), config.classes), images.dtype)
    most = max(1, MEMORY // memory.image_bytes(config, prepared.kind.itemsize, keep))
    workers = min(torch.get_num_threads(), most)

    def work(place: slice) -> None:
        count = place.stop - place.start
        with (
            prepared.lent(buffers.Activations, config, count, prepared.kind, prepared.wide, keep) as saved,
            prepared.lent(buffers.Scratch, config, count, 1, prepared.kind, prepared.wide) as scratch,
        ):
            tile = Tile(config, prepared.network, saved, scratch, pixels[place])
            values[place] = tile.logits.numpy()
            if then is not None:
                then(tile, scratch, place)

    spread(work, list(cut(len(images), workers, min(TILE, most // workers))), workers)
    return values


def _many(config: Config, prepared: Prepared, image: Array, d_values: Any, out: Any) -> None:
    """Write the gradients `out` (T, C, H, W) of one image (1, C, H, W) for d_values (T, K): one forward pass."""
    import torch

    from vjproof.engines.torch_chain import buffers
    from vjproof.engines.torch_chain.network import Tile
    from vjproof.engines.torch_chain.threads import spread

    kind, wide, keep = prepared.kind, prepared.wide, _keep(config, prepared)
    workers = torch.get_num_threads()
    with prepared.lent(buffers.Activations, config, 1, kind, wide, keep) as saved:

        def forward(pixels: Any) -> Tile:
            with prepared.lent(buffers.Scratch, config, 1, 1, kind, wide) as scratch:
                tile = Tile(config, prepared.network, saved, scratch, pixels)
            tile.linearise()
            return tile

        (tile,) = spread(forward, [_tensor(image, wide)], 1)

        def work(place: slice) -> None:
            with prepared.lent(buffers.Scratch, config, 1, place.stop - place.start, kind, wide) as scratch:
                tile.pullback(scratch, d_values[None, place], out[place])

        spread(work, list(cut(len(d_values), workers, TILE)), workers)


def _keep(config: Config, prepared: Prepared) -> bool:
    from vjproof.engines.torch_chain.memory import weight_bytes

    return weight_bytes(config, prepared.kind.itemsize) <= KEEP


def _tensor(array: Array, dtype: Any) -> Any:
    import numpy as np
    import torch

    return torch.from_numpy(np.require(array, requirements=["C", "W"])).to(dtype)
