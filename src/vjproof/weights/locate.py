"""Which files of a path hold weights and configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from vjproof.errors import VjproofError
from vjproof.weights.pickled import PickledFile
from vjproof.weights.report import listed
from vjproof.weights.tensor_file import SafetensorsFile

PICKLED = (".pth", ".pt", ".bin")


@dataclass(frozen=True)
class Place:
    """The weights file, and the configuration files beside it when a folder was given."""

    weights: Path
    config: Path | None = None
    preprocessor: Path | None = None


def locate(path: str | os.PathLike[str]) -> Place:
    """Return the files under `path`: a folder, or one weights file (then no configuration is read)."""
    root = Path(path)
    if root.is_dir():
        config, preprocessor = root / "config.json", root / "preprocessor_config.json"
        return Place(
            _weights_in(root),
            config if config.is_file() else None,
            preprocessor if preprocessor.is_file() else None,
        )
    if not root.is_file():
        kind = "a device or pipe" if root.exists() else "no such file"
        raise VjproofError(str(root), expected="a folder or a weights file", got=kind)
    if root.suffix != ".safetensors" and root.suffix not in PICKLED:
        raise VjproofError(
            str(root),
            expected=f"a folder, .safetensors, {', '.join(PICKLED)}",
            got=f"a file {root.suffix or 'without suffix'}",
        )
    return Place(root)


def _weights_in(folder: Path) -> Path:
    usual = [name for name in ("model.safetensors", "pytorch_model.bin") if (folder / name).is_file()]
    found = usual or sorted(entry.name for entry in folder.glob("*.safetensors"))
    if (folder / "model.safetensors.index.json").is_file() and not usual:
        raise VjproofError(
            str(folder), expected="one weights file", got="a checkpoint in several shards",
            remedy="save it as one model.safetensors",
        )  # fmt: skip
    if not usual and len(found) != 1:
        raise VjproofError(
            str(folder), expected="model.safetensors, or one .safetensors file",
            got=listed(found) if found else "none", remedy="name the weights file itself",
        )  # fmt: skip
    return folder / found[0]


def open_tensors(path: Path) -> SafetensorsFile | PickledFile:
    """Open a weights file by its suffix; a context manager."""
    return PickledFile(path) if path.suffix in PICKLED else SafetensorsFile(path)
