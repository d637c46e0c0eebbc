"""Pre-processing for the network's size."""

import dataclasses

import pytest

from tests.weights.checkpoints import CONFIG
from vjproof.errors import VjproofError
from vjproof.weights.choices import Choices
from vjproof.weights.declared import Transform
from vjproof.weights.report import Notes
from vjproof.weights.transform import HALVES, IMAGENET, settle_preprocessing

SQUARE = dataclasses.replace(CONFIG, height=224, width=224, patch=16)


NOTHING = Transform()


def settle(transform=NOTHING, config=SQUARE, layout="timm", **choices):
    notes = Notes()
    return settle_preprocessing(transform, config, Choices(**choices), layout, notes), notes


@pytest.mark.parametrize(
    ("layout", "resize", "resample", "usual"),
    [
        ("timm", 248, "bicubic", HALVES),
        ("hf", (224, 224), "bilinear", HALVES),
        ("hf5", (224, 224), "bilinear", HALVES),
        ("deit", 256, "bicubic", IMAGENET),
        ("dinov2", 256, "bicubic", IMAGENET),
    ],
)
def test_defaults_are_the_layouts_and_each_is_said(layout, resize, resample, usual):
    got, notes = settle(layout=layout)
    assert (got.size, got.resize, got.resample, (got.mean, got.std)) == ((224, 224), resize, resample, usual)
    assert [line.split()[0] for line in notes.assumed] == ["resize", "resample", "mean", "std"]


def test_declared_choices_leave_nothing_assumed():
    declared = Transform("p.json", (224, 224), 256, "lanczos", (0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    got, notes = settle(declared)
    assert (got.resize, got.resample, got.mean, got.std) == (256, "lanczos", (0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    assert notes.assumed == []


@pytest.mark.parametrize(
    ("resize", "crop", "height", "width", "expected"),
    [
        (256, (224, 224), 512, 512, 585),
        ((224, 224), (224, 224), 512, 256, (512, 256)),
        (256, (224, 224), 224, 448, 512),
        ((100, 50), (50, 50), 16, 32, (32, 32)),
    ],
)
def test_another_size_is_scaled_and_said(resize, crop, height, width, expected):
    config = dataclasses.replace(SQUARE, height=height, width=width)
    got, notes = settle(Transform("p.json", crop, resize), config)
    assert (got.size, got.resize) == ((height, width), expected)
    assert "scaled" in notes.assumed[0]


def test_a_short_side_without_a_crop_gets_one_and_it_is_said():
    got, notes = settle(Transform("p.json", None, 300))
    assert (got.size, got.resize) == ((224, 224), 224)
    assert notes.assumed[0] == "a centre crop of (300, 300): p.json declares none"


def test_arguments_override_and_are_checked():
    got, notes = settle(Transform("p.json", mean=(0.1, 0.2, 0.3)), mean=0, std=(1, 2, 4))
    assert (got.mean, got.std) == ((0.0,) * 3, (1.0, 2.0, 4.0))
    assert any(line.startswith("mean") for line in notes.recognised)
    with pytest.raises(VjproofError, match="pre-processing mean: expected 3 finite numbers"):
        settle(mean=(1, 2))
    with pytest.raises(VjproofError, match="pre-processing std: expected numbers > 0"):
        settle(std=0)
    with pytest.raises(VjproofError, match="mean: expected 3 numbers, got 'grey'"):
        settle(mean="grey")


def test_one_channel_is_grey():
    grey = dataclasses.replace(SQUARE, channels=1)
    assert settle(config=grey)[0].mean == (0.5,)
