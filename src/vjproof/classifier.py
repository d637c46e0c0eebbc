"""A loaded network: weights, names, pre-processing, and its input gradient on any engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from vjproof import engines
from vjproof.errors import VjproofError
from vjproof.images.preprocessing import Preprocessing
from vjproof.layers.linear_map import LinearMap
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params
from vjproof.weights import Checkpoint, LoadReport

BUILT_IN = ("fashion",)


@dataclass(frozen=True, eq=False)
class Classifier:
    """One network, ready to run; `images` below are pre-processed arrays (B, C, H, W)."""

    name: str
    checkpoint: Checkpoint
    _prepared: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)

    @property
    def config(self) -> Config:
        """Sizes and declared choices."""
        return self.checkpoint.config

    @property
    def params(self) -> Params:
        """The weights, NumPy arrays as the file held them."""
        return self.checkpoint.params

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names, or class numbers as text."""
        return self.checkpoint.labels

    @property
    def preprocessing(self) -> Preprocessing:
        """The declared choices between a photograph and the input."""
        return self.checkpoint.preprocessing

    @property
    def notes(self) -> LoadReport:
        """What loading recognised, assumed and ignored."""
        return self.checkpoint.notes

    @property
    def sha256(self) -> str:
        """SHA-256 of the weights file."""
        return self.checkpoint.sha256

    def logits(self, images: Array, engine: str = "auto", dtype: str | None = None) -> Array:
        """Return logits (B, K) for images (B, C, H, W); VjproofError for a wrong shape or a non-finite pixel."""
        runner, prepared, images = self._ready(images, engine, dtype)
        return runner.logits(self.config, prepared, images)

    def input_gradient(self, images: Array, target: Any, engine: str = "auto", dtype: str | None = None) -> Array:
        """Return the gradient (B, C, H, W) of the target's logit, or of <target, logits>, at each image.

        `images` (B, C, H, W); `target` one class, B classes, or a cotangent (B, K). Per example: nothing is
        averaged over the batch. `engine` numpy, jax, torch or auto; `dtype` float32 (default), float64, or bfloat16
        (products of bfloat16 operands, float32 around them; the result is float32). Raises VjproofError
        for a wrong shape, a class out of range, or a non-finite number. Formula: MATH.md, `vitInputGradKB`.
        """
        return self.logits_and_gradient(images, target, engine, dtype)[1]

    def logits_and_gradient(
        self, images: Array, target: Any, engine: str = "auto", dtype: str | None = None
    ) -> tuple[Array, Array]:
        """Return logits (B, K) and `input_gradient` (B, C, H, W) from one forward pass."""
        runner, prepared, images = self._ready(images, engine, dtype)
        d_logits = cotangent(target, images.shape[0], self.config.classes, images.dtype)
        return runner.logits_and_gradient(self.config, prepared, images, d_logits)

    def jacobian(self, images: Array, targets: Any = None, engine: str = "auto", dtype: str | None = None) -> Array:
        """Return the input gradients (B, T, C, H, W) of T targets at each image, from one forward pass.

        `images` (B, C, H, W); `targets` T classes, T cotangents (T, K), or None for all classes: the Jacobian's
        rows. `engine` and `dtype` as in `input_gradient`. Raises VjproofError likewise. Formula: MATH.md,
        `vitInputGradKB`, with the same saved activations for each cotangent.
        """
        import numpy as np

        runner, prepared, images = self._ready(images, engine, dtype)
        wanted = np.asarray(np.arange(self.config.classes) if targets is None else targets)
        if wanted.ndim not in (1, 2) or not len(wanted):
            raise VjproofError(
                "targets", expected=f"classes (T,), or cotangents (T, {self.config.classes})",
                got=f"{wanted.dtype} {wanted.shape}",
            )  # fmt: skip
        rows = cotangent(wanted, len(wanted), self.config.classes, images.dtype)
        d_logits = np.repeat(rows[None], len(images), axis=0)
        return runner.jacobian(self.config, prepared, images, d_logits)

    def pullback(self, images: Array, dtype: str | None = None) -> LinearMap:
        """Return the linear map (B, K) -> (B, C, H, W) at the images; its `transpose` is the JVP (NumPy)."""
        from vjproof.engines.numpy_engine import pullback

        _, prepared, images = self._ready(images, "numpy", dtype)
        return pullback(self.config, prepared, images)

    def _ready(self, images: Array, engine: str, dtype: str | None) -> tuple[engines.Engine, Any, Array]:
        import numpy as np

        name = engines.check_dtype(dtype)
        images = np.asarray(images)
        if images.ndim != 4 or images.shape[1:] != self.config.image_shape:
            channels, height, width = self.config.image_shape
            raise VjproofError(
                "images", expected=f"an array (batch, {channels}, {height}, {width})", got=str(images.shape),
                remedy="pre-process the photograph, or load the model with image_size=...",
            )  # fmt: skip
        if images.dtype.kind not in "fiu":
            raise VjproofError("images", expected="real numbers", got=str(images.dtype))
        images = images.astype(engines.storage(name))
        if not np.isfinite(images).all():
            raise VjproofError("images", expected="finite pixels", got="a NaN or an infinity")
        runner = engines.choose(engine, self.config, images.shape[0])
        key = (runner.name, name)
        if key not in self._prepared:
            self._prepared[key] = runner.prepare(self.config, self.params, name)
        return runner, self._prepared[key], images


def cotangent(target: Any, batch: int, classes: int, dtype: Any) -> Array:
    """Return the cotangent (B, K) that `target` means: one class, B classes, or itself a (B, K) array.

    Raises VjproofError for a class out of range, a wrong count or shape, or a non-finite entry.
    """
    import numpy as np

    given = np.asarray(target)
    if given.ndim == 2:
        if given.shape != (batch, classes) or given.dtype.kind not in "fiu":
            raise VjproofError(
                "target", expected=f"a cotangent ({batch}, {classes})", got=f"{given.dtype} {given.shape}"
            )
        if not np.isfinite(given).all():
            raise VjproofError("target", expected="finite entries", got="a NaN or an infinity")
        return given.astype(dtype)
    if given.dtype.kind not in "iu" or given.shape not in ((), (batch,)):
        raise VjproofError(
            "target", expected=f"one class, {batch} classes (one for each image), or a cotangent ({batch}, {classes})",
            got=f"{given.dtype} {given.shape}",
        )  # fmt: skip
    outside = np.extract((given < 0) | (given >= classes), given)
    if outside.size:
        raise VjproofError("target", expected=f"classes from 0 to {classes - 1}", got=str(int(outside[0])))
    d_logits = np.zeros((batch, classes), dtype)
    d_logits[np.arange(batch), given] = 1
    return d_logits


def load(source: str | PathLike[str], **choices: Any) -> Classifier:
    """Return the network of a weights file or folder, or a built-in one by its name ("fashion").

    `choices` are those of `vjproof.weights.load`: heads, eps, gelu, image_size and so on, for what the file does
    not tell. Raises VjproofError where the file is broken, incomplete or not understood.
    """
    from vjproof import weights

    if source in BUILT_IN and not Path(source).exists():
        return Classifier(str(source), weights.load(built_in_path(str(source)), **choices))
    return Classifier(Path(source).stem, weights.load(source, **choices))


def built_in_path(name: str) -> Path:
    """Return the weights file of a built-in model."""
    return Path(__file__).parent / "data" / f"{name}.safetensors"
