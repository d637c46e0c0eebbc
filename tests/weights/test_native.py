"""Our own layout: written and read back bit for bit, and hostile metadata."""

import dataclasses
import json

import numpy as np
import pytest
from safetensors import safe_open

from tests.nets import GRID, make_config
from tests.weights.checkpoints import CONFIG, numbered, same, write
from vjproof.errors import VjproofError
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.params import map_tensors, named_tensors, random_params
from vjproof.weights import load, save

IMAGES = Preprocessing((8, 12), 3, (8, 12), "bilinear", (0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
LABELS = ["Tee", "Bag", "Coat", "Shirt", "Boot"]


def stored(tmp_path, **changes):
    """A file whose metadata is changed by hand."""
    save(tmp_path / "a.safetensors", CONFIG, numbered(), LABELS, IMAGES)
    with safe_open(tmp_path / "a.safetensors", "np") as file:
        document = json.loads(file.metadata()["vjproof"])
    for section, values in changes.items():
        document[section] = document[section] | values if isinstance(values, dict) else values
    return write(tmp_path / "b.safetensors", dict(named_tensors(numbered())), {"vjproof": json.dumps(document)})


def test_a_network_survives_and_nothing_is_assumed(tmp_path):
    path = tmp_path / "model.safetensors"
    save(path, CONFIG, numbered(), LABELS, IMAGES, {"licence": "MIT", "data": "made up"})
    got = load(path)
    assert (got.config, got.labels, got.preprocessing) == (CONFIG, tuple(LABELS), IMAGES)
    assert same(got.params, numbered()) == []
    assert (got.notes.layout, got.notes.assumed, got.notes.ignored) == ("vjproof", (), ())
    assert got.metadata == {"licence": "MIT", "data": "made up"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.safetensors"]


@pytest.mark.parametrize("config", [config for _, config, _ in GRID], ids=[name for name, _, _ in GRID])
def test_every_kind_of_network_survives_in_float64(tmp_path, config):
    channels = 3 if config.channels not in (1, 3) else config.channels
    config = dataclasses.replace(config, channels=channels)
    params = random_params(config, 3)
    images = Preprocessing((config.height, config.width), channels, 64, "bicubic", (0.0,) * channels, (1.0,) * channels)
    save(tmp_path / "a.safetensors", config, params, [str(i) for i in range(config.classes)], images)
    got = load(tmp_path / "a.safetensors")
    assert (got.config, got.preprocessing) == (config, images)
    assert same(got.params, params) == []


def test_the_same_network_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        save(tmp_path / name, CONFIG, numbered(), LABELS, IMAGES, {"x": "1", "y": "2", "z": "3"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_arguments_override_and_are_reported(tmp_path):
    got = load(stored(tmp_path), eps=1e-3, gelu="tanh", image_size=(16, 12), labels=["a", "b", "c", "d", "e"], mean=0.5)
    assert (got.config.eps, got.config.gelu, got.config.height) == (1e-3, "tanh", 16)
    assert (got.preprocessing.size, got.preprocessing.mean, got.labels[0]) == ((16, 12), (0.5,) * 3, "a")
    assert "eps 0.001 (argument, the file says 1e-06)" in got.notes.recognised


def test_saving_refuses_what_does_not_fit(tmp_path):
    path, params = tmp_path / "a.safetensors", numbered()
    broken = params._replace(b_head=np.full(5, np.nan, np.float32))
    for arguments, reason in (
        ((CONFIG, params, LABELS[:4], IMAGES), "labels: expected 5 names, got 4"),
        ((CONFIG, broken, LABELS, IMAGES), "expected finite numbers"),
        ((CONFIG, map_tensors(lambda t: t.astype(np.int32), params), LABELS, IMAGES), "expected float32 or float64"),
        ((dataclasses.replace(CONFIG, depth=3), params, LABELS, IMAGES), "missing: blocks.2.b_1"),
        ((CONFIG, params, LABELS, dataclasses.replace(IMAGES, size=(8, 8))), "preprocessing: expected"),
    ):
        with pytest.raises(VjproofError, match=reason):
            save(path, *arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 2}, "format: expected 1"),
        ({"format": None}, "format: expected 1"),
        ({"config": None}, "config: expected an object"),
        ({"config": {"secret": 1}}, "expected the fields"),
        ({"config": {"depth": 10**7}}, "sizes that fit the tensors"),
        ({"config": {"depth": 3}}, "sizes that fit the tensors"),
        ({"config": {"depth": 1}}, "unexpected: blocks.1.b_1"),
        ({"config": {"hidden": 10**7}}, "wrong shape|divisor"),
        ({"config": {"hidden": -6}}, "hidden: expected a whole number"),
        ({"config": {"heads": 4}}, "config heads: expected a divisor"),
        ({"config": {"eps": 0}}, "config eps"),
        ({"config": {"eps": None}}, "eps, gelu"),
        ({"config": {"gelu": "relu"}}, "config gelu"),
        ({"config": {"layer_scale": 1}}, "layer_scale: expected true or false"),
        ({"config": {"layer_scale": True}}, "missing: blocks.0.scale1"),
        ({"labels": ["a"]}, "labels: expected 5 names"),
        ({"labels": "abcde"}, "labels: expected a list"),
        ({"preprocessing": {"resample": "magic"}}, "pre-processing resample"),
        ({"preprocessing": {"std": [0, 1, 1]}}, "pre-processing std"),
        ({"about": []}, "about: expected an object"),
    ],
)
def test_hostile_metadata_is_told_in_one_line(tmp_path, changes, reason):
    with pytest.raises(VjproofError, match=reason) as caught:
        load(stored(tmp_path, **changes))
    assert len(str(caught.value)) < 700


def test_unchanged_metadata_is_read(tmp_path):
    assert same(load(stored(tmp_path)).params, numbered()) == []


def test_the_smallest_config_of_the_tests_is_another(tmp_path):
    with pytest.raises(VjproofError, match="wrong shape"):
        save(tmp_path / "a.safetensors", dataclasses.replace(make_config(), classes=5), numbered(), LABELS, IMAGES)
