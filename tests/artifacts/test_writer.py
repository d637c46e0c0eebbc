"""What an export writes: whole or absent, described by its manifest."""

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import load_file

import vjproof
from tests.classifiers import small_classifier
from vjproof.artifacts import writer
from vjproof.artifacts.choices import parse_choices
from vjproof.errors import VjproofError

NETWORK = small_classifier(channels=3)


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_every_program_and_form_is_written(tmp_path):
    told = []
    record = vjproof.export(
        NETWORK, tmp_path / "new" / "folder", format="stablehlo", batch=["symbolic", 4, 4],
        advance=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    stems = [f"{what}{batch}" for what in ("forward", "gradient") for batch in ("", "-batch4")]
    wanted = sorted([stem + suffix for stem in stems for suffix in (".jax", ".mlir", ".mlirbc")])
    assert names(tmp_path / "new" / "folder") == sorted([*wanted, "manifest.json"])
    assert sorted(record["files"]) == wanted
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert record == json.loads((tmp_path / "new" / "folder" / "manifest.json").read_text())
    for name, entry in record["files"].items():
        data = (tmp_path / "new" / "folder" / name).read_bytes()
        assert entry == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_the_manifest_says_all_that_changes_the_gradient(tmp_path):
    record = vjproof.export(NETWORK, tmp_path, format="onnx")
    model = record["model"]
    assert model["config"]["eps"] == 1e-6
    assert model["config"]["gelu"] == "erf"
    assert model["preprocessing"]["mean"] == [0.3, 0.4, 0.5]
    assert model["labels"] == list(NETWORK.labels)
    assert model["weights_sha256"] == NETWORK.sha256
    assert model["assumed"] == list(NETWORK.notes.assumed)
    assert {"vjproof", "onnx", "opset", "ir_version"} == set(record["versions"])
    gradient = record["programs"][1]
    assert [(a["name"], a["shape"], a["dtype"]) for a in gradient["arguments"]] == [
        ("images", ["symbolic", 3, 8, 12], "float32"), ("d_logits", ["symbolic", 4], "float32"),
    ]  # fmt: skip
    assert "cotangent" in gradient["arguments"][1]["meaning"]
    assert gradient["result"]["shape"] == ["symbolic", 3, 8, 12]
    assert gradient["error_function"] == {"model": "1 - Erf"}


@pytest.mark.parametrize("form", ["stablehlo", "onnx"])
def test_weights_as_arguments_are_a_file_of_their_own(tmp_path, form):
    record = vjproof.export(NETWORK, tmp_path, format=form, what="gradient", weights="arguments", batch=2)
    assert record["weights"] == "weights.safetensors"
    weights = load_file(tmp_path / "weights.safetensors")
    listed = [argument["name"] for argument in record["programs"][0]["arguments"]]
    assert set(listed) == {"images", "d_logits", *weights}
    if form == "stablehlo":
        assert listed == ["images", *sorted(weights), "d_logits"]
    np.testing.assert_array_equal(weights["blocks.1.w_1"], NETWORK.params.blocks[1].w_1)


def test_nothing_is_left_when_a_program_cannot_be_made(tmp_path, monkeypatch):
    real = writer.make_forms

    def fail(network, choices, what, batch, model):
        if what == "gradient":
            raise VjproofError("later")
        return real(network, choices, what, batch, model)

    monkeypatch.setattr(writer, "make_forms", fail)
    with pytest.raises(VjproofError, match="later"):
        vjproof.export(NETWORK, tmp_path, format="onnx", weights="arguments")
    assert names(tmp_path) == []
    monkeypatch.setattr(writer, "make_forms", real)
    vjproof.export(NETWORK, tmp_path, format="onnx", weights="arguments")
    assert names(tmp_path) == ["forward.onnx", "gradient.onnx", "manifest.json", "weights.safetensors"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(VjproofError, match="a place to write results to"):
        vjproof.export(NETWORK, tmp_path / "file", format="onnx")


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"kind": "tf"}, "export format: expected stablehlo or onnx"),
        ({"what": "reverse"}, "export what: expected gradient or forward or both"),
        ({"weights": "outside"}, "export weights"),
        ({"batch": 0}, "from 1 to 65536"),
        ({"batch": "-3"}, "export batch"),
        ({"batch": True}, "export batch"),
        ({"batch": "9" * 50}, "export batch"),
        ({"batch": "٣"}, "export batch"),
        ({"batch": []}, "got none"),
        ({"batch": ["symbolic", "x"]}, "export batch"),
        ({"target_version": "1.0.0"}, "expected the format stablehlo, got onnx"),
        ({"kind": "stablehlo", "opset": 20}, "expected the format onnx"),
    ],
)
def test_other_choices_are_refused(asked, match):
    with pytest.raises(VjproofError, match=match) as problem:
        parse_choices(**{"kind": "onnx", **asked})
    assert len(str(problem.value)) < 200


def test_a_batch_asked_for_twice_is_one(tmp_path):
    assert parse_choices(kind="onnx", batch=["3", 3, "symbolic"]).batches == (3, None)


@pytest.mark.parametrize(("form", "choice"), [("stablehlo", {"target_version": "77.0.0"}), ("onnx", {"opset": 3})])
def test_a_version_that_cannot_be_written_leaves_nothing(tmp_path, form, choice):
    with pytest.raises(VjproofError, match="expected"):
        vjproof.export(NETWORK, tmp_path / "out", format=form, **choice)
    assert names(tmp_path / "out") == []
