"""PyTorch files: tensors alone, read without running anything from the file."""

import importlib.util
import pickle

import numpy as np
import pytest
import torch

from tests.weights.checkpoints import numbered, same, timm
from vjproof.errors import VjproofError
from vjproof.weights import load

STATE = {name: torch.from_numpy(np.ascontiguousarray(tensor)) for name, tensor in timm(numbered()).items()}


def read(path):
    return load(path, heads=2, grid=(2, 3))


@pytest.mark.parametrize("wrapper", [None, "state_dict", "model", "model_state_dict"])
@pytest.mark.parametrize("suffix", [".pth", ".pt", ".bin"])
def test_a_state_dict_is_read_plain_or_wrapped(tmp_path, wrapper, suffix):
    path = tmp_path / f"w{suffix}"
    torch.save(STATE if wrapper is None else {wrapper: STATE, "epoch": 3}, path)
    got = read(path)
    assert got.notes.layout == "timm"
    assert same(got.params, numbered()) == []


def test_bfloat16_is_widened(tmp_path):
    torch.save({name: (tensor / 4096).bfloat16() for name, tensor in STATE.items()}, tmp_path / "w.pth")
    got = read(tmp_path / "w.pth").params.b_head
    np.testing.assert_array_equal(got, (STATE["head.bias"] / 4096).bfloat16().float().numpy())


class Harmful:
    ran = False

    def __reduce__(self):
        return setattr, (Harmful, "ran", True)


@pytest.mark.parametrize("write", [torch.save, lambda value, path: path.write_bytes(pickle.dumps(value))])
def test_code_in_the_file_is_refused_and_does_not_run(tmp_path, write):
    write({"model": STATE, "extra": Harmful()}, tmp_path / "w.pth")
    with pytest.raises(VjproofError, match="expected a PyTorch file of tensors alone, got UnpicklingError"):
        read(tmp_path / "w.pth")
    assert not Harmful.ran


@pytest.mark.parametrize("data", [b"", b"not a file of torch", b"PK\x03\x04" + bytes(100)])
def test_other_bytes_are_refused(tmp_path, data):
    (tmp_path / "w.pth").write_bytes(data)
    with pytest.raises(VjproofError, match="expected a PyTorch file of tensors alone") as caught:
        read(tmp_path / "w.pth")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "content",
    [
        [1, 2],
        {"model": STATE, "state_dict": STATE},
        {"a": 3},
        {},
        STATE | {"epoch": 3},
        {3: torch.ones(1)},
        torch.ones(2),
    ],
)
def test_other_contents_are_refused(tmp_path, content):
    torch.save(content, tmp_path / "w.pth")
    with pytest.raises(VjproofError, match="expected a state dict"):
        read(tmp_path / "w.pth")


def test_a_view_that_claims_more_than_the_file_holds_is_refused(tmp_path):
    torch.save(STATE | {"huge": torch.ones(1).expand(1 << 40)}, tmp_path / "w.pth")
    with pytest.raises(VjproofError, match="expected tensors that the file holds"):
        read(tmp_path / "w.pth")


@pytest.mark.parametrize("tensor", [torch.arange(5), torch.ones(5).to(torch.float8_e4m3fn), torch.ones(5).to_sparse()])
def test_tensors_of_other_kinds_are_refused(tmp_path, tensor):
    torch.save(STATE | {"head.bias": tensor}, tmp_path / "w.pth")
    with pytest.raises(
        VjproofError, match=r"head.bias: expected a dense tensor|tensors that the file holds|PyTorch file"
    ):
        read(tmp_path / "w.pth")


def test_without_torch_the_remedy_is_told(tmp_path, monkeypatch):
    torch.save(STATE, tmp_path / "w.pth")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(VjproofError, match="got no torch installed; pip install torch, or convert"):
        read(tmp_path / "w.pth")
