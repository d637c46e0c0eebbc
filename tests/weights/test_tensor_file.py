"""Bytes to numbers: widening is exact, other dtypes and other kinds of files are refused."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

from vjproof.errors import VjproofError
from vjproof.weights.tensor_file import SafetensorsFile


def test_every_half_precision_number_widens_exactly(tmp_path):
    bits = torch.arange(1 << 16, dtype=torch.int32).to(torch.uint16)
    state = {"half": bits.view(torch.float16), "brain": bits.clone().view(torch.bfloat16)}
    save_file(state, tmp_path / "x.safetensors")
    with SafetensorsFile(tmp_path / "x.safetensors") as file:
        for name, tensor in state.items():
            got = file.read(name)
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got, tensor.float().numpy())


@given(st.dictionaries(st.text(max_size=8), st.lists(st.integers(0, 5), max_size=4), max_size=5))
def test_any_file_of_the_library_reads_the_same(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("library") / "x.safetensors"
    generator = np.random.default_rng(len(table))
    state = {name: generator.standard_normal(shape) for name, shape in table.items() if name != "__metadata__"}
    safetensors.numpy.save_file(state, path)
    with SafetensorsFile(path) as file:
        assert file.shapes == {name: tensor.shape for name, tensor in state.items()}
        assert all(np.array_equal(file.read(name), tensor) for name, tensor in state.items())


def test_bfloat16_one_reads_as_one(tmp_path):
    header = json.dumps({"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\x80\x3f")
    with SafetensorsFile(path) as file:
        assert file.read("a").tolist() == [1.0]
        assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_float_dtypes_stay_and_others_are_refused(tmp_path):
    save_file(
        {"d": torch.ones(2, dtype=torch.float64), "i": torch.ones(2, dtype=torch.int64)}, tmp_path / "x.safetensors"
    )
    with SafetensorsFile(tmp_path / "x.safetensors") as file:
        assert file.read("d").dtype == np.float64
        with pytest.raises(VjproofError, match="tensor i: expected one of the dtypes F64, F32, F16, BF16, got I64"):
            file.read("i")


def test_a_file_that_shrinks_after_the_check_is_told(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file({"d": torch.ones(4096)}, path)
    with SafetensorsFile(path) as file:
        os.truncate(path, 1000)
        with pytest.raises(VjproofError, match="a file that shrank"):
            file.read("d")


def test_devices_and_absent_files_are_refused(tmp_path):
    with pytest.raises(VjproofError, match="expected a readable file, got No such file"):
        SafetensorsFile(tmp_path / "none.safetensors")
    with pytest.raises(VjproofError, match="expected a regular file"):
        SafetensorsFile(Path(os.devnull))
