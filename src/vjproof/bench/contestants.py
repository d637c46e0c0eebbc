"""Who takes part: this package's engines, other ways to the same gradient, and the limit that matrix products set."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vjproof.classifier import Classifier
from vjproof.engines import installed

OURS, PEER, LIMIT = "ours", "peer", "limit"
# A peer, though the program is ours: it must not make the engines look faster than they are.
EXPORT = "onnxruntime float32"


@dataclass(frozen=True)
class Contestant:
    """One way to the gradient: `start(model)` returns an object with `gradient(images, d_logits)`, NumPy in and out.

    It may have `rows(image, d_logits)`: the gradients for d_logits (T, K) at one image (1, C, H, W), (T, C, H, W).
    """

    name: str
    kind: str
    dtype: str
    words: str
    needs: tuple[str, ...]
    start: Callable[[Classifier], Any]
    slow: bool = False

    def missing(self) -> str:
        """Return what it lacks on this machine, empty where it can run."""
        for need in self.needs:
            if not (shutil.which(need) if need in ("g++", "c++") else installed(need)):
                return need
        return ""


def _ours(engine: str, dtype: str) -> Contestant:
    def start(model: Classifier) -> Any:
        from vjproof.bench.ours import Ours

        return Ours(model, engine, dtype)

    needs = () if engine == "numpy" else (engine,)
    return Contestant(f"vjproof {engine} {dtype}", OURS, dtype, f"engine={engine!r}, dtype={dtype!r}", needs, start)


def _torch(dtype: str, compiled: bool) -> Contestant:
    def start(model: Classifier) -> Any:
        from vjproof.bench.torch_peer import TorchPeer

        return TorchPeer(model, autocast=dtype == "bfloat16", compiled=compiled)

    words = "torch.autograd.grad, fused attention, gradient of the image only"
    words += ", bfloat16 autocast" if dtype == "bfloat16" else ""
    return Contestant(
        f"torch {'compiled' if compiled else 'autograd'} {dtype}", PEER, dtype,
        words + (", torch.compile" if compiled else ""), ("torch", "g++") if compiled else ("torch",), start, compiled,
    )  # fmt: skip


def _jax(model: Classifier) -> Any:
    from vjproof.bench.jax_peer import JaxPeer

    return JaxPeer(model)


def _onnx(model: Classifier) -> Any:
    from vjproof.bench.ours import OnnxExport

    return OnnxExport(model)


def _products(dtype: str) -> Contestant:
    def start(model: Classifier) -> Any:
        from vjproof.bench.products import Products

        return Products(model, dtype)

    words = "the matrix products of the chain alone, PyTorch's"
    return Contestant(f"products {dtype}", LIMIT, dtype, words, ("torch",), start)


CONTESTANTS = (
    _ours("torch", "float32"), _ours("torch", "bfloat16"), _ours("jax", "float32"),
    _torch("float32", compiled=False), _torch("float32", compiled=True),
    _torch("bfloat16", compiled=False), _torch("bfloat16", compiled=True),
    Contestant("jax.vjp float32", PEER, "float32", "jax.jit of jax.vjp", ("jax",), _jax),
    Contestant(EXPORT, PEER, "float32", "our ONNX export", ("onnx", "onnxruntime"), _onnx, slow=True),
    _products("float32"), _products("bfloat16"),
)  # fmt: skip


def by_name(name: str) -> Contestant:
    """Return the contestant of that name; KeyError where there is none."""
    return {one.name: one for one in CONTESTANTS}[name]
