"""Which files of a path are read."""

import os

import pytest

from vjproof.errors import VjproofError
from vjproof.weights.locate import locate


def test_a_folder_gives_weights_and_both_configs(tmp_path):
    for name in ("model.safetensors", "other.safetensors", "config.json", "preprocessor_config.json"):
        (tmp_path / name).touch()
    place = locate(tmp_path)
    assert place.weights == tmp_path / "model.safetensors"
    assert (place.config, place.preprocessor) == (tmp_path / "config.json", tmp_path / "preprocessor_config.json")
    assert locate(tmp_path / "model.safetensors").config is None


@pytest.mark.parametrize("name", ["pytorch_model.bin", "open_clip.safetensors"])
def test_a_folder_with_one_other_weights_file(tmp_path, name):
    (tmp_path / name).touch()
    assert locate(tmp_path).weights == tmp_path / name


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([], "got none; name the weights file itself"),
        (["a.safetensors", "b.safetensors"], "got a.safetensors, b.safetensors"),
        (["model.safetensors.index.json", "model-00001-of-00002.safetensors"], "a checkpoint in several shards"),
    ],
)
def test_other_folders_are_refused(tmp_path, names, reason):
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(VjproofError, match=reason):
        locate(tmp_path)


def test_absent_paths_and_other_suffixes_are_refused(tmp_path):
    with pytest.raises(VjproofError, match="got no such file"):
        locate(tmp_path / "none.safetensors")
    os.mkfifo(tmp_path / "pipe.safetensors")  # opening it would wait for a writer
    with pytest.raises(VjproofError, match="got a device or pipe"):
        locate(tmp_path / "pipe.safetensors")
    (tmp_path / "x.onnx").touch()
    with pytest.raises(VjproofError, match=r"got a file .onnx"):
        locate(tmp_path / "x.onnx")
