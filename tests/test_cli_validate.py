"""`vjproof validate`, and `vjproof check` on what it writes."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from vjproof.cli import run

X = jax.ShapeDtypeStruct((3, 4), jnp.float32)
W = jax.ShapeDtypeStruct((4, 5), jnp.float32)
D_Y = jax.ShapeDtypeStruct((3, 5), jnp.float32)


def net(x, w):
    return jax.nn.gelu(x @ w, approximate=False)


def both(x, w, d_y):
    return jax.vjp(net, x, w)[1](d_y)


@pytest.fixture(autouse=True)
def _modules(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    functions = {
        "forward": (net, X, W),
        "both": (both, X, W, D_Y),
        "d_w": (lambda x, w, d_y: both(x, w, d_y)[1], X, W, D_Y),
        "wrong": (lambda x, w, d_y: x.T @ d_y, X, W, D_Y),
        "relu": (lambda x, w: jax.nn.relu(x @ w), X, W),
    }
    for name, (function, *arguments) in functions.items():
        text = jax.jit(function, keep_unused=True).lower(*arguments).as_text(debug_info=True)
        Path(f"{name}.mlir").write_text(text)


def test_a_gradient_is_proved_and_its_certificate_checked(capsys):
    assert run(["validate", "forward.mlir", "both.mlir", "--wrt", "all", "-o", "proof"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("proved:")
    assert "d forward[j] / d w[i]" in said
    assert "read as 1/2 * 2^(1/2)" in said
    assert sorted(path.suffix for path in Path("proof").iterdir()) == [".json", ".mlir", ".mlir"]
    assert run(["check", "proof/certificate.json"]) == 0
    said = capsys.readouterr().out
    assert "the modules that it names are what it speaks of" in said
    assert "read as 1/2 * 2^(1/2)" in said


@pytest.mark.parametrize("arguments", [["--wrt", "w"], ["--wrt", "1"], ["--wrt", "1", "--cotangent", "d_y"]])
def test_arguments_are_chosen_by_place_or_name(arguments, capsys):
    assert run(["validate", "forward.mlir", "d_w.mlir", *arguments]) == 0
    assert not Path("proof").exists()


def test_a_wrong_gradient_is_refuted(capsys):
    assert run(["validate", "forward.mlir", "wrong.mlir", "--wrt", "w", "-o", "proof"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("refuted:")
    assert "the enclosures are disjoint" in said.out
    assert "nothing is written" in said.err
    assert not Path("proof").exists()


def test_what_is_not_proved_has_status_1(capsys):
    assert run(["validate", "relu.mlir", "d_w.mlir", "--wrt", "w"]) == 1
    assert capsys.readouterr().out.split(":")[0] in ("not proved", "refuted")


def test_json_is_one_document(capsys):
    assert run(["validate", "forward.mlir", "wrong.mlir", "--wrt", "w", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["status"] == "refuted"
    assert record["counterexample"]["confirmed"]
    assert len(record["counterexample"]["inputs"]["x"]) == 3
    assert run(["validate", "forward.mlir", "d_w.mlir", "--wrt", "w", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digests"]["kernel"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["forward.mlir", "nothing.mlir"], "a StableHLO module to read, got No such file"),
        (["forward.mlir", "d_w.mlir", "--wrt", "v"], "or a name, such as x"),
        (["forward.mlir", "d_w.mlir"], "output 0 of the gradient module"),
        (["forward.mlir"], "Missing argument"),
        (["forward.mlir", "broken.mlir"], "a StableHLO module that parses"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, capsys):
    Path("broken.mlir").write_text("module {\n  func.func @main() {")
    assert run(["validate", *arguments, "-o", "proof"]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not Path("proof").exists()


def test_a_changed_module_is_refused_by_check(capsys):
    assert run(["validate", "forward.mlir", "d_w.mlir", "--wrt", "w", "-o", "proof"]) == 0
    module = next(Path("proof").glob("*.mlir"))
    module.write_text(module.read_text() + "\n")
    assert run(["check", "proof/certificate.json"]) == 1
    assert "another SHA-256" in capsys.readouterr().err
