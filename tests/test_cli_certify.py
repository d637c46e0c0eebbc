"""`vjproof certify` from the command line."""

import json

import numpy as np
import pytest
from PIL import Image

from vjproof.cli import run


@pytest.fixture
def picture(tmp_path):
    file = tmp_path / "picture.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (28, 28), dtype=np.uint8)).save(file)
    return file


def test_certify_prints_and_writes_the_bounds(picture, tmp_path, capsys):
    out = tmp_path / "certificate.json"
    assert run(["certify", "fashion", str(picture), "--engine", "numpy", "-o", str(out), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads(out.read_text())
    assert 0 < record["absolute"] < 1e-3
    assert record["top_class"]["label"]


def test_a_gradient_from_elsewhere_is_certified(picture, tmp_path, capsys):
    file = tmp_path / "g.npy"
    np.save(file, np.zeros((1, 28, 28), np.float32))
    assert run(["certify", "fashion", str(picture), "--gradient", str(file)]) == 0
    assert "0.00% certain" in capsys.readouterr().out


def test_a_file_that_is_no_array_is_refused(picture, tmp_path, capsys):
    file = tmp_path / "g.npy"
    file.write_bytes(b"no array")
    assert run(["certify", "fashion", str(picture), "--gradient", str(file)]) == 2
    assert "expected a .npy file" in capsys.readouterr().err
