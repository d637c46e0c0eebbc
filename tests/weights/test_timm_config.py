"""timm's config.json on a hub."""

import pytest

from vjproof.errors import VjproofError
from vjproof.weights.json_file import Fields
from vjproof.weights.timm_config import is_timm, read_timm_config

PRETRAINED = {
    "input_size": [3, 224, 224], "interpolation": "bicubic", "crop_pct": 0.9, "crop_mode": "center",
    "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "num_classes": 1000, "label_names": ["n1", "n2"],
    "label_descriptions": {"n1": "tench"},
}  # fmt: skip
PLAIN = {"architecture": "vit_tiny_patch16_224", "num_classes": 1000, "num_features": 192, "global_pool": "token"}


def config(pretrained=None, **changes):
    return read_timm_config(
        Fields("config.json", PLAIN | {"pretrained_cfg": PRETRAINED | (pretrained or {})} | changes)
    )


def test_a_plain_config_is_read():
    got = config()
    assert (got.family, got.image, got.pooling, got.heads, got.gelu) == (
        "vit_tiny_patch16_224",
        (224, 224),
        "cls",
        None,
        None,
    )
    assert got.sizes == {"classes": 1000, "hidden": 192}
    assert got.labels == ("tench", "n2")
    assert got.classifier is True
    assert (got.transform.resize, got.transform.crop, got.transform.resample) == (248, (224, 224), "bicubic")
    assert config(num_classes=0).classifier is False


def test_arguments_of_the_model_are_read():
    arguments = {
        "num_heads": 4,
        "img_size": [32, 48],
        "act_layer": "gelu_tanh",
        "global_pool": "avg",
        "qkv_bias": False,
    }
    got = config(model_args=arguments)
    assert (got.heads, got.image, got.gelu, got.pooling, got.qkv_bias) == (4, (32, 48), "tanh", "norm-mean", False)


def test_squashed_and_oblong_images_are_resized_exactly():
    assert config({"crop_mode": "squash", "crop_pct": 1.0}).transform.resize == (224, 224)
    assert config({"input_size": [3, 100, 200], "crop_pct": 0.5}).transform.resize == (200, 400)
    assert config({"interpolation": "random"}).transform.resample is None


def test_heads_that_only_the_name_tells():
    assert config(architecture="vit_base_patch16_gap_224").heads == 16
    assert config(architecture="vit_base_patch16_gap_224", model_args={"num_heads": 4}).heads == 4


@pytest.mark.parametrize("name", ["vit_base_patch16_rope_ape_224", "vit_base_patch16_rpn_224"])
def test_networks_that_only_their_name_tells_apart_are_refused(name):
    with pytest.raises(VjproofError, match=f"expected a plain pre-norm ViT, got {name}: "):
        config(architecture=name)


@pytest.mark.parametrize("name", ["vit_base_patch16_siglip_224", "vit_base_patch32_clip_quickgelu_224", "eva02_base"])
def test_families_with_unstated_activations_are_marked(name):
    assert config(architecture=name).gelu == "unknown"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model_args": {"qk_norm": True}}, "model_args: expected arguments of a plain ViT, got qk_norm"),
        ({"model_args": {"pre_norm": False}}, "got pre_norm"),
        ({"model_args": {"act_layer": "quick_gelu"}}, "act_layer: expected"),
        ({"global_pool": "map"}, "global_pool: expected token or avg"),
        ({"global_pool": "max"}, "token or avg"),
        ({"pretrained_cfg": []}, "pretrained_cfg: expected an object"),
        ({"num_features": "192"}, "num_features: expected"),
        ({"pretrained": {"input_size": [3, 224]}}, "input_size: expected 3 whole numbers"),
        ({"pretrained": {"crop_pct": 0}}, "crop_pct: expected"),
        ({"pretrained": {"crop_mode": "border"}}, "crop_mode: expected"),
        ({"pretrained": {"label_names": [1]}}, "label_names: expected a list of strings"),
    ],
)
def test_other_values_are_refused(changes, reason):
    with pytest.raises(VjproofError) as caught:
        config(**changes)
    assert reason in str(caught.value)


def test_the_two_kinds_of_config_are_told_apart():
    assert is_timm(Fields("config.json", PLAIN))
    assert not is_timm(Fields("config.json", {"model_type": "vit", "architectures": []}))
