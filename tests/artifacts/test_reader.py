"""Reading an export back: what fits runs, and all that does not is told in one line."""

import hashlib
import json

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vjproof
from tests.classifiers import small_classifier
from tests.compare import assert_close
from vjproof.errors import VjproofError

NETWORK = small_classifier()
IMAGES = np.random.default_rng(0).standard_normal((3, 1, 8, 12)).astype(np.float32)


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Folders with an ONNX export of any batch, one of batch 2 and 3, and a StableHLO one of batch 2."""
    root = tmp_path_factory.mktemp("exports")
    vjproof.export(NETWORK, root / "any", format="onnx", weights="arguments")
    vjproof.export(NETWORK, root / "fixed", format="onnx", batch=[2, "3"])
    vjproof.export(NETWORK, root / "jax", format="stablehlo", batch=2, weights="arguments")
    return root


@pytest.fixture
def changed(exports, tmp_path):
    """Return a function that copies an export, with a change to its manifest or to a file (its digest corrected)."""

    def change(name, edit=lambda document: None, file=None, data=b""):
        for path in (exports / name).iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        document = json.loads((tmp_path / "manifest.json").read_text())
        if file:
            (tmp_path / file).write_bytes(data)
            document["files"][file] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        edit(document)
        (tmp_path / "manifest.json").write_text(json.dumps(document))
        return tmp_path

    return change


def refusal(match, call):
    with pytest.raises(VjproofError, match=match) as problem:
        call()
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 700


@pytest.mark.parametrize(("name", "batches"), [("any", (1, 2, 3)), ("fixed", (2, 3)), ("jax", (2,))])
def test_an_export_gives_the_network_s_numbers(exports, name, batches):
    exported = vjproof.read_export(exports / name)
    for batch in batches:
        images = IMAGES[:batch]
        assert_close(exported.logits(images), NETWORK.logits(images, dtype="float64"), 1e-5)
        for target in (1, np.arange(batch), np.eye(4)[:batch]):
            wanted = NETWORK.input_gradient(images, target, dtype="float64")
            assert_close(exported.input_gradient(images, target), wanted, 1e-5)
    assert exported.manifest["model"]["labels"] == list(NETWORK.labels)


@pytest.mark.parametrize(
    ("name", "count", "match"),
    [
        ("any", 0, "expected 1 or more"),
        ("fixed", 1, r"expected 2 or 3, the number .* got 1 images; export it for others: --batch 1"),
        ("jax", 3, r"expected 2, the number .* --batch 3, or --batch symbolic"),
    ],
)
def test_a_foreign_batch_is_refused(exports, name, count, match):
    exported = vjproof.read_export(exports / name)
    refusal(match, lambda: exported.logits(IMAGES[:count]))
    refusal(match, lambda: exported.input_gradient(IMAGES[:count], np.zeros((count, 4))))


@pytest.mark.parametrize(
    ("images", "match"),
    [
        (IMAGES[:2, :, :, :11], r"expected an array \(batch, 1, 8, 12\)"),
        (IMAGES[0], "expected an array"),
        (IMAGES[:2].astype(complex), "expected an array"),
        (np.full((2, 1, 8, 12), np.nan), "finite pixels"),
    ],
)
def test_other_images_are_refused(exports, images, match):
    refusal(match, lambda: vjproof.read_export(exports / "any").logits(images))


def test_another_target_is_refused(exports):
    exported = vjproof.read_export(exports / "any")
    refusal("classes from 0 to 3", lambda: exported.input_gradient(IMAGES, 4))
    refusal(r"cotangent \(3, 4\)", lambda: exported.input_gradient(IMAGES, np.zeros((2, 4))))


def test_a_program_that_was_not_exported_is_named(tmp_path):
    vjproof.export(NETWORK, tmp_path, format="onnx", what="gradient")
    refusal("expected the program forward, .* --what forward", lambda: vjproof.read_export(tmp_path).logits(IMAGES))
    vjproof.export(NETWORK, tmp_path, format="onnx", what="forward")
    refusal("d_logits", lambda: vjproof.read_export(tmp_path).input_gradient(IMAGES, 0))


def test_an_artifact_of_an_old_jax_is_refused_with_the_versions(changed):
    folder = changed("jax", lambda document: document["versions"].update(calling_convention=8, jax="0.4.30"))
    match = (
        r"expected calling conventions 9 to \d+, which jax .* reads, got calling convention 8 of jax 0\.4\.30; export"
    )
    refusal(match, lambda: vjproof.read_export(folder).logits(IMAGES[:2]))


@pytest.mark.parametrize("data", [b"", b"no flat buffer at all", b"\xff" * 400])
def test_bytes_that_are_no_program_are_refused(changed, data):
    folder = changed("jax", file="forward-batch2.jax", data=data)
    refusal("a program that jax .* reads", lambda: vjproof.read_export(folder).logits(IMAGES[:2]))
    folder = changed("any", file="forward.onnx", data=data)
    refusal("a model that onnxruntime .* reads", lambda: vjproof.read_export(folder).logits(IMAGES[:2]))


def test_a_truncated_artifact_is_refused(changed, exports):
    whole = (exports / "jax" / "forward-batch2.jax").read_bytes()
    folder = changed("jax", file="forward-batch2.jax", data=whole[: len(whole) // 2])
    refusal("jax", lambda: vjproof.read_export(folder).logits(IMAGES[:2]))


def test_an_opset_that_the_runtime_does_not_know_is_refused(changed, exports):
    model = onnx.load_from_string((exports / "any" / "forward.onnx").read_bytes())
    model.opset_import[0].version = 999
    folder = changed("any", file="forward.onnx", data=model.SerializeToString())
    refusal("onnxruntime .* opset 20.*--opset", lambda: vjproof.read_export(folder).logits(IMAGES[:2]))


def test_weights_that_do_not_fit_are_refused(changed):
    folder = changed("any", file="weights.safetensors", data=b"no tensors")
    refusal("weights.safetensors: expected safetensors", lambda: vjproof.read_export(folder).logits(IMAGES))
    from safetensors.numpy import save

    folder = changed("any", file="weights.safetensors", data=save({"b_head": np.zeros(4, np.float32)}))
    refusal("inputs that the model takes", lambda: vjproof.read_export(folder).logits(IMAGES))


def test_a_changed_file_is_refused(changed):
    folder = changed("any")
    data = bytearray((folder / "forward.onnx").read_bytes())
    data[100] ^= 1
    (folder / "forward.onnx").write_bytes(data)
    refusal("the SHA-256 of its manifest", lambda: vjproof.read_export(folder).logits(IMAGES))
    (folder / "forward.onnx").write_bytes(data + b"x")
    refusal(r"expected \d+ bytes", lambda: vjproof.read_export(folder).logits(IMAGES))
    (folder / "forward.onnx").unlink()
    refusal("a readable file|No such file", lambda: vjproof.read_export(folder).logits(IMAGES))


@pytest.mark.parametrize(
    ("edit", "match"),
    [
        (lambda d: d.update(format=2), "got format 2, kind onnx; use the release of vjproof that wrote it"),
        (lambda d: d.update(kind="tf"), "got format 1, kind tf"),
        (lambda d: d.update(kind=["onnx"]), "kind: expected a string"),
        (lambda d: d.update(programs=None), "expected a list of programs"),
        (lambda d: d.update(programs=[1]), "expected a list of programs"),
        (lambda d: d.update(files={}), "expected an entry for the file"),
        (lambda d: d.update(files=[]), "files: expected an object"),
        (lambda d: d["files"].update({"../x": {}}) or d["programs"][0].update(files={"model": "../x"}), "an entry for"),
        (lambda d: d["programs"][0].update(files={"model": 1}), "model: expected a string"),
        (lambda d: d["programs"][0].update(files=None), "a file in the form 'model'"),
        (lambda d: [p.update(arguments=[{"name": "images", "shape": [1, "x"]}]) for p in d["programs"]], "argument im"),
        (lambda d: [p.update(arguments=7) for p in d["programs"]], "a program with the argument images"),
        (lambda d: d["programs"][0].update(batch=[1]), "batch: expected"),
        (lambda d: d["files"]["forward.onnx"].update(bytes="many"), "bytes: expected a whole number"),
        (lambda d: d["files"]["forward.onnx"].update(sha256=None), "the SHA-256 of its manifest"),
        (lambda d: d.update(weights=3), "weights: expected a string"),
    ],
)
def test_a_manifest_that_says_something_else_is_refused(changed, edit, match):
    folder = changed("any", edit)
    refusal(match, lambda: vjproof.read_export(folder).logits(IMAGES))


@given(st.binary(max_size=60))
def test_a_manifest_of_any_bytes_is_refused(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("any")
    (folder / "manifest.json").write_bytes(data)
    refusal("manifest.json", lambda: vjproof.read_export(folder).logits(IMAGES))


def test_a_folder_without_an_export_is_refused(tmp_path):
    refusal("manifest.json: expected a readable file", lambda: vjproof.read_export(tmp_path))
