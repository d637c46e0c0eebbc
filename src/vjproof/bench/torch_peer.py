"""PyTorch as its users write it: a module of nn layers, fused attention, and the image's gradient by autograd."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from vjproof.classifier import Classifier
from vjproof.vit.config import Config
from vjproof.vit.params import Array, BlockParams, Params


def linear(weight: Array, bias: Array) -> nn.Linear:
    """Return a layer with a weight given as (in, out), and a bias."""
    layer = nn.Linear(*weight.shape)
    layer.load_state_dict({"weight": torch.tensor(weight).T.contiguous(), "bias": torch.tensor(bias)})
    return layer


def norm(scale: Array, bias: Array, eps: float) -> nn.LayerNorm:
    """Return a layer norm."""
    layer = nn.LayerNorm(len(scale), eps=eps)
    layer.load_state_dict({"weight": torch.tensor(scale), "bias": torch.tensor(bias)})
    return layer


class Block(nn.Module):  # type: ignore[misc]
    """A pre-norm encoder block."""

    def __init__(self, config: Config, p: BlockParams) -> None:
        import numpy as np

        super().__init__()
        self.heads = config.heads
        self.norm1, self.norm2 = (
            norm(p.norm1_scale, p.norm1_bias, config.eps),
            norm(p.norm2_scale, p.norm2_bias, config.eps),
        )
        self.qkv = linear(np.concatenate([p.w_q, p.w_k, p.w_v], 1), np.concatenate([p.b_q, p.b_k, p.b_v]))
        self.proj, self.fc1, self.fc2 = linear(p.w_o, p.b_o), linear(p.w_1, p.b_1), linear(p.w_2, p.b_2)
        self.act = nn.GELU(approximate="tanh" if config.gelu == "tanh" else "none")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's rows, (B, n, D) to (B, n, D)."""
        batch, n, width = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(batch, n, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = qkv.unbind(0)
        context = functional.scaled_dot_product_attention(query, key, value)
        x = x + self.proj(context.transpose(1, 2).reshape(batch, n, width))
        return x + self.fc2(self.act(self.fc1(self.norm2(x))))


class Vit(nn.Module):  # type: ignore[misc]
    """A Vision Transformer with CLS pooling."""

    def __init__(self, config: Config, params: Params) -> None:
        super().__init__()
        self.patch = nn.Conv2d(config.channels, config.hidden, config.patch, config.patch)
        weights = {"weight": torch.tensor(params.patch_weight), "bias": torch.tensor(params.patch_bias)}
        self.patch.load_state_dict(weights)
        self.prefix, self.position = (nn.Parameter(torch.tensor(t)) for t in (params.prefix, params.position))
        self.blocks = nn.Sequential(*(Block(config, p) for p in params.blocks))
        self.norm = norm(params.norm_scale, params.norm_bias, config.eps)
        self.head = linear(params.w_head, params.b_head)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return logits, (B, C, H, W) to (B, K)."""
        x = self.patch(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.prefix.expand(len(x), -1, -1), x], dim=1) + self.position
        logits: torch.Tensor = self.head(self.norm(self.blocks(x))[:, 0])
        return logits


class TorchPeer:
    """Autograd, eager or compiled, in float32 or under bfloat16 autocast."""

    def __init__(self, model: Classifier, *, autocast: bool, compiled: bool) -> None:
        self.network: Any = Vit(model.config, model.params).eval().requires_grad_(requires_grad=False)
        if compiled:
            self.network = torch.compile(self.network, dynamic=False)
        self.autocast = autocast

    def gradient(self, images: Array, d_logits: Array) -> Array:
        """Return the input gradient (B, C, H, W) for images (B, C, H, W) and cotangents (B, K)."""
        x, logits = self._forward(images)
        (d_x,) = torch.autograd.grad(logits, x, torch.from_numpy(d_logits).to(logits.dtype))
        return d_x.numpy()

    def rows(self, image: Array, d_logits: Array) -> Array:
        """Return the gradients (T, C, H, W) at one image (1, C, H, W), (T, K): one graph, in PyTorch's batched form."""
        x, logits = self._forward(image)
        cotangents = torch.from_numpy(d_logits)[:, None].to(logits.dtype)
        (d_x,) = torch.autograd.grad(logits, x, cotangents, is_grads_batched=True)
        return d_x[:, 0].numpy()

    def _forward(self, images: Array) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.from_numpy(images).requires_grad_()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.autocast):
            return x, self.network(x)
