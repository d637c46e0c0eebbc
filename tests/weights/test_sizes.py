"""Sizes from shapes, grids, and configurations that contradict the tensors."""

import numpy as np
import pytest

from tests.weights.checkpoints import CONFIG, hf_config, hugging_face, numbered, timm, write, write_folder
from vjproof.errors import VjproofError
from vjproof.weights import load

PARAMS = numbered()


def test_a_square_grid_is_assumed_and_said(tmp_path):
    state = timm(PARAMS) | {"pos_embed": np.ones((1, 10, 6), np.float32)}
    got = load(write(tmp_path / "w.safetensors", state), heads=2)
    assert got.config.grid == (3, 3)
    assert any("a square grid of 3 x 3 patches" in line for line in got.notes.assumed)


def test_another_grid_must_be_given(tmp_path):
    path = write(tmp_path / "w.safetensors", timm(PARAMS))
    with pytest.raises(VjproofError, match=r"got 7 rows, cls prefix tokens; .*grid=\(rows, columns\)"):
        load(path, heads=2)
    with pytest.raises(VjproofError, match="expected 10 or 9 position rows for a grid of 3 x 3 patches, got 7"):
        load(path, heads=2, grid=(3, 3))
    assert load(path, heads=2, grid=(3, 2)).config.grid == (3, 2)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("hidden_size", 12, "hidden: expected 6"), ("num_hidden_layers", 3, "depth: expected 2"),
        ("intermediate_size", 24, "mlp: expected 10"), ("patch_size", 8, "patch: expected 4"),
        ("num_channels", 1, "channels: expected 3"), ("image_size", 16, "17 or 16 position rows for a grid of 4 x 4"),
        ("image_size", [9, 12], "image size: expected multiples of the patch size 4, got 9 x 12"),
        ("id2label", {"0": "a"}, "class names: expected 5"), ("num_attention_heads", 4, "a divisor of the width 6"),
        ("num_hidden_layers", 10**9, "num_hidden_layers: expected a whole number"),
        ("num_hidden_layers", 10**7, "depth: expected 2"), ("layer_norm_eps", 0, "config eps"),
        ("layer_norm_eps", -1e-6, "config eps"),
    ],
)  # fmt: skip
def test_a_config_that_contradicts_the_tensors_is_refused(tmp_path, field, value, reason):
    folder = write_folder(tmp_path, hugging_face(PARAMS), hf_config(**{field: value}))
    with pytest.raises(VjproofError, match=reason):
        load(folder)


def test_the_same_config_without_the_contradiction_is_read(tmp_path):
    got = load(write_folder(tmp_path, hugging_face(PARAMS), hf_config()))
    assert got.config.image_shape == CONFIG.image_shape


def test_blocks_have_no_gaps_and_absurd_numbers_cost_nothing(tmp_path):
    gap = {name.replace("blocks.1.", "blocks.999999."): tensor for name, tensor in timm(PARAMS).items()}
    with pytest.raises(VjproofError, match="expected 1 to 1024 encoder blocks, got 1000000"):
        load(write(tmp_path / "w.safetensors", gap), heads=2, grid=(2, 3))
    gap = {name.replace("blocks.1.", "blocks.7."): tensor for name, tensor in timm(PARAMS).items()}
    with pytest.raises(VjproofError, match="expected blocks 0 to 7, got block 1 missing"):
        load(write(tmp_path / "w.safetensors", gap), heads=2, grid=(2, 3))
    none = {name: tensor for name, tensor in timm(PARAMS).items() if not name.startswith("blocks.")}
    with pytest.raises(VjproofError, match="encoder blocks, got none"):
        load(write(tmp_path / "w.safetensors", none), heads=2, grid=(2, 3))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("patch_embed.proj.weight", (6, 48)),
        ("patch_embed.proj.weight", (6, 3, 4, 2)),
        ("pos_embed", (7, 6)),
        ("pos_embed", (2, 7, 6)),
        ("cls_token", (6,)),
        ("head.weight", (6,)),
        ("blocks.0.mlp.fc1.weight", (6,)),
    ],
)
def test_odd_ranks_are_told(tmp_path, name, shape):
    state = timm(PARAMS) | {name: np.ones(shape, np.float32)}
    with pytest.raises(VjproofError, match="shape"):
        load(write(tmp_path / "w.safetensors", state), heads=2, grid=(2, 3))
