"""ViT-Tiny/224 at its real sizes, random weights: exported, and run without vjproof."""

from types import SimpleNamespace

import numpy as np
import pytest

import vjproof
from tests.artifacts.test_standalone import AGREE, norm_error, run_alone
from vjproof.classifier import Classifier
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.config import Config
from vjproof.vit.params import map_tensors, random_params


@pytest.fixture(scope="module")
def network():
    config = Config(3, 224, 224, 16, 192, 3, 768, 12, 1000, 1e-6, "erf")
    params = map_tensors(lambda tensor: tensor.astype(np.float32), random_params(config, 0, 0.8))
    half = (0.5, 0.5, 0.5)
    checkpoint = SimpleNamespace(
        config=config, params=params, labels=tuple(map(str, range(1000))), sha256="0" * 64,
        preprocessing=Preprocessing((224, 224), 3, (224, 224), "bicubic", half, half),
        notes=SimpleNamespace(recognised=(), assumed=(), ignored=()),
    )  # fmt: skip
    return Classifier("tiny", checkpoint)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "runtime", "batch", "suffix"),
    [
        ("stablehlo", "jax", "symbolic", ".jax"),
        ("stablehlo", "iree", 2, "-batch2.mlirbc"),
        ("onnx", "onnxruntime", "symbolic", ".onnx"),
    ],
)
def test_the_gradient_agrees(network, tmp_path, form, runtime, batch, suffix):
    images = np.random.default_rng(0).standard_normal((2, 3, 224, 224)).astype(np.float32)
    d_logits = np.eye(1000, dtype=np.float32)[[3, 999]]
    vjproof.export(network, tmp_path, format=form, what="gradient", batch=batch)
    jobs = [(runtime, tmp_path / f"gradient{suffix}", None, {"images": images, "d_logits": d_logits})]
    (gradient,) = run_alone(jobs, tmp_path)
    exact = network.input_gradient(images, d_logits, dtype="float64")
    assert norm_error(gradient, exact) <= AGREE
    assert norm_error(gradient * np.float32(1.001), exact) > AGREE
