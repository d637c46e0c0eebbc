"""Networks saved by the transformers library itself give the same logits here."""

import numpy as np
import pytest
import torch

from vjproof.errors import VjproofError
from vjproof.vit.model import logits
from vjproof.weights import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # the library's own deprecations are no concern of ours
]
SIZES = {
    "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "image_size": [16, 24], "patch_size": 4,
    "num_labels": 5,
}  # fmt: skip
MLP = {"intermediate_size": 32}
SQUARE = {"image_size": 16}
CASES = {
    "vit": ("ViTConfig", "ViTForImageClassification", MLP),
    "vit without biases, tanh": (
        "ViTConfig", "ViTForImageClassification", MLP | {"qkv_bias": False, "hidden_act": "gelu_new"}
    ),
    "vit backbone": ("ViTConfig", "ViTModel", MLP),
    "deit": ("DeiTConfig", "DeiTForImageClassification", MLP),
    "deit with teacher": ("DeiTConfig", "DeiTForImageClassificationWithTeacher", MLP),
    "dinov2 backbone": ("Dinov2Config", "Dinov2Model", SQUARE),
    "dinov2 with registers": ("Dinov2WithRegistersConfig", "Dinov2WithRegistersModel", SQUARE),
}  # fmt: skip


def build(config, network, sizes):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = getattr(transformers, network)(getattr(transformers, config)(**(SIZES | sizes))).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("form", ["folder", "state dict"])
@pytest.mark.parametrize("case", CASES)
def test_the_logits_agree(tmp_path, case, form):
    model = build(*CASES[case])
    if form == "folder":
        model.save_pretrained(tmp_path)
        got = load(tmp_path)
    else:  # the state dict has the names since version 5, save_pretrained writes those before it
        torch.save(model.state_dict(), tmp_path / "w.pth")
        gelu = "tanh" if model.config.hidden_act == "gelu_new" else "erf"
        grid = (4, 4) if model.config.image_size == 16 else (4, 6)
        got = load(tmp_path / "w.pth", heads=3, eps=model.config.layer_norm_eps, gelu=gelu, grid=grid)
    images = torch.randn(2, *got.config.image_shape)
    with torch.no_grad():
        output = model(images)
    expected = output.logits if hasattr(output, "logits") else output.last_hidden_state[:, 0]
    ours = np.asarray(logits(got.config, got.params, images.numpy()))
    np.testing.assert_allclose(ours, expected.numpy(), atol=1e-5, rtol=0)
    off = load(tmp_path if form == "folder" else tmp_path / "w.pth", heads=2, eps=0.1, gelu="erf", grid=got.config.grid)
    assert np.abs(np.asarray(logits(off.config, off.params, images.numpy())) - expected.numpy()).max() > 1e-3


def test_dinov2s_own_classifier_is_refused(tmp_path):
    build("Dinov2Config", "Dinov2ForImageClassification", SQUARE).save_pretrained(tmp_path)
    with pytest.raises(VjproofError, match="the class token beside the mean of the patches"):
        load(tmp_path)
