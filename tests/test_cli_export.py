"""`vjproof export` from the command line."""

import json
from pathlib import Path

import pytest

from tests.classifiers import small_classifier
from vjproof import classifier
from vjproof.cli import run


@pytest.fixture(autouse=True)
def _small_network_in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setattr(classifier, "load", lambda name, **choices: small_classifier())
    monkeypatch.chdir(tmp_path)


def files(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def test_the_files_and_what_they_take_are_told(capsys):
    assert run(["export", "small", "--format", "onnx"]) == 0
    assert files("small-onnx") == ["forward.onnx", "gradient.onnx", "manifest.json"]
    said = capsys.readouterr()
    for part in (
        "gradient(images [B, 1, 8, 12], d_logits [B, 4]) gives d_images [B, 1, 8, 12], float32", "1 - Erf",
        "eps 1e-06, GELU erf", "assumed   eps 1e-06", "opset 20",
    ):  # fmt: skip
        assert part in said.out
    assert said.err == ""


def test_json_is_the_manifest_and_the_folder(capsys):
    arguments = ["-f", "stablehlo", "--batch", "symbolic", "--batch", "2", "--what", "forward", "-o", "out"]
    assert run(["export", "small", *arguments, "--weights", "arguments", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record.pop("folder") == "out"
    assert record == json.loads(Path("out/manifest.json").read_text())
    assert [program["batch"] for program in record["programs"]] == ["symbolic", 2]
    assert len(files("out")) == 8


def test_a_symbolic_module_comes_with_a_word_on_runners(capsys):
    assert run(["export", "small", "-f", "stablehlo", "--what", "forward", "-o", "out"]) == 0
    assert "IREE takes a fixed batch only" in capsys.readouterr().out
    assert run(["export", "small", "-f", "stablehlo", "--what", "forward", "--batch", "1", "-o", "out"]) == 0
    said = capsys.readouterr().out
    assert "IREE" not in said
    assert "erf as a composite" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--format"),
        (["-f", "tf"], "expected stablehlo or onnx"),
        (["-f", "onnx", "--batch", "many"], "export batch"),
        (["-f", "onnx", "--batch", "0"], "export batch"),
        (["-f", "onnx", "--what", "all"], "export what"),
        (["-f", "onnx", "--opset", "19"], "ONNX opset: expected 20"),
        (["-f", "stablehlo", "--target-version", "9.9.9"], "target version"),
        (["-f", "stablehlo", "--opset", "20"], "export opset"),
        (["-f", "onnx", "--image-size", "x"], "--image-size"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(capsys, arguments, message):
    assert run(["export", "small", *arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert list(Path().iterdir()) == []
