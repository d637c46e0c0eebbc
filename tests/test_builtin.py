"""The built-in model as it is shipped: its size, what it says about itself, and the bundled pictures."""

import dataclasses
import hashlib
from pathlib import Path

import numpy as np
import pytest

import vjproof
from vjproof.vit.params import count, map_tensors

DATA = Path(vjproof.__file__).parent / "data"
PICTURES = sorted((DATA / "images").glob("*.png"))


def slug(label: str) -> str:
    return label.lower().replace("/", "-").replace(" ", "-")


@pytest.fixture(scope="module")
def model() -> vjproof.Classifier:
    return vjproof.load("fashion")


def top_class(model: vjproof.Classifier, path: Path) -> str:
    x = vjproof.preprocess(vjproof.read_image(path), model.preprocessing)
    return slug(model.labels[int(model.logits(x[None], engine="numpy").argmax())])


def test_the_file_is_small_and_the_network_too(model: vjproof.Classifier) -> None:
    assert (DATA / "fashion.safetensors").stat().st_size < 2_000_000
    assert 200_000 <= count(model.config) <= 400_000


def test_all_choices_are_stated_in_the_file(model: vjproof.Classifier) -> None:
    assert not model.notes.assumed
    assert (model.config.eps, model.config.gelu, model.config.pooling) == (1e-6, "erf", "cls")
    assert model.config.image_shape == (1, 28, 28)
    assert model.config.heads != model.config.head_width


def test_the_card_speaks_of_this_file(model: vjproof.Classifier) -> None:
    card = (DATA / "MODEL_CARD.md").read_text()
    digest = hashlib.sha256((DATA / "fashion.safetensors").read_bytes()).hexdigest()
    assert digest in card
    assert model.sha256 == digest
    assert model.checkpoint.metadata["accuracy"].split()[0] in card
    assert model.checkpoint.metadata["recipe"] in card
    assert float(model.checkpoint.metadata["accuracy"].split()[0]) >= 0.90


def test_one_picture_per_class(model: vjproof.Classifier) -> None:
    assert [path.stem for path in PICTURES] == sorted(slug(label) for label in model.labels)


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_each_picture_shows_what_its_name_says(model: vjproof.Classifier, path: Path) -> None:
    assert top_class(model, path) == path.stem


def test_a_damaged_network_does_not_pass_for_the_shipped_one(model: vjproof.Classifier) -> None:
    mirrored = map_tensors(lambda tensor: np.flip(tensor, axis=0).copy(), model.params)
    damaged = vjproof.Classifier("damaged", dataclasses.replace(model.checkpoint, params=mirrored))
    assert sum(top_class(damaged, path) == path.stem for path in PICTURES) < len(PICTURES) / 2
