"""`vjproof certify`, `check` of its certificates, and `explain --certify` from the command line."""

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


def test_several_ways_are_ranked_and_checked(picture, tmp_path, capsys):
    out = tmp_path / "certificate.json"
    ways = ["--engine", "numpy", "--dtype", "float32", "--dtype", "float64"]
    assert run(["certify", "fashion", str(picture), *ways, "-o", str(out), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads(out.read_text())
    assert [one["dtype"] for one in record["gradients"]] == ["float64", "float32"]
    assert 0 < record["gradients"][1]["absolute"] < 1e-3
    assert record["top_class"]["label"]
    assert run(["check", str(out)]) == 0
    assert "1 of 1 certificates stand" in capsys.readouterr().out
    record["gradients"][1]["absolute"] /= 2
    out.write_text(json.dumps(record))
    assert run(["check", str(out), "--json"]) == 1
    (said,) = json.loads(capsys.readouterr().out)["certificates"]
    assert said["status"] == "refused"
    assert "absolute: expected at least" in said["reason"]


def test_a_gradient_from_elsewhere_is_certified(picture, tmp_path, capsys):
    file = tmp_path / "g.npy"
    np.save(file, np.zeros((1, 28, 28), np.float32))
    assert run(["certify", "fashion", str(picture), "--gradient", str(file)]) == 0
    said = capsys.readouterr().out
    assert "given" in said
    assert "0.000 %" in said


def test_a_file_that_is_no_array_is_refused(picture, tmp_path, capsys):
    file = tmp_path / "g.npy"
    file.write_bytes(b"no array")
    assert run(["certify", "fashion", str(picture), "--gradient", str(file)]) == 2
    assert "expected a .npy file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--eps", "0"], "config eps"),
        (["--heads", "5"], "heads"),
        (["--gelu", "relu"], "gelu"),
        (["--image-size", "30x30"], "image size"),
        (["--bits", "7"], "bits"),
        (["--processes", "3"], "processes"),
        (["--engine", "none"], "engine"),
        (["--dtype", "int8"], "dtype"),
    ],
)
def test_bad_choices_are_refused_and_nothing_is_written(picture, tmp_path, capsys, options, said):
    out = tmp_path / "out.json"
    assert run(["certify", "fashion", str(picture), *options, "-o", str(out)]) == 2
    assert said in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["picture.png"]


def test_explain_certifies_what_it_draws(picture, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(["explain", str(picture), "--certify", "-o", str(out), "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    (bounds,) = result["certificate"]["gradients"]
    assert 0 < bounds["absolute"] < 1e-3
    assert 0.9 < bounds["signs"] <= 1
    assert sorted(file.name for file in out.iterdir()) == [
        "picture.certificate.json", "picture.certificate.safetensors", "picture.npz", "picture.png",
    ]  # fmt: skip
    assert run(["check", result["certificate_file"]]) == 0
    assert run(["explain", str(picture), "-o", str(tmp_path / "plain"), "--json"]) == 0
    assert (
        np.asarray(Image.open(out / "picture.png")).shape
        != np.asarray(Image.open(tmp_path / "plain" / "picture.png")).shape
    )  # one line more
