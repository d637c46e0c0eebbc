"""A network's two programs as JAX functions of arrays, names to weights being a dict.

Weights are the last argument but the cotangent, which is the last: `forward(images, weights)` and
`gradient(images, weights, d_logits)`; without `weights` where they are inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import Array, unflatten

Weights = Mapping[str, Array]


def program(config: Config, what: str, weights: Weights | None) -> Callable[..., Array]:
    """Return `forward` or `gradient` (by `what`) of images (B, C, H, W); `weights` stand inside unless None.

    forward gives logits (B, K); gradient takes d_logits (B, K) too and gives d_images (B, C, H, W).
    """

    def forward(images: Array, given: Weights) -> Array:
        return model.logits(config, unflatten(config, dict(given)), images)

    def gradient(images: Array, given: Weights, d_logits: Array) -> Array:
        return model.logits_and_gradient(config, unflatten(config, dict(given)), images, d_logits)[1]

    function = forward if what == "forward" else gradient
    if weights is None:
        return function

    def with_weights(images: Array, *cotangent: Array) -> Array:
        return function(images, weights, *cotangent)

    with_weights.__name__ = what
    return with_weights


def arguments(config: Config, what: str, weights: Mapping[str, tuple[int, ...]] | None, batch: Any) -> list[Any]:
    """Return the arguments' shapes and dtypes as JAX states them, weights as a dict where they are arguments."""
    import jax

    def array(shape: tuple[Any, ...]) -> Any:
        return jax.ShapeDtypeStruct(shape, "float32")

    given: list[Any] = [array((batch, *config.image_shape))]
    if weights is not None:
        given.append({name: array(shape) for name, shape in weights.items()})
    if what == "gradient":
        given.append(array((batch, config.classes)))
    return given
