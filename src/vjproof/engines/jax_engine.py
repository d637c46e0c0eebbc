"""The chain compiled by XLA, through JAX; one compilation for each configuration, shape and dtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params


class JaxEngine:
    """Runs the layers' own lines under `jax.jit`, at the highest matrix-product precision of the device."""

    name = "jax"

    def prepare(self, params: Params, dtype: str) -> Params:
        """Return the parameters on JAX's default device, in `dtype`."""
        import jax
        import numpy as np

        with _precision():
            prepared: Params = jax.tree.map(lambda tensor: jax.device_put(np.asarray(tensor, dtype)), params)
        return prepared

    def logits(self, config: Config, prepared: Params, images: Array) -> Array:
        """Return logits (B, K) for images (B, C, H, W)."""
        return self._call(model.logits, config, prepared, images)

    def logits_and_gradient(
        self, config: Config, prepared: Params, images: Array, d_logits: Array
    ) -> tuple[Array, Array]:
        """Return logits (B, K) and the input gradient (B, C, H, W) for d_logits (B, K)."""
        values, gradient = self._call(model.logits_and_gradient, config, prepared, images, d_logits)
        return values, gradient

    def _call(self, function: Callable[..., Any], config: Config, *arguments: Any) -> Any:
        import jax
        import numpy as np

        with _precision():
            return jax.tree.map(np.asarray, _compiled(function, config)(*arguments))


@cache
def _compiled(function: Callable[..., Any], config: Config) -> Callable[..., Any]:
    import jax

    compiled: Callable[..., Any] = jax.jit(partial(function, config))
    return compiled


@contextmanager
def _precision() -> Iterator[None]:
    """Allow float64 and forbid TF32 here, and leave the caller's settings as they were."""
    import jax

    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield
