"""The networks that are measured: usual sizes with random weights, and the built-in one."""

from __future__ import annotations

from pathlib import Path

from vjproof.classifier import Classifier
from vjproof.errors import VjproofError
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.config import Config

SIZES = {"tiny": (192, 3, 768), "small": (384, 6, 1536), "base": (768, 12, 3072)}  # D, heads, M at 224, patch 16
MODELS = (*SIZES, "fashion")


def config_of(name: str, depth: int = 12) -> Config:
    """Return the sizes of ViT-Tiny, Small or Base at 224 pixels."""
    hidden, heads, mlp = SIZES[name]
    return Config(3, 224, 224, 16, hidden, heads, mlp, depth, 1000, 1e-6, "erf")


def check_models(names: list[str]) -> list[str]:
    """Return `names`; VjproofError for one that is not known."""
    for name in names:
        if name not in MODELS:
            raise VjproofError("model", expected=" or ".join(MODELS), got=repr(name))
    return names


def write_model(name: str, folder: Path) -> str:
    """Write the network's weights into `folder`, and return what `vjproof.load` takes: a file, or a built-in name."""
    import numpy as np

    from vjproof.vit.params import map_tensors, random_params
    from vjproof.weights.native import save

    if name not in SIZES:
        return name
    path = folder / f"vit-{name}.safetensors"
    if not path.exists():
        config = config_of(name)
        params = map_tensors(lambda tensor: tensor.astype(np.float32), random_params(config, 0))
        looks = Preprocessing((224, 224), 3, (224, 224), "bicubic", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
        save(path, config, params, [f"class {k}" for k in range(config.classes)], looks)
    return str(path)


def inputs(model: Classifier, batch: int) -> tuple[object, object]:
    """Return images (B, C, H, W) and cotangents (B, K), one class each, float32; the same for each contestant."""
    import numpy as np

    generator = np.random.default_rng(batch)
    images = generator.standard_normal((batch, *model.config.image_shape), dtype=np.float32)
    classes = generator.integers(0, model.config.classes, batch)
    return images, np.eye(model.config.classes, dtype=np.float32)[classes]
