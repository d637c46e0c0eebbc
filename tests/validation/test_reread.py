"""Certificates about modules: written with them, and compared with them by `vjproof check`."""

import json

import jax
import jax.numpy as jnp
import pytest

from vjproof import VjproofError, validate, validate_custom_vjp
from vjproof.pipeline.check import check_files

X = jax.ShapeDtypeStruct((3, 4), jnp.float32)


def unit(x):
    return x / jnp.maximum(jnp.sqrt(jnp.sum(x * x, axis=-1, keepdims=True)), 1e-12)


@pytest.fixture
def saved(tmp_path):
    answer = validate(unit, lambda x, d: jax.vjp(unit, x)[1](d)[0], X)
    paths = answer.save(tmp_path / "proof")
    assert {path.suffix for path in paths} == {".json", ".mlir"}
    return tmp_path / "proof" / "certificate.json"


def checked(path):
    (record,) = check_files([path])
    return record


def test_a_certificate_beside_its_modules_is_compared_with_them(saved):
    record = checked(saved)
    assert not record["reason"]
    assert record["compared"] == "the modules that it names"
    assert any("1e-12" in line or "e-13 in every entry" in line for line in record["limits"])


def test_modules_that_are_elsewhere_are_not_compared(saved):
    for module in saved.parent.glob("*.mlir"):
        module.unlink()
    record = checked(saved)
    assert not record["reason"]
    assert not record["compared"]
    assert record["missing"]


def test_a_changed_module_is_refused(saved):
    module = next(iter(saved.parent.glob("*.mlir")))
    module.write_text(module.read_text() + "\n")
    assert "another SHA-256" in checked(saved)["reason"]


def rewrite(path, change):
    document = json.loads(path.read_text())
    change(document["notes"])
    path.write_text(json.dumps(document))


def test_other_modules_with_the_right_digest_are_refused(saved):
    """A certificate that names another module: its programs are not what that module says."""
    other = validate(jax.nn.softmax, lambda x, d: jax.vjp(jax.nn.softmax, x)[1](d)[0], X)
    other.save(saved.parent, "other")
    names = json.loads((saved.parent / "other.json").read_text())["notes"]["modules"]
    rewrite(saved, lambda notes: notes.update(modules=names))
    assert "not what the modules say" in checked(saved)["reason"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda notes: notes.update(modules={"forward": "../../etc", "gradient": "x"}), "not by SHA-256"),
        (lambda notes: notes.update(modules=3), "malformed notes"),
        (lambda notes: notes.update(question={}), "malformed notes"),
        (lambda notes: notes["question"].update(wrt=["a"]), "malformed notes|cannot be read"),
        (lambda notes: notes["question"].update(shared=[7]), "cannot be read"),
        (lambda notes: notes["question"].update(cotangents=[0]), "cannot be read|malformed|not what"),
        (lambda notes: notes["question"].update(guards=False), "not what the modules say|cannot be read"),
    ],
)
def test_notes_are_not_believed(saved, change, message):
    import re

    rewrite(saved, change)
    assert re.search(message, checked(saved)["reason"])


def test_declarations_in_the_notes_are_not_repeated(saved):
    rewrite(saved, lambda notes: notes.update(declared={"guards": [], "literals": ["a lie"]}))
    record = checked(saved)
    assert not record["reason"]
    assert record["limits"]
    assert "a lie" not in str(record["declared"])


def test_a_rule_has_two_certificates(tmp_path):
    from tests.foreign.rules import RIGHT

    function, arguments = RIGHT["softmax"]
    validate_custom_vjp(function, *arguments).save(tmp_path)
    for name in ("certificate.json", "certificate.value.json"):
        assert not checked(tmp_path / name)["reason"]


def test_only_what_is_proved_is_saved(tmp_path):
    with pytest.raises(VjproofError, match="a proved answer, got refuted"):
        validate(lambda x: x * x, lambda x, d: d, X).save(tmp_path)
    assert not list(tmp_path.iterdir())
