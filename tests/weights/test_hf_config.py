"""Hugging Face's JSON files."""

import numpy as np
import pytest

from tests.weights.checkpoints import hf_config
from vjproof.errors import VjproofError
from vjproof.weights.hf_config import read_hf_config, read_preprocessor
from vjproof.weights.json_file import Fields


def config(**changes):
    return read_hf_config(Fields("config.json", hf_config(**changes)))


def preprocessor(**values):
    return read_preprocessor(Fields("preprocessor_config.json", values))


def test_a_plain_config_is_read():
    got = config()
    assert (got.heads, got.eps, got.gelu, got.image, got.qkv_bias) == (2, 1e-12, "erf", (8, 12), True)
    assert got.sizes == {"hidden": 6, "depth": 2, "mlp": 10, "patch": 4, "channels": 3}
    assert got.labels == tuple(f"class {i}" for i in range(5))
    assert got.classifier is True
    assert config(architectures=["ViTModel"]).classifier is False
    assert config(architectures=None).classifier is None


@pytest.mark.parametrize(("act", "form"), [("gelu", "erf"), ("gelu_new", "tanh"), ("gelu_pytorch_tanh", "tanh")])
def test_activations(act, form):
    assert config(hidden_act=act).gelu == form


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("hidden_act", "quick_gelu", "expected gelu or gelu_new or gelu_pytorch_tanh, got quick_gelu"),
        ("hidden_act", "relu", "got relu"),
        ("model_type", "swin", "got swin"),
        ("model_type", "dinov3_vit", "got dinov3"),
        ("use_swiglu_ffn", True, "use_swiglu_ffn: expected false"),
        ("use_qk_norm", True, "expected false"),
        ("apply_layernorm", False, "apply_layernorm: expected true"),
        ("hidden_size", "6", "got 6"),
        ("layer_norm_eps", "tiny", "expected a finite number"),
        ("layer_norm_eps", float("nan"), "a finite number"),
        ("id2label", {"0": "a", "2": "b"}, "the strings of classes 0 to 1"),
        ("id2label", {"0": 1}, "strings of classes"),
        ("id2label", ["a"], "an object"),
        ("image_size", -8, "a size in pixels"),
        ("num_attention_heads", None, None),
    ],
)
def test_other_values_are_refused_in_one_line(field, value, reason):
    if reason is None:
        assert config(**{field: value}).heads is None
        return
    with pytest.raises(VjproofError, match=f"^config.json: {field}: expected .*") as caught:
        config(**{field: value})
    assert reason in str(caught.value)


def test_direct_resize_and_resize_with_crop():
    vit = preprocessor(size={"height": 224, "width": 224}, resample=2, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    assert (vit.resize, vit.crop, vit.resample) == ((224, 224), (224, 224), "bilinear")
    old = preprocessor(size=224, do_resize=True)
    assert (old.resize, old.crop, old.resample, old.mean) == ((224, 224), (224, 224), None, None)
    dino = preprocessor(
        size={"shortest_edge": 256}, crop_size={"height": 224, "width": 224}, do_center_crop=True, resample=3
    )
    assert (dino.resize, dino.crop, dino.resample) == (256, (224, 224), "bicubic")
    uncut = preprocessor(size={"height": 256, "width": 256}, crop_size=224, do_center_crop=False)
    assert (uncut.resize, uncut.crop) == ((256, 256), (256, 256))


def test_rescaling_folds_into_mean_and_std():
    pixel = 51.0
    for factor, flag in ((1 / 255, True), (1 / 127.5, True), (1.0, False)):
        got = preprocessor(rescale_factor=factor, do_rescale=flag, image_mean=[0.4], image_std=[0.2])
        expected = (pixel * factor - 0.4) / 0.2
        np.testing.assert_allclose((pixel / 255 - got.mean[0]) / got.std[0], expected, rtol=1e-12)
    assert preprocessor(rescale_factor=0.00392156862745098, image_mean=[0.4], image_std=[0.2]).mean == (0.4,)
    plain = preprocessor(do_normalize=False, image_mean=[0.4] * 3, image_std=[0.2] * 3)
    assert (plain.mean, plain.std) == ((0.0,) * 3, (1.0,) * 3)


@pytest.mark.parametrize(
    "values",
    [
        {"resample": 4},
        {"resample": "bicubic"},
        {"image_mean": 0.5},
        {"size": "big"},
        {"rescale_factor": 0},
        {"crop_size": [1]},
    ],
)
def test_odd_preprocessing_is_refused(values):
    with pytest.raises(VjproofError, match=f"^preprocessor_config.json: {next(iter(values))}: expected"):
        preprocessor(**values)
