"""Exported programs of the built-in model run without vjproof, agree with it, and lie within certified bounds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vjproof
from tests.compare import assert_close
from vjproof.certification.certification import certify, enclose

AGREE = 1e-5  # relative to the norm, float32
CLASSES = (9, 5, 0, 7, 3, 1, 2)


def norm_error(got, wanted):
    assert got.shape == wanted.shape
    assert np.isfinite(got).all()
    return np.linalg.norm(got.astype(float) - wanted) / np.linalg.norm(wanted)


@pytest.fixture(scope="module")
def network():
    return vjproof.load("fashion")


@pytest.fixture(scope="module")
def inputs():
    """Seven images and a cotangent for each: six logits, and a margin of two."""
    generator = np.random.default_rng(3)
    d_logits = np.eye(10, dtype=np.float32)[list(CLASSES)]
    d_logits[6, 8] = -1
    return generator.standard_normal((7, 1, 28, 28)).astype(np.float32), d_logits


@pytest.fixture(scope="module")
def enclosed(network, inputs):
    """The exact gradient of the last image, a margin, in balls."""
    return enclose(network, inputs[0][6], inputs[1][6])


def run_alone(jobs, folder):
    """Run jobs (runtime, file, weights, arrays by name) in a new interpreter and return their results."""
    listed = []
    for number, (runtime, file, weights, arrays) in enumerate(jobs):
        given, output = folder / f"{number}-in.npz", folder / f"{number}-out.npy"
        np.savez(given, **arrays)
        listed.append({
            "runtime": runtime, "file": str(file), "inputs": str(given), "weights": weights and str(weights),
            "output": str(output),
        })  # fmt: skip
    (folder / "jobs.json").write_text(json.dumps(listed))
    script = Path(__file__).with_name("standalone.py")
    run = subprocess.run(
        [sys.executable, "-I", str(script), str(folder / "jobs.json")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return [np.load(job["output"]) for job in listed]


def check(network, inputs, enclosed, what, batch, result):
    """Compare one program's result on the last images with the library's; certify the last image's gradient."""
    images, d_logits = inputs
    logits, gradient = network.logits_and_gradient(images[-batch:], d_logits[-batch:], engine="numpy", dtype="float32")
    assert result.dtype == np.float32
    assert norm_error(result, logits if what == "forward" else gradient) <= AGREE
    if what == "gradient":
        proved = certify(network, images[6], d_logits[6], gradient=result[-1], enclosure=enclosed).bounds
        assert proved.relative <= AGREE
        assert np.all(np.abs(result[-1].astype(float) - enclosed.mid) <= proved.absolute + enclosed.rad)


def run_and_check(network, inputs, enclosed, folder, runtime, suffix, programs, weights):
    """Run programs (name, batch) without vjproof and check each."""
    images, d_logits = inputs
    file = folder / "weights.safetensors" if weights == "arguments" else None
    jobs = []
    for what, batch in programs:
        more = {"d_logits": d_logits[-batch:]} if what == "gradient" else {}
        jobs.append((runtime, folder / f"{what}{suffix}", file, {"images": images[-batch:], **more}))
    for (what, batch), result in zip(programs, run_alone(jobs, folder), strict=True):
        check(network, inputs, enclosed, what, batch, result)


@pytest.mark.parametrize(
    ("weights", "programs"),
    [
        ("inside", [("forward", 3), ("gradient", 1), ("gradient", 3), ("gradient", 7)]),
        ("arguments", [("gradient", 3)]),
    ],
)
@pytest.mark.parametrize(
    ("form", "runtime", "suffix"), [("stablehlo", "jax", ".jax"), ("onnx", "onnxruntime", ".onnx")]
)
def test_a_symbolic_batch_runs_for_1_3_and_7(
    network, inputs, enclosed, tmp_path, form, runtime, suffix, weights, programs
):
    vjproof.export(network, tmp_path, format=form, weights=weights)
    run_and_check(network, inputs, enclosed, tmp_path, runtime, suffix, programs, weights)


@pytest.mark.parametrize(
    ("runtime", "suffix", "weights", "programs"),
    [
        ("jax", ".jax", "inside", ["gradient"]),
        ("iree", ".mlirbc", "inside", ["forward", "gradient"]),
        ("iree", ".mlir", "arguments", ["gradient"]),
    ],
)
def test_a_fixed_batch_runs(network, inputs, enclosed, tmp_path, runtime, suffix, weights, programs):
    vjproof.export(network, tmp_path, format="stablehlo", batch=2, weights=weights)
    pairs = [(what, 2) for what in programs]
    run_and_check(network, inputs, enclosed, tmp_path, runtime, f"-batch2{suffix}", pairs, weights)


def test_wrong_results_are_told_apart(network, inputs, enclosed):
    logits, gradient = network.logits_and_gradient(*inputs, engine="numpy", dtype="float32")
    shifted = gradient.copy()
    shifted[-1, 0, 14, 14] += 1e-3 * np.abs(gradient[-1]).max()
    check(network, inputs, enclosed, "forward", 7, logits)
    check(network, inputs, enclosed, "gradient", 7, gradient)
    wrong = [("forward", logits * np.float32(1.0001))]
    wrong += [("gradient", array) for array in (gradient[::-1], gradient * np.float32(1.0001), shifted)]
    for what, result in wrong:
        with pytest.raises(AssertionError):
            check(network, inputs, enclosed, what, 7, result)
    proved = certify(network, inputs[0][6], inputs[1][6], gradient=shifted[-1], enclosure=enclosed).bounds
    assert proved.relative > AGREE


def test_a_script_that_loads_vjproof_is_caught(tmp_path):
    (tmp_path / "jobs.json").write_text("[]")
    script = Path(__file__).with_name("standalone.py").read_text()
    for before, status in (("", 0), ("import vjproof\n", 1)):
        (tmp_path / "script.py").write_text(before + script)
        command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "jobs.json")]
        assert subprocess.run(command, capture_output=True, check=False).returncode == status


def test_the_program_of_another_batch_complains(network, inputs, tmp_path):
    vjproof.export(network, tmp_path, format="stablehlo", what="gradient", batch=2)
    jobs = [("jax", tmp_path / "gradient-batch2.jax", None, {"images": inputs[0], "d_logits": inputs[1]})]
    with pytest.raises(AssertionError, match=r"7, 1, 28, 28"):
        run_alone(jobs, tmp_path)


def test_two_exports_agree(network, inputs, tmp_path):
    """The gradient of one sum in two formats, in this interpreter."""
    gradients = []
    for form in ("stablehlo", "onnx"):
        vjproof.export(network, tmp_path / form, format=form, what="gradient")
        gradients.append(vjproof.read_export(tmp_path / form).input_gradient(*inputs))
    assert_close(gradients[0], gradients[1], 1e-4)
