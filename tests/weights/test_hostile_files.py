"""Damaged and forged files: whatever the bytes, a load ends in a network or in one line."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.weights.checkpoints import hf_config, hugging_face, numbered, same, timm, write, write_folder
from vjproof.errors import VjproofError
from vjproof.vit.params import named_tensors
from vjproof.weights import load

PARAMS = numbered()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 1 << 70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
TIMM = {
    "architecture": "vit_test", "num_classes": 5, "num_features": 6, "global_pool": "token",
    "model_args": {"num_heads": 2, "img_size": [8, 12], "qkv_bias": True, "act_layer": "gelu"},
    "pretrained_cfg": {"input_size": [3, 8, 12], "crop_pct": 0.9, "interpolation": "bicubic", "mean": [0, 0, 0]},
}  # fmt: skip
PREPROCESSOR = {
    "do_resize": True, "size": {"shortest_edge": 12}, "crop_size": [8, 12], "do_center_crop": True, "resample": 3,
    "do_rescale": True, "rescale_factor": 0.5, "do_normalize": True, "image_mean": [0, 0, 0], "image_std": [1, 1, 1],
}  # fmt: skip


def ends_well(path, **arguments):
    """The loaded checkpoint, or None after a refusal in one bounded line."""
    try:
        checkpoint = load(path, **arguments)
    except VjproofError as error:
        line = str(error)
    else:
        assert all(np.isfinite(tensor).all() for _, tensor in named_tensors(checkpoint.params))
        return checkpoint
    assert "\n" not in line
    assert len(line) < 1500
    return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("forged")


def test_the_unchanged_files_are_read(folder):
    assert ends_well(write_folder(folder, hugging_face(PARAMS), hf_config(), PREPROCESSOR)) is not None
    (folder / "preprocessor_config.json").unlink()
    assert ends_well(write_folder(folder, timm(PARAMS), TIMM)) is not None


@settings(max_examples=150)
@given(place=st.floats(0, 1), patch=st.binary(min_size=1, max_size=3), header=st.booleans())
def test_changed_bytes(folder, place, patch, header):
    path = write(folder / "w.safetensors", timm(PARAMS))
    data = bytearray(path.read_bytes())
    extent = 8 + int.from_bytes(data[:8], "little") if header else len(data)
    position = int(place * (extent - 1))
    data[position : position + len(patch)] = patch
    path.write_bytes(data)
    ends_well(path, heads=2, grid=(2, 3))


@settings(max_examples=150)
@given(data=st.data())
def test_changed_fields_of_hugging_faces_files(folder, data):
    config, preprocessor = hf_config(), dict(PREPROCESSOR)
    target = data.draw(st.sampled_from([config, preprocessor]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(JSON)
    ends_well(write_folder(folder, hugging_face(PARAMS), config, preprocessor))


@settings(max_examples=100)
@given(data=st.data())
def test_changed_fields_of_timms_file(folder, data):
    (folder / "preprocessor_config.json").unlink(missing_ok=True)
    config = json.loads(json.dumps(TIMM))
    target = data.draw(st.sampled_from([config, config["model_args"], config["pretrained_cfg"]]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(JSON)
    ends_well(write_folder(folder, timm(PARAMS), config))


def test_many_blocks_of_almost_nothing_are_refused_at_once(folder):
    state = timm(PARAMS) | {f"blocks.{i}.norm1.bias": np.zeros(6, np.float32) for i in range(2, 1000)}
    state |= {f"x{i}": np.zeros(0, np.float32) for i in range(20_000)}
    with pytest.raises(VjproofError, match=r"missing: .*unexpected: .* and 19994 more"):
        load(write(folder / "w.safetensors", state), heads=2, grid=(2, 3))
    assert same(load(write(folder / "w.safetensors", timm(PARAMS)), heads=2, grid=(2, 3)).params, PARAMS) == []
