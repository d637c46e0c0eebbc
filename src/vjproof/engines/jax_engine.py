"""The chain compiled by XLA, through JAX; one compilation for each configuration, shape and dtype."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from vjproof.engines import scanned
from vjproof.engines.mixed import MixedArray, bare
from vjproof.engines.pieces import images_together, in_pieces
from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params

ROWS = 8  # cotangents of one image that are pulled back together


class JaxEngine:
    """Runs the layers' own lines under `jax.jit`, at the highest matrix-product precision of the device."""

    name = "jax"

    def prepare(self, config: Config, params: Params, dtype: str) -> tuple[str, Params]:
        """Return the parameters on JAX's default device, in `dtype`, equal blocks in one array."""
        _use_cache()
        _register()
        import jax
        import numpy as np

        kind = "float32" if dtype == "bfloat16" else dtype
        with _precision():
            stacked = scanned.stack(config, params)
            prepared: Params = jax.tree.map(lambda tensor: jax.device_put(np.asarray(tensor, kind)), stacked)
        return dtype, prepared

    def logits(self, config: Config, prepared: tuple[str, Params], images: Array) -> Array:
        """Return logits (B, K) for images (B, C, H, W)."""
        return self._call(_logits, config, prepared, images)

    def logits_and_gradient(
        self, config: Config, prepared: tuple[str, Params], images: Array, d_logits: Array
    ) -> tuple[Array, Array]:
        """Return logits (B, K) and the input gradient (B, C, H, W) for d_logits (B, K)."""
        values, gradient = self._call(_logits_and_gradient, config, prepared, images, d_logits)
        return values, gradient

    def jacobian(self, config: Config, prepared: tuple[str, Params], images: Array, d_logits: Array) -> Array:
        """Return input gradients (B, T, C, H, W) for T cotangents of each image, d_logits (B, T, K)."""
        together = max(1, images_together(config, prepared[0]) // 2)  # of cotangents, which run beside, there are many
        return in_pieces(partial(self._rows, config, prepared), together, images, d_logits)

    def _rows(self, config: Config, prepared: tuple[str, Params], images: Array, d_logits: Array) -> Array:
        import numpy as np

        dtype, params = prepared
        count = d_logits.shape[1]
        together = min(ROWS, count)
        with _precision():
            saved = _compiled(_saved, config, dtype)(params, images)
            pull = _compiled(_rows_of, config, dtype)
            parts = []
            for start in range(0, count, together):
                part = d_logits[:, start : start + together]
                missing = together - part.shape[1]  # padded, so that one compilation serves
                padded = np.pad(part, ((0, 0), (0, missing), (0, 0))) if missing else part
                parts.append(np.asarray(pull(params, saved, padded))[:, : part.shape[1]])
        return np.concatenate(parts, axis=1)

    def _call(self, function: Callable[..., Any], config: Config, prepared: tuple[str, Params], *arrays: Any) -> Any:
        import jax
        import numpy as np

        dtype, params = prepared

        def one_piece(*arrays: Array) -> Any:
            return jax.tree.map(np.asarray, _compiled(function, config, dtype)(params, *arrays))

        with _precision():
            return in_pieces(one_piece, images_together(config, dtype), *arrays)


def _logits(config: Config, params: Params, images: Array) -> Array:
    return model.forward(config, params, images, scanned)[0]


def _logits_and_gradient(config: Config, params: Params, images: Array, d_logits: Array) -> tuple[Array, Array]:
    values, saved = model.forward(config, params, images, scanned)
    return values, model.pullback(config, params, saved, scanned)(d_logits)


def _saved(config: Config, params: Params, images: Array) -> model.Saved:
    return model.forward(config, params, images, scanned)[1]


def _rows_of(config: Config, params: Params, saved: model.Saved, d_logits: Array) -> Array:
    import jax

    return jax.vmap(model.pullback(config, params, saved, scanned).apply, 1, 1)(d_logits)


@cache
def _compiled(function: Callable[..., Any], config: Config, dtype: str) -> Callable[..., Any]:
    import jax

    def run(*arrays: Any) -> Any:
        if dtype != "bfloat16":
            return function(config, *arrays)
        mixed = jax.tree.map(lambda leaf: MixedArray(leaf, rounded_product), arrays)
        return jax.tree.map(bare, function(config, *mixed), is_leaf=lambda leaf: isinstance(leaf, MixedArray))

    # The gradient may stand where the images stood: JAX has a copy of its own of what the caller gave.
    donated = (1,) if function is _logits_and_gradient else ()
    compiled: Callable[..., Any] = jax.jit(run, donate_argnums=donated)
    return compiled


def rounded_product(x: Array, y: Array) -> Array:
    """Return x y in float32, for x (..., m, k) and y (..., k, n) rounded to bfloat16."""
    import jax
    import jax.numpy as jnp

    if jax.default_backend() == "cpu":  # XLA has no such product there; a conversion and back it would drop
        return jnp.matmul(*(jax.lax.reduce_precision(operand, 8, 7) for operand in (x, y)))
    return jnp.matmul(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


@contextmanager
def _precision() -> Iterator[None]:
    """Allow float64 and forbid TF32 here, and leave the caller's settings as they were."""
    import jax

    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield


@cache
def _register() -> None:
    """Make JAX see the array in a mixed array."""
    import jax

    jax.tree_util.register_pytree_node(
        MixedArray,
        lambda mixed: ((mixed.value,), mixed.product),
        lambda product, children: MixedArray(children[0], product),
    )


def _use_cache() -> None:
    """Let XLA keep what it compiles, where nobody has started JAX before; a caller's own setting stands."""
    if "jax" not in sys.modules and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        import jax

        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(home / "vjproof" / "xla"))
