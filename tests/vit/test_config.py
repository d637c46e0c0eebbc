"""A config refuses what cannot be a network, in one line that says what to do."""

import dataclasses

import pytest

from tests.nets import SHAPES, make_config
from vjproof.errors import VjproofError
from vjproof.vit.config import Config

GOOD = make_config(SHAPES[1], depth=3)


def test_derived_sizes():
    assert GOOD.head_width == 5
    assert GOOD.grid == (2, 3)
    assert (GOOD.patches, GOOD.tokens) == (6, 7)
    assert GOOD.image_shape == (3, 10, 15)


def test_vit_tiny_has_the_published_sizes():
    tiny = Config(3, 224, 224, 16, 192, 3, 768, 12, 1000, 1e-6, "erf")
    assert (tiny.tokens, tiny.head_width, tiny.grid) == (197, 64, (14, 14))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eps": 0.0}, "config eps: expected a finite number > 0, got 0.0; give the eps"),
        ({"eps": -1e-6}, "config eps: expected a finite number > 0, got -1e-06"),
        ({"eps": float("nan")}, "config eps: expected a finite number > 0, got nan"),
        ({"eps": float("inf")}, "config eps: expected a finite number > 0, got inf"),
        ({"gelu": "quick"}, "config gelu: expected erf or tanh, got 'quick'"),
        ({"pooling": "max"}, "config pooling: expected cls or mean or norm-mean, got 'max'"),
        ({"heads": 4}, "config heads: expected a divisor of the width 15, got 4; pass the number of attention heads"),
        ({"height": 12}, "config image size: expected height and width that 5 (the patch size) divides, got 12 x 15"),
        ({"width": 16}, "config image size: expected height and width that 5 (the patch size) divides, got 10 x 16"),
        ({"patch": 0}, "config patch: expected a positive integer, got 0"),
        ({"heads": 0}, "config heads: expected a positive integer, got 0"),
        ({"depth": -1}, "config depth: expected 0 or more, got -1"),
        ({"readout": 2}, "config readout: expected 1 to 1 leading rows, got 2"),
        ({"readout": 0}, "config readout: expected 1 to 1 leading rows, got 0"),
    ],
)
def test_a_bad_config_is_refused_in_one_line(change, message):
    with pytest.raises(VjproofError) as caught:
        dataclasses.replace(GOOD, **change)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_mean_pooling_needs_no_prefix():
    assert dataclasses.replace(GOOD, pooling="mean", prefix=0, readout=0).tokens == 6
