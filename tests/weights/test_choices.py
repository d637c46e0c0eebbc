"""What no tensor tells: argument before file before a stated default."""

import dataclasses

import pytest

from vjproof.errors import VjproofError
from vjproof.weights.choices import (
    Choices,
    settle,
    settle_eps,
    settle_gelu,
    settle_heads,
    settle_pooling,
)  # fmt: skip
from vjproof.weights.declared import Declared
from vjproof.weights.report import Notes, listed

FILE = Declared(where="config.json", heads=4, eps=1e-5, gelu="tanh", pooling="cls")


def test_the_argument_wins_then_the_file_then_the_default():
    notes = Notes()
    assert settle(notes, "eps", 1e-3, 1e-5, "config.json", 1e-6, "why") == 1e-3
    assert settle(notes, "eps", None, 1e-5, "config.json", 1e-6, "why") == 1e-5
    assert settle(notes, "eps", None, None, "config.json", 1e-6, "why") == 1e-6
    assert notes.recognised == ["eps 0.001 (argument, config.json says 1e-05)", "eps 1e-05 (config.json)"]
    assert notes.assumed == ["eps 1e-06: why"]


@pytest.mark.parametrize(
    ("layout", "dialect", "eps"),
    [
        ("timm", "timm", 1e-6),
        ("deit", "timm", 1e-6),
        ("hf", "hf", 1e-12),
        ("deit", "hf", 1e-12),
        ("dinov2", "hf", 1e-6),
    ],
)
def test_the_default_eps_is_the_layouts_and_said(layout, dialect, eps):
    notes = Notes()
    assert settle_eps(Choices(), Declared(), layout, dialect, notes) == eps
    assert notes.assumed[0].startswith(f"eps {eps}")
    assert settle_eps(Choices(), FILE, layout, dialect, notes) == 1e-5
    assert settle_eps(Choices(eps=1e-3), FILE, layout, dialect, notes) == 1e-3


@pytest.mark.parametrize(("width", "heads"), [(192, 3), (384, 6), (768, 12), (1024, 16)])
def test_heads_by_convention_are_said(width, heads):
    notes = Notes()
    assert settle_heads(Choices(), Declared(), width, "w", notes) == heads
    assert notes.assumed == [f"heads {heads}: width {width}, by the convention of 64 columns a head"]


@pytest.mark.parametrize("width", [6, 64, 100, 1280, 1408])
def test_heads_without_a_convention_are_asked_for(width):
    with pytest.raises(VjproofError, match=r"the number of attention heads, .*; pass heads="):
        settle_heads(Choices(), Declared(), width, "w", Notes())
    assert settle_heads(Choices(heads=2), Declared(), width, "w", Notes()) == 2
    assert settle_heads(Choices(), FILE, width, "w", Notes()) == 4


def test_an_unknown_activation_is_asked_for():
    unknown = dataclasses.replace(FILE, gelu="unknown", family="vit_base_patch16_siglip_224")
    with pytest.raises(VjproofError, match="got vit_base_patch16_siglip_224; pass gelu="):
        settle_gelu(Choices(), unknown, Notes())
    assert settle_gelu(Choices(gelu="tanh"), unknown, Notes()) == "tanh"
    assert settle_gelu(Choices(), FILE, Notes()) == "tanh"
    assert settle_gelu(Choices(), Declared(), Notes()) == "erf"


@pytest.mark.parametrize(
    ("stated", "prefix", "fc_norm", "pooling"),
    [
        (None, 1, False, "cls"),
        (None, 1, True, "mean"),
        (None, 0, False, "norm-mean"),
        ("norm-mean", 1, False, "norm-mean"),
        ("norm-mean", 1, True, "mean"),
        ("cls", 1, True, "cls"),
    ],
)
def test_pooling(stated, prefix, fc_norm, pooling):
    assert settle_pooling(Choices(), Declared(pooling=stated), prefix, fc_norm, Notes()) == pooling


def test_lists_and_reports_are_bounded():
    assert listed([str(i) for i in range(8)]) == "0, 1, 2, 3, 4, 5 and 2 more"
    report = Notes("timm", ["a"], ["b"], ["c"] * 100).freeze()
    assert report.lines() == ["layout: timm", "recognised: a", "assumed: b", "ignored: c, c, c, c, c, c and 94 more"]
