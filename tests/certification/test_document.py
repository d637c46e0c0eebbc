"""Certificates of enclosures: what stands, and each tampering that must be refused."""

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import vjproof
from tests.classifiers import small_classifier
from vjproof.certification.document import certificate, certificate_writers, check_certificate
from vjproof.certification.enclosure_file import read_stored
from vjproof.errors import VjproofError
from vjproof.explain.output import write_atomically


@pytest.fixture(scope="module")
def made():
    """A certificate of two gradients, in memory."""
    model = small_classifier()
    image = np.random.default_rng(0).standard_normal(model.config.image_shape).astype(np.float32)
    first = vjproof.certify(model, image, 1, engine="numpy", dtype="float64")
    second = vjproof.certify(model, image, 1, engine="numpy", dtype="float32", enclosure=first.enclosure)
    names = {"model": "small", "image": "a.png", "target": "class 1"}
    d_logits = np.float64([0, 1, 0, 0])
    document, stored = certificate(
        names, model.config, model.sha256, model.labels, image, d_logits, [first, second], 1.0
    )
    return model, document, stored


@pytest.fixture
def written(made, tmp_path):
    _, document, stored = made
    write_atomically(certificate_writers(json.loads(json.dumps(document)), stored, tmp_path / "c.json"))
    return tmp_path, json.loads((tmp_path / "c.json").read_text())


def check(written):
    return check_certificate(written[1], written[0])


def edit(written, path, change):
    """Change one entry of the document, by its path of keys."""
    *path, last = path
    entry = written[1]
    for key in path:
        entry = entry[key]
    entry[last] = change(entry[last])


def test_a_certificate_stands(written):
    lines = check(written)
    assert len(lines) == 4
    assert "largest error at most" in lines[1]


def test_the_stored_numbers_are_the_enclosure(made, written):
    model, document, _ = made
    stored = read_stored(written[0] / "c.safetensors", model.config, 256, "")
    image = stored.image
    enclosed = vjproof.enclose(model, image, 1)
    assert stored.enclosure.radius == document["enclosure"]["radius"]
    assert all(a.contains(b) and b.contains(a) for a, b in zip(enclosed.balls.flat, stored.enclosure.balls.flat))  # noqa: B905
    finer = vjproof.enclose(model, image, 1, bits=1000)
    assert all(a.contains(b) for a, b in zip(stored.enclosure.balls.flat, finer.balls.flat, strict=True))


TAMPERED = {
    "smaller error": (["gradients", 0, "absolute"], lambda x: x * (1 - 1e-15)),
    "smaller relative error": (["gradients", 1, "relative"], lambda x: x / 2),
    "no relative error": (["gradients", 1, "relative"], lambda x: None),
    "smaller ulp": (["gradients", 1, "worst_ulp"], lambda x: x - 1),
    "smaller median": (["gradients", 1, "median_ulp"], lambda x: x * 0.99),
    "more signs": (["gradients", 1, "signs"], lambda x: x + 0.01),
    "other dtype": (["gradients", 0, "dtype"], lambda x: "int8"),
    "other gradient": (["gradients", 0, "sha256"], lambda x: "0" * 64),
    "a gradient less": (["gradients"], lambda x: x[:1]),
    "smaller radius": (["enclosure", "radius"], lambda x: x / 2),
    "fewer bits lost": (["enclosure", "bits_lost"], lambda x: x - 1),
    "another top class": (["top_class", "index"], lambda x: (x + 1) % 4),
    "no top class": (["top_class"], lambda x: None),
    "other program": (["sha256", "program"], lambda x: "0" * 64),
    "other image": (["sha256", "image"], lambda x: "0" * 64),
    "other target": (["sha256", "target"], lambda x: "0" * 64),
    "other numbers": (["sha256", "enclosure"], lambda x: "0" * 64),
    "other sizes": (["config", "heads"], lambda x: 3),
    "other GELU": (["config", "gelu"], lambda x: "tanh"),
    "absurd depth": (["config", "depth"], lambda x: 10**9),
    "a field more": (["config"], lambda x: {**x, "extra": 1}),
    "other version": (["version"], lambda x: 2),
    "a file elsewhere": (["enclosure", "file"], lambda x: "../c.safetensors"),
    "no file": (["enclosure", "file"], lambda x: "none.safetensors"),
    "text for a number": (["enclosure", "radius"], lambda x: "0"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_certificate_is_refused(written, name):
    edit(written, *TAMPERED[name])
    with pytest.raises(VjproofError):
        check(written)


def rewritten(written, change):
    """Change the numbers, and let the document say so: only the bounds can tell."""
    file = written[0] / "c.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)
    written[1]["sha256"]["enclosure"] = hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["radii", "terms", "gradient.0", "gradient.1", "logit_radii", "image", "d_logits"])
def test_changed_numbers_are_refused_even_with_their_digest(written, name):
    def change(tensors):
        tensors[name] = tensors[name] + 1

    rewritten(written, change)
    with pytest.raises(VjproofError):
        check(written)


HOSTILE = {
    "negative radii": lambda t: t.update(radii=-t["radii"]),
    "nan": lambda t: t.update(terms=t["terms"] * np.nan),
    "infinite radii": lambda t: t.update(logit_radii=t["logit_radii"] + np.inf),
    "too many terms": lambda t: t.update(terms=np.concatenate([t["terms"]] * 9)),
    "no terms": lambda t: t.update(terms=t["terms"][:0]),
    "another shape": lambda t: t.update(radii=t["radii"][:, :2]),
    "a tensor more": lambda t: t.update(extra=t["image"]),
    "a tensor less": lambda t: t.pop("image"),
    "whole numbers": lambda t: t.update(radii=t["radii"].astype(np.int64)),
    "a gap in the gradients": lambda t: t.update({"gradient.7": t.pop("gradient.1")}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_of_another_content_are_refused(written, name):
    rewritten(written, HOSTILE[name])
    with pytest.raises(VjproofError):
        check(written)


def test_a_truncated_file_is_refused(written):
    file = written[0] / "c.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(VjproofError, match="truncated"):
        check(written)


def test_the_numbers_need_another_name_than_the_document(made, tmp_path):
    with pytest.raises(VjproofError, match="a name for the JSON document"):
        certificate_writers(made[1], made[2], tmp_path / "c.safetensors")
