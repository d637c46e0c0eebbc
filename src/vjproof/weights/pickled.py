"""PyTorch checkpoint files (.pth, .pt, .bin), only through `torch.load(weights_only=True)`.

That loader builds tensors and plain containers and runs no code from the file.
"""

from __future__ import annotations

import hashlib
import importlib.util
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from vjproof.errors import VjproofError
from vjproof.vit.params import Array
from vjproof.weights.json_file import shown
from vjproof.weights.tensor_file import widen

WRAPPERS = ("state_dict", "model", "model_state_dict")


class PickledFile:
    """The state dict of a PyTorch file."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.metadata: Mapping[str, str] = {}
        if importlib.util.find_spec("torch") is None:
            raise VjproofError(
                self.where, expected="PyTorch, which reads this kind of file", got="no torch installed",
                remedy="pip install torch, or convert the file to safetensors",
            )  # fmt: skip
        import torch

        try:
            with path.open("rb") as file:
                self.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                file.seek(0)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # torch's advice to whoever wrote the file
                    content = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # hostile bytes make the unpickler raise almost any exception
            raise VjproofError(
                self.where, expected="a PyTorch file of tensors alone",
                got=f"{type(error).__name__}: {shown(str(error), 120)}",
                remedy="files that need more than weights_only=True are not read; convert it to safetensors",
            ) from error  # fmt: skip
        self._tensors = _state_dict(content, self.where)
        # A view with stride 0 claims any size for a few bytes; no honest state dict is larger than its file,
        # but for tied tensors.
        claimed = sum(tensor.numel() * tensor.element_size() for tensor in self._tensors.values())
        if claimed > 4 * path.stat().st_size:
            raise VjproofError(self.where, expected="tensors that the file holds", got=f"{claimed} bytes claimed")
        self.stored = ", ".join(sorted({str(tensor.dtype) for tensor in self._tensors.values()}))
        self.shapes: Mapping[str, tuple[int, ...]] = {
            name: tuple(tensor.shape) for name, tensor in self._tensors.items()
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._tensors = {}

    def read(self, name: str) -> Array:
        """Return the tensor `name` as float32 or float64."""
        tensor = self._tensors[name].detach()
        if not tensor.dtype.is_floating_point or tensor.element_size() < 2 or str(tensor.layout) != "torch.strided":
            raise VjproofError(
                f"{self.where}: tensor {shown(name)}", expected="a dense tensor of floating point numbers",
                got=f"{tensor.dtype}, {tensor.layout}",
            )  # fmt: skip
        return widen((tensor.float() if tensor.element_size() == 2 else tensor).numpy())


def _state_dict(content: Any, where: str) -> dict[str, Any]:
    inner = [content[key] for key in WRAPPERS if isinstance(content, dict) and isinstance(content.get(key), dict)]
    tables = inner or [content]
    if len(tables) == 1 and isinstance(tables[0], dict):
        tensors = {
            name: value for name, value in tables[0].items() if isinstance(name, str) and hasattr(value, "numel")
        }
        if tensors and len(tensors) == len(tables[0]):
            return tensors
    raise VjproofError(
        where, expected=f"a state dict (names to tensors), plain or under {', '.join(WRAPPERS)}",
        got=f"{shown(content)}", remedy="save model.state_dict()",
    )  # fmt: skip
