"""The whole network on one tile of images: forward, and the reverse for one or more cotangents of each image."""

from __future__ import annotations

from typing import Any

from vjproof.engines.torch_chain import block, short_block
from vjproof.engines.torch_chain.buffers import Activations, Scratch
from vjproof.engines.torch_chain.weights import Network
from vjproof.layers import cls, dense, layer_norm
from vjproof.vit import model
from vjproof.vit.config import Config

Tensor = Any


class Tile:
    """A tile of images after its forward pass: `logits` (I, K), and what the reverse needs."""

    def __init__(
        self, config: Config, network: Network, activations: Activations, scratch: Scratch, images: Tensor
    ) -> None:
        """Run the forward pass on images (I, C, H, W), I = activations.images."""
        self.config, self.network, self.activations = config, network, activations
        self._embed(scratch, images)
        for p, saved in zip(network.blocks, activations.blocks, strict=True):
            block.forward(config, p, scratch, saved)
        rows = scratch.stream.unflatten(0, (activations.images, config.tokens))
        if network.short is not None:
            rows, self.short = short_block.forward(config, network.short, rows)
        elif config.pooling == "cls":
            rows = cls.slice_rows(rows, config.readout)
        self.logits = self._head(rows)

    def _embed(self, scratch: Scratch, images: Tensor) -> None:
        """Write the tokens of the images into `scratch.stream`."""
        import torch

        config, count = self.config, self.activations.images
        (rows, columns), p = config.grid, config.patch
        patches = scratch.patches
        cut = images.view(count, config.channels, rows, p, columns, p).permute(0, 2, 4, 1, 3, 5)
        patches.view(cut.shape).copy_(cut)
        embedded = self.network.w_patch.times(patches, out=scratch.embedded)
        by_image = scratch.stream.unflatten(0, (count, config.tokens))
        by_image[:, : config.prefix] = self.network.prefix
        torch.add(embedded.view(count, config.patches, -1), self.network.position, out=by_image[:, config.prefix :])

    def _head(self, x: Tensor) -> Tensor:
        """Return logits (I, K) for the rows that leave the tower, (I, m, D)."""
        config, tail = self.config, self.network.tail
        if config.pooling == "mean":
            x = cls.mean_rows(x, config.prefix)
        x, self.norm = layer_norm.forward(tail.norm_scale, tail.norm_bias, config.eps, x)
        if config.pooling == "norm-mean":
            x = cls.mean_rows(x, config.prefix)
        return dense.forward(tail.w_head, tail.b_head, x.flatten(1))

    def linearise(self) -> None:
        """Prepare for many cotangents: what the reverse needs of a block's MLP is computed once for all of them."""
        for saved in self.activations.blocks:
            block.linearise(self.config, saved)

    def pullback(self, scratch: Scratch, d_logits: Tensor, out: Tensor) -> None:
        """Write the gradients `out` (I * c, C, H, W) for c = scratch.cotangents cotangents of each image (I, c, K)."""
        config, network = self.config, self.network
        lead = (self.activations.images, scratch.cotangents)
        saved = model.Saved((), layer_norm.Saved(*(tensor[:, None] for tensor in self.norm)))
        pool = model.pool_back(config, lead).apply
        norm = model.final_norm_back(network.tail, saved, lead).apply
        d_rows = model.head_back(config, network.tail, lead).apply(d_logits)
        d_rows = norm(pool(d_rows)) if config.pooling == "norm-mean" else pool(norm(d_rows))
        d_rows = d_rows.flatten(0, 1)
        stream = scratch.stream.unflatten(0, (-1, config.tokens))
        if network.short is None:
            stream.copy_(d_rows)
        else:
            saved_short = short_block.for_each(self.short, scratch.cotangents)
            short_block.pullback(config, network.short, saved_short, d_rows, stream)
        for p, activations in zip(reversed(network.blocks), reversed(self.activations.blocks), strict=True):
            block.pullback(config, p, scratch, activations)
        self._unembed(scratch, out)

    def _unembed(self, scratch: Scratch, out: Tensor) -> None:
        """Write the images' cotangents (I * c, C, H, W) for the tokens', `scratch.stream`."""
        config = self.config
        (rows, columns), p = config.grid, config.patch
        d_tokens = scratch.stream.unflatten(0, (-1, config.tokens))[:, config.prefix :]
        scratch.embedded.view(d_tokens.shape).copy_(d_tokens)
        d_patches = self.network.w_patch_t.times(scratch.embedded, out=scratch.patches)
        cut = d_patches.view(-1, rows, columns, config.channels, p, p).permute(0, 3, 1, 4, 2, 5)
        out.view(cut.shape).copy_(cut)
