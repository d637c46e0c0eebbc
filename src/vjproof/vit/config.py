"""Sizes and declared choices of one Vision Transformer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vjproof.errors import VjproofError

GELU_FORMS = ("erf", "tanh")
POOLINGS = ("cls", "mean", "norm-mean")


@dataclass(frozen=True)
class Config:
    """One network: image C x H x W, patch P, D = heads * head width, MLP width M, depth k, K classes.

    `prefix` counts the tokens before the patches (1: CLS; 2: CLS and DeiT's distillation token; 0: none).
    `readout` counts the leading rows that the head reads under `pooling="cls"` (2 for DeiT, else 1).
    `pooling`: "cls" reads leading rows; "mean" takes the mean of the patch rows, then the final norm
    (timm's `fc_norm`); "norm-mean" normalises every row, then takes the mean.
    `eps` stands inside the root of every layer norm; `gelu` is "erf" or "tanh". Neither is ever guessed.
    """

    channels: int
    height: int
    width: int
    patch: int
    hidden: int
    heads: int
    mlp: int
    depth: int
    classes: int
    eps: float
    gelu: str
    prefix: int = 1
    readout: int = 1
    pooling: str = "cls"
    layer_scale: bool = False

    def __post_init__(self) -> None:
        for name in ("channels", "height", "width", "patch", "hidden", "heads", "mlp", "classes"):
            if getattr(self, name) < 1:
                raise VjproofError(f"config {name}", expected="a positive integer", got=repr(getattr(self, name)))
        if self.depth < 0:
            raise VjproofError("config depth", expected="0 or more", got=repr(self.depth))
        if not (math.isfinite(self.eps) and self.eps > 0):
            raise VjproofError(
                "config eps", expected="a finite number > 0", got=repr(self.eps),
                remedy="give the eps that the network was trained with (timm 1e-6, PyTorch 1e-5, HF 1e-12)",
            )  # fmt: skip
        if self.gelu not in GELU_FORMS:
            raise VjproofError("config gelu", expected="erf or tanh", got=repr(self.gelu))
        if self.pooling not in POOLINGS:
            raise VjproofError("config pooling", expected=" or ".join(POOLINGS), got=repr(self.pooling))
        if self.hidden % self.heads:
            raise VjproofError(
                "config heads", expected=f"a divisor of the width {self.hidden}", got=str(self.heads),
                remedy="pass the number of attention heads, heads=...",
            )  # fmt: skip
        if self.height % self.patch or self.width % self.patch:
            raise VjproofError(
                "config image size", expected=f"height and width that {self.patch} (the patch size) divides",
                got=f"{self.height} x {self.width}", remedy="resize or crop the image, or choose another size",
            )  # fmt: skip
        if self.pooling == "cls" and not 1 <= self.readout <= self.prefix:
            raise VjproofError("config readout", expected=f"1 to {self.prefix} leading rows", got=str(self.readout))

    @property
    def head_width(self) -> int:
        """Columns of one head, dh = D / heads."""
        return self.hidden // self.heads

    @property
    def grid(self) -> tuple[int, int]:
        """Patch rows and patch columns, (H / P, W / P)."""
        return self.height // self.patch, self.width // self.patch

    @property
    def patches(self) -> int:
        """Number of patch tokens, N."""
        rows, columns = self.grid
        return rows * columns

    @property
    def tokens(self) -> int:
        """Rows of the sequence: prefix tokens and patches."""
        return self.prefix + self.patches

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """(C, H, W)."""
        return self.channels, self.height, self.width
