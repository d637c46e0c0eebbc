"""Engines: where the chain runs, and at which precision. Each takes and returns NumPy arrays."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Protocol

from vjproof.errors import VjproofError
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, count

ENGINES = ("numpy", "jax", "torch")
DTYPES = ("float32", "float64", "bfloat16")
# Work is tokens x parameters x images. PyTorch takes 1 to 2 s to load and XLA longer to compile: a process that does
# one thing and ends (`once`) is faster without them for a few images; one that goes on gets the seconds back.
WORTH_LOADING, WORTH_LOADING_ONCE, WORTH_COMPILING = 5e8, 1.5e10, 3e10


class Engine(Protocol):
    """One way of running the network of `config`; arrays in and out are NumPy's, of `storage(dtype)`."""

    name: str

    def prepare(self, config: Config, params: Params, dtype: str) -> Any:
        """Return the parameters as the engine holds them, for computing in `dtype`."""
        ...

    def logits(self, config: Config, prepared: Any, images: Array) -> Array:
        """Return logits (B, K) for images (B, C, H, W)."""
        ...

    def logits_and_gradient(self, config: Config, prepared: Any, images: Array, d_logits: Array) -> tuple[Array, Array]:
        """Return logits (B, K) and the input gradient (B, C, H, W) for the cotangent d_logits (B, K)."""
        ...

    def jacobian(self, config: Config, prepared: Any, images: Array, d_logits: Array) -> Array:
        """Return input gradients (B, T, C, H, W) for T cotangents of each image, d_logits (B, T, K)."""
        ...


def choose(engine: str, config: Config, batch: int, *, once: bool = False) -> Engine:
    """Return the engine of that name; "auto" is the fastest that is installed, for so many images.

    That is `numpy` for little work, else `torch`; without PyTorch, `jax` for what is worth compiling. `once`: these
    images are all that the process will do. Raises VjproofError for an unknown name, and where a library is absent.
    """
    if engine == "auto":
        work = batch * config.tokens * count(config)
        loading = WORTH_LOADING_ONCE if once else WORTH_LOADING
        faster, least = ("torch", loading) if installed("torch") else ("jax", WORTH_COMPILING)
        engine = faster if work > least else "numpy"
    if engine == "numpy":
        from vjproof.engines.numpy_engine import NumpyEngine

        return NumpyEngine()
    if engine == "jax":
        from vjproof.engines.jax_engine import JaxEngine

        return JaxEngine()
    if engine == "torch":
        if not installed("torch"):
            raise VjproofError(
                "engine torch", expected="PyTorch", got="a Python without it",
                remedy="pip install 'vjproof[torch]', or choose --engine jax",
            )  # fmt: skip
        from vjproof.engines.torch_engine import TorchEngine

        return TorchEngine()
    raise VjproofError("engine", expected=" or ".join(("auto", *ENGINES)), got=repr(engine))


def installed(library: str) -> bool:
    """Whether a library can be imported; it is not."""
    return find_spec(library) is not None


def check_dtype(dtype: str | None) -> str:
    """Return the dtype's name, float32 for None; VjproofError for one that no engine offers."""
    name = "float32" if dtype is None else getattr(dtype, "__name__", None) or str(dtype)
    if name not in DTYPES:
        raise VjproofError("dtype", expected=" or ".join(DTYPES), got=repr(dtype))
    return name


def storage(dtype: str) -> str:
    """Return the NumPy dtype of images, cotangents and gradients for computing in `dtype`: bfloat16's are float32.

    Operands of products are rounded to bfloat16, and nothing else is.
    """
    return "float32" if dtype == "bfloat16" else dtype
