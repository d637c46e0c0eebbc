"""Each layout: every weight is another integer, so a tensor in the wrong place or order is seen."""

import dataclasses

import numpy as np
import pytest

from tests.weights.checkpoints import (
    CONFIG,
    DINOV2_PARTS,
    HF5_PARTS,
    hugging_face,
    numbered,
    same,
    timm,
    write,
)  # fmt: skip
from vjproof.errors import VjproofError
from vjproof.weights import load

PARAMS = numbered()
SCALED = dataclasses.replace(CONFIG, layer_scale=True)
LAYOUTS = {
    "timm": (timm(PARAMS), CONFIG, 1e-6),
    "hf": (hugging_face(PARAMS), CONFIG, 1e-12),
    "hf5": (hugging_face(PARAMS, HF5_PARTS, blocks="layers"), CONFIG, 1e-12),
    "dinov2": (
        hugging_face(numbered(SCALED), DINOV2_PARTS, "dinov2.") | {"dinov2.embeddings.mask_token": np.zeros((1, 6))},
        SCALED, 1e-6,
    ),
}  # fmt: skip


def read(tmp_path, state, **arguments):
    return load(write(tmp_path / "w.safetensors", state), **({"heads": 2, "grid": (2, 3)} | arguments))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_tensor_lands_in_its_place(tmp_path, layout):
    state, config, eps = LAYOUTS[layout]
    got = read(tmp_path, state)
    assert got.notes.layout == layout
    assert got.config == dataclasses.replace(config, eps=eps)
    assert same(got.params, numbered(config)) == []
    assert any(line.startswith(f"eps {eps}") for line in got.notes.assumed)
    assert got.notes.ignored == (("dinov2.embeddings.mask_token",) if layout == "dinov2" else ())


def repacked(weight):
    """Rows (3, h, dh) as (h, 3, dh): the same shape, another network."""
    return weight.reshape(3, 2, 3, -1).swapaxes(0, 1).reshape(weight.shape)


@pytest.mark.parametrize(
    ("tensor", "mistake", "seen"),
    [
        ("attn.qkv.weight", repacked, ["w_k", "w_q", "w_v"]),
        ("attn.qkv.bias", repacked, ["b_k", "b_q", "b_v"]),
        ("attn.proj.weight", np.transpose, ["w_o"]),
        ("norm1.weight", np.negative, ["norm1_scale"]),
    ],
)
def test_a_wrong_packing_is_seen(tmp_path, tensor, mistake, seen):
    state = timm(PARAMS)
    state[f"blocks.1.{tensor}"] = mistake(state[f"blocks.1.{tensor}"])
    assert same(read(tmp_path, state).params, PARAMS) == [f"blocks.1.{name}" for name in seen]


def test_layer_scale_in_timm_names(tmp_path):
    got = read(tmp_path, timm(numbered(SCALED)))
    assert (got.notes.layout, got.config.layer_scale) == ("timm", True)
    assert same(got.params, numbered(SCALED)) == []


@pytest.mark.parametrize("names", ["timm", "hf"])
def test_two_heads_are_the_mean_of_their_logits(tmp_path, names):
    config = dataclasses.replace(CONFIG, prefix=2, readout=2)
    params = numbered(config)
    first, second = 2 * params.w_head[:6].T, 2 * params.w_head[6:].T
    state = timm(params) if names == "timm" else hugging_face(params, base="deit.")
    for key in [key for key in state if key.startswith(("head.", "classifier."))]:
        del state[key]
    heads = ("head", "head_dist") if names == "timm" else ("cls_classifier", "distillation_classifier")
    dist = "dist_token" if names == "timm" else "deit.embeddings.distillation_token"
    state |= {f"{heads[0]}.weight": first, f"{heads[1]}.weight": second, dist: params.prefix[None, 1:]}
    state |= {f"{heads[0]}.bias": params.b_head - 1, f"{heads[1]}.bias": params.b_head + 1}
    got = read(tmp_path, state)
    assert (got.notes.layout, got.config.readout, got.config.prefix) == ("deit", 2, 2)
    assert same(got.params, params) == []
    del state[f"{heads[0]}.weight"], state[f"{heads[0]}.bias"]
    with pytest.raises(VjproofError, match="missing: the tensors of the"):
        read(tmp_path, state)


def zeroed(params, *names):
    return params._replace(blocks=tuple(b._replace(**{n: 0 * getattr(b, n) for n in names}) for b in params.blocks))


def test_missing_query_key_value_biases_are_zero_and_said(tmp_path):
    state = {name: tensor for name, tensor in timm(PARAMS).items() if "qkv.bias" not in name}
    got = read(tmp_path, state)
    assert same(got.params, zeroed(PARAMS, "b_q", "b_k", "b_v")) == []
    assert "bias of q, k, v is 0: the file has none" in got.notes.assumed
    for i, block in enumerate(PARAMS.blocks):
        state |= {f"blocks.{i}.attn.q_bias": block.b_q, f"blocks.{i}.attn.v_bias": block.b_v}
    got = read(tmp_path, state)
    assert same(got.params, zeroed(PARAMS, "b_k")) == []
    assert "bias of k is 0: the file has none" in got.notes.assumed
    del state["blocks.1.attn.q_bias"]
    with pytest.raises(VjproofError, match=r"missing: blocks.1.attn.q_bias"):
        read(tmp_path, state)


def test_a_missing_classifier_gives_the_features(tmp_path):
    state = {name: tensor for name, tensor in timm(PARAMS).items() if not name.startswith("head.")}
    got = read(tmp_path, state)
    assert got.config.classes == 6
    np.testing.assert_array_equal(got.params.w_head, np.eye(6))
    assert not got.params.b_head.any()
    assert got.labels == tuple("012345")
    assert any("the outputs are the pooled features" in line for line in got.notes.assumed)


def test_pooling_follows_the_name_of_the_norm(tmp_path):
    assert read(tmp_path, timm(PARAMS)).config.pooling == "cls"
    assert read(tmp_path, timm(PARAMS), pooling="norm-mean").config.pooling == "norm-mean"
    pooled = read(tmp_path, timm(PARAMS, norm="fc_norm"))
    assert pooled.config.pooling == "mean"
    assert same(pooled.params, PARAMS) == []
    headless = dataclasses.replace(CONFIG, prefix=0, pooling="norm-mean", readout=1)
    state = timm(numbered(headless))
    del state["cls_token"]
    got = read(tmp_path, state)
    assert got.config == headless
    assert same(got.params, numbered(headless)) == []
    with pytest.raises(VjproofError, match="one final norm, got both"):
        read(tmp_path, timm(PARAMS) | timm(PARAMS, norm="fc_norm"))


@pytest.mark.parametrize("positioned", [0, 1, 3])
def test_registers_are_prefix_tokens_and_may_lack_positions(tmp_path, positioned):
    config = dataclasses.replace(CONFIG, prefix=3)
    params = numbered(config)
    rows = np.r_[0:positioned, 3:9]
    state = timm(params) | {"reg_token": params.prefix[None, 1:], "pos_embed": params.position[None, rows]}
    got = read(tmp_path, state).params
    expected = params.position.copy()
    expected[positioned:3] = 0
    assert same(got, params._replace(position=expected)) == []


def test_dinov2s_linear_classifier_is_refused(tmp_path):
    state = hugging_face(PARAMS) | {"classifier.weight": np.zeros((5, 12), np.float32)}
    with pytest.raises(VjproofError, match="the class token beside the mean of the patches"):
        read(tmp_path, state)


def test_one_error_lists_what_is_missing_unexpected_and_misshapen(tmp_path):
    state = timm(PARAMS)
    del state["blocks.1.mlp.fc2.bias"], state["norm.weight"]
    state |= {"decoder.weight": np.ones(3), "blocks.0.attn.proj.weight": np.ones((6, 7))}
    with pytest.raises(VjproofError) as caught:
        read(tmp_path, state)
    line = str(caught.value)
    assert "missing: blocks.1.mlp.fc2.bias, norm.weight" in line
    assert "unexpected: decoder.weight" in line
    assert "wrong shape: blocks.0.attn.proj.weight (6, 7) instead of (6, 6)" in line
    with pytest.raises(VjproofError) as caught:
        read(tmp_path, timm(PARAMS) | {f"extra.{i}": np.ones(1) for i in range(1000)})
    assert "and 994 more" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["blocks.0.attn.qkv.weight", "head.bias", "pos_embed"])
def test_non_finite_weights_are_refused(tmp_path, name, value):
    state = timm(PARAMS)
    state[name] = state[name].copy()
    state[name].flat[3] = value
    with pytest.raises(VjproofError, match=f"tensor {name}: expected finite numbers, got 1 of"):
        read(tmp_path, state)


def test_half_precision_files_are_widened(tmp_path):
    got = read(tmp_path, {name: (tensor / 4096).astype(np.float16) for name, tensor in timm(PARAMS).items()})
    assert got.params.w_head.dtype == np.float32
    np.testing.assert_array_equal(got.params.w_head, (PARAMS.w_head / 4096).astype(np.float16).astype(np.float32))
