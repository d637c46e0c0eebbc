"""Engines: where the chain runs, and at which precision. Each takes and returns NumPy arrays."""

from __future__ import annotations

from typing import Any, Protocol

from vjproof.errors import VjproofError
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, count

ENGINES = ("numpy", "jax")
DTYPES = ("float32", "float64")
# A compiled engine starts later and runs faster; below this much work (token-parameter products) it never catches up.
COMPILE_ABOVE = 3e10


class Engine(Protocol):
    """One way of running the network of `config`."""

    name: str

    def prepare(self, params: Params, dtype: str) -> Any:
        """Return the parameters as the engine holds them, in `dtype`."""
        ...

    def logits(self, config: Config, prepared: Any, images: Array) -> Array:
        """Return logits (B, K) for images (B, C, H, W) of the prepared dtype."""
        ...

    def logits_and_gradient(self, config: Config, prepared: Any, images: Array, d_logits: Array) -> tuple[Array, Array]:
        """Return logits (B, K) and the input gradient (B, C, H, W) for the cotangent d_logits (B, K)."""
        ...


def choose(engine: str, config: Config, batch: int) -> Engine:
    """Return the engine of that name; "auto" is `numpy` for little work and `jax` for much.

    Raises VjproofError for an unknown name.
    """
    if engine == "auto":
        engine = "jax" if batch * config.tokens * count(config) > COMPILE_ABOVE else "numpy"
    if engine == "numpy":
        from vjproof.engines.numpy_engine import NumpyEngine

        return NumpyEngine()
    if engine == "jax":
        from vjproof.engines.jax_engine import JaxEngine

        return JaxEngine()
    raise VjproofError("engine", expected=" or ".join(("auto", *ENGINES)), got=repr(engine))


def check_dtype(dtype: str | None) -> str:
    """Return the dtype's name, float32 for None; VjproofError for one that no engine offers."""
    name = "float32" if dtype is None else getattr(dtype, "__name__", None) or str(dtype)
    if name not in DTYPES:
        raise VjproofError("dtype", expected=" or ".join(DTYPES), got=repr(dtype))
    return name
