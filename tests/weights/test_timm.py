"""Networks of the timm library itself give the same logits here."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from vjproof.errors import VjproofError
from vjproof.vit.model import logits
from vjproof.weights import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # the library's own deprecations are no concern of ours
]
SIZES = {
    "img_size": (16, 24), "patch_size": 4, "embed_dim": 24, "depth": 2, "num_heads": 3, "mlp_ratio": 2,
    "num_classes": 5,
}  # fmt: skip
CASES = {
    "plain": ({}, "cls"),
    "mean, then norm": ({"global_pool": "avg"}, "mean"),
    "norm, then mean": ({"global_pool": "avg", "fc_norm": False}, "norm-mean"),
    "no class token": ({"global_pool": "avg", "class_token": False}, "mean"),
    "registers": ({"reg_tokens": 4}, "cls"),
    "registers without positions, LayerScale": ({"reg_tokens": 4, "no_embed_class": True, "init_values": 0.1}, "cls"),
    "class token without position": ({"no_embed_class": True}, "cls"),
    "no bias of queries, keys, values": ({"qkv_bias": False}, "cls"),
    "no classifier": ({"num_classes": 0}, "cls"),
    "two heads": ({}, "cls"),
}


def build(changes, distilled=False):
    vision_transformer = pytest.importorskip("timm.models.vision_transformer")
    deit = pytest.importorskip("timm.models.deit")
    torch.manual_seed(0)
    network = deit.VisionTransformerDistilled if distilled else vision_transformer.VisionTransformer
    model = network(**(SIZES | changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("case", CASES)
def test_the_logits_agree(tmp_path, case):
    changes, pooling = CASES[case]
    model = build(changes, distilled=case == "two heads")
    save_file(model.state_dict(), tmp_path / "w.safetensors")
    given = {"pooling": pooling} if pooling == "norm-mean" else {}
    got = load(tmp_path / "w.safetensors", heads=3, grid=(4, 6), **given)
    assert got.config.pooling == pooling
    images = torch.randn(2, *got.config.image_shape)
    with torch.no_grad():
        expected = model(images).numpy()
    ours = np.asarray(logits(got.config, got.params, images.numpy()))
    np.testing.assert_allclose(ours, expected, atol=1e-5, rtol=0)
    off = load(tmp_path / "w.safetensors", heads=2, grid=(4, 6), **given)
    assert np.abs(np.asarray(logits(off.config, off.params, images.numpy())) - expected).max() > 1e-3


def test_positions_are_resized_as_timm_does(tmp_path):
    layers = pytest.importorskip("timm.layers")
    model = build({})
    save_file(model.state_dict(), tmp_path / "w.safetensors")
    got = load(tmp_path / "w.safetensors", heads=3, grid=(4, 6), image_size=(24, 20))
    expected = layers.resample_abs_pos_embed(model.pos_embed.detach(), new_size=[6, 5], old_size=[4, 6])
    np.testing.assert_allclose(got.params.position, expected[0].numpy(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("changes", [{"qk_norm": True}, {"pre_norm": True}, {"scale_mlp_norm": True}])
def test_other_networks_are_refused(tmp_path, changes):
    save_file(build(changes).state_dict(), tmp_path / "w.safetensors")
    with pytest.raises(VjproofError, match="expected a plain pre-norm ViT"):
        load(tmp_path / "w.safetensors", heads=3, grid=(4, 6))
