"""The whole loading of a folder or a file, and its report."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from tests.weights.checkpoints import hf_config, hugging_face, numbered, same, timm, write, write_folder
from vjproof.errors import VjproofError
from vjproof.weights import load
from vjproof.weights.positions import resize_positions

PARAMS = numbered()
PREPROCESSOR = {
    "do_resize": True, "size": {"height": 8, "width": 12}, "resample": 3, "do_rescale": True, "rescale_factor": 1 / 255,
    "do_normalize": True, "image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path, hugging_face(PARAMS), hf_config(layer_norm_eps=1e-5), PREPROCESSOR)


def test_a_folder_with_both_configs_leaves_nothing_assumed(folder):
    got = load(folder)
    assert (got.config.heads, got.config.eps, got.config.gelu) == (2, 1e-5, "erf")
    assert got.labels == tuple(f"class {i}" for i in range(5))
    assert (got.preprocessing.resize, got.preprocessing.resample) == ((8, 12), "bicubic")
    assert (got.preprocessing.mean, got.preprocessing.std) == ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    assert got.notes.assumed == ()
    assert got.source == str(folder)
    assert got.sha256 == hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert same(got.params, PARAMS) == []


def test_the_report_describes_the_network(folder):
    line = "image (3, 8, 12), patch 4, width 6, MLP 10, depth 2, prefix tokens 1 cls, stored as F32"
    assert line in load(folder).notes.recognised


def test_importing_the_loaders_imports_no_library():
    code = "import sys, vjproof.weights; print({'numpy', 'torch', 'safetensors', 'jax'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_a_bare_file_says_every_default(folder):
    got = load(folder / "model.safetensors", heads=2, grid=(2, 3))
    begins = [line.split()[0] for line in got.notes.assumed]
    assert begins == ["pooling", "eps", "gelu", "class", "resize", "resample", "mean", "std"]
    assert got.config.eps == 1e-12


def test_a_folder_of_timms_is_read(tmp_path):
    config = {
        "architecture": "vit_test", "num_classes": 5, "num_features": 6, "global_pool": "avg",
        "model_args": {"num_heads": 2, "fc_norm": False},
        "pretrained_cfg": {"input_size": [3, 8, 12], "label_names": list("abcde"), "mean": [0, 0, 0], "std": [1, 1, 1]},
    }  # fmt: skip
    got = load(write_folder(tmp_path, timm(PARAMS), config))
    assert (got.notes.layout, got.config.pooling, got.config.heads, got.config.eps) == ("timm", "norm-mean", 2, 1e-6)
    assert got.labels == tuple("abcde")
    assert (got.preprocessing.mean, got.preprocessing.std) == ((0.0,) * 3, (1.0,) * 3)
    assert same(got.params, PARAMS) == []


@pytest.mark.parametrize("method", ["bicubic-antialias", "bicubic"])
def test_positions_are_resized_on_request(folder, method):
    got = load(folder, image_size=(16, 8), positions=method)
    assert (got.config.grid, got.preprocessing.size) == ((4, 2), (16, 8))
    np.testing.assert_array_equal(got.params.position, resize_positions(PARAMS.position, 1, (2, 3), (4, 2), method))
    assert f"positions resized from (2, 3) to (4, 2) patches, {method} (argument)" in got.notes.recognised
    assert same(got.params, PARAMS) == ["position"]
    assert load(folder, image_size=20).config.grid == (5, 5)


def test_the_size_of_the_file_needs_no_resize(folder):
    got = load(folder, image_size=(8, 12))
    assert same(got.params, PARAMS) == []
    assert not any("positions resized" in line for line in got.notes.recognised)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"image_size": (9, 12)}, "config image size: expected height and width that 4"),
        ({"image_size": (8, 12, 3)}, "image_size: expected one or two whole numbers"),
        ({"image_size": "8"}, "image_size: expected one or two whole numbers"),
        ({"grid": 2.5}, "grid: expected one or two whole numbers"),
        ({"image_size": 0}, "config height: expected a positive integer"),
        ({"positions": "nearest"}, "positions: expected bicubic-antialias or bicubic"),
        ({"heads": 4}, "config heads: expected a divisor of the width 6, got 4"),
        ({"eps": 0.0}, "config eps: expected a finite number > 0"),
        ({"eps": float("nan")}, "config eps"),
        ({"gelu": "relu"}, "config gelu: expected erf or tanh"),
        ({"pooling": "max"}, "config pooling: expected"),
        ({"labels": ["a"]}, "labels: expected 5 names, got 1"),
        ({"std": (1.0, 0.0, 1.0)}, "pre-processing std"),
    ],
)
def test_bad_arguments_are_told(folder, arguments, reason):
    with pytest.raises(VjproofError, match=reason):
        load(folder, **arguments)


def test_config_files_that_are_no_objects_are_refused(folder):
    for name in ("preprocessor_config.json", "config.json"):
        (folder / name).write_text("[1]")
        with pytest.raises(VjproofError, match=f"{name}: expected a JSON object, got a list"):
            load(folder)


def test_a_missing_head_that_the_config_announces_is_missing(tmp_path):
    state = {name: tensor for name, tensor in hugging_face(PARAMS).items() if "classifier" not in name}
    with pytest.raises(VjproofError, match="expected a classifier"):
        load(write_folder(tmp_path, state, hf_config()))
    got = load(write_folder(tmp_path, state, hf_config(architectures=["ViTModel"])))
    assert got.config.classes == 6


def test_qkv_bias_false_in_the_config(tmp_path):
    state = {
        name: t for name, t in hugging_face(PARAMS).items() if not (".attention.attention." in name and "bias" in name)
    }
    got = load(write_folder(tmp_path, state, hf_config(qkv_bias=False)))
    assert not any(block.b_q.any() or block.b_k.any() or block.b_v.any() for block in got.params.blocks)
    with pytest.raises(VjproofError, match=r"missing: .*attention.key.bias"):
        load(write_folder(tmp_path, state, hf_config(qkv_bias=True)))
    with pytest.raises(VjproofError, match=r"unexpected: .*attention.key.bias"):
        load(write_folder(tmp_path, hugging_face(PARAMS), hf_config(qkv_bias=False)))


def test_the_report_is_text(tmp_path):
    state = timm(PARAMS) | {"mask_token": np.ones(1)}
    lines = load(write(tmp_path / "w.safetensors", state), heads=2, grid=(2, 3)).notes.lines()
    assert lines[0] == "layout: dinov2"
    assert "recognised: heads 2 (argument)" in lines
    assert lines[-1] == "ignored: mask_token"
