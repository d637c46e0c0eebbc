"""Enclosures of random networks hold the complex-step derivative at 90 digits, and results at twice the precision."""

import flint
import numpy as np
import pytest

from tests.enclosure.soundness import holds
from tests.nets import GRID, draw
from tests.oracles.complex_step import directional
from vjproof.enclosure import functions, precision
from vjproof.enclosure.enclosure import enclose_network
from vjproof.vit.config import Config

FEW_BITS = 40  # beyond 40 for each block: the balls stay much wider than the error of the complex step
POOLINGS = [net[1] for net in GRID if net[1].prefix]


def random_network(seed):
    """A small network with random sizes and choices, its parameters, image and cotangent."""
    generator = np.random.default_rng(seed)
    like = POOLINGS[seed % len(POOLINGS)]
    heads, width, patch = generator.integers(1, 4), generator.integers(1, 4), generator.integers(1, 4)
    rows, columns = generator.permutation([1, 2, 3])[:2]
    config = Config(
        int(generator.integers(1, 3)), int(rows * patch), int(columns * patch), int(patch), int(heads * width),
        int(heads), int(generator.integers(1, 6)), int(generator.integers(0, 3)), int(generator.integers(1, 5)),
        float(generator.choice([1e-12, 1e-6, 1e-5])), like.gelu, like.prefix, like.readout, like.pooling,
        like.layer_scale,
    )  # fmt: skip
    return config, *draw(config, 1, seed)


def check_networks(seeds):
    """The ball of <gradient, direction> holds the derivative; the ball of the target holds its value."""
    widest = 0.0
    for seed in seeds:
        config, params, images, d_logits = random_network(seed)
        generator = np.random.default_rng(seed)
        direction = generator.standard_normal(config.image_shape) * (generator.random(config.image_shape) < 0.5)
        value, derivative = directional(config, params, images[0], d_logits[0], direction)
        bits = FEW_BITS * (config.depth + 2)
        enclosed = enclose_network(config, params, images[0], d_logits[0], bits)
        with flint.ctx.workprec(300):
            along = sum(
                (flint.arb(v) * b for v, b in zip(direction.flat, enclosed.balls.flat, strict=True)), flint.arb(0)
            )
            target = sum(
                (flint.arb(v) * b for v, b in zip(d_logits[0], enclosed.logit_balls, strict=True)), flint.arb(0)
            )
        slack = flint.arb(0, 1e-45)  # of the complex step
        assert holds(target, value), seed
        assert holds(along + slack, derivative), seed
        widest = max(widest, float(along.rad()))
    assert widest > 1e-40  # not held by the slack


def check_nesting(seeds):
    """Entry by entry, the result at twice the precision lies inside."""
    for seed in seeds:
        config, params, images, d_logits = random_network(seed)
        bits = FEW_BITS * (config.depth + 2)
        coarse, fine = (enclose_network(config, params, images[0], d_logits[0], bits * n) for n in (1, 2))
        for name in ("balls", "logit_balls"):
            inner, outer = getattr(fine, name), getattr(coarse, name)
            assert all(b.contains(a) for a, b in zip(inner.flat, outer.flat, strict=True)), seed


def test_two_hundred_networks():
    check_networks(range(200))


def test_results_at_twice_the_precision_lie_inside():
    check_nesting(range(40))


@pytest.mark.slow
def test_results_at_twice_the_precision_lie_inside_for_two_hundred_networks():
    check_nesting(range(200))


WRONG = {
    "floats read as float32": lambda patch: patch.setattr(
        precision, "exact_floats", lambda x: np.float64(np.float32(x))
    ),
    "products without their radius, rounded": lambda patch: patch.setitem(
        functions.FUNCTIONS, "matmul", at_few_bits(functions.matmul)
    ),
    "a slightly wrong exponential": lambda patch: patch.setitem(
        functions.FUNCTIONS, "exp", lambda x: x.exp() * (1 + flint.arb(2.0**-30))
    ),
}


def at_few_bits(product):
    def wrong(x, y):
        with flint.ctx.workprec(30):
            return middles(product(x, y))

    return wrong


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rounding_is_caught(monkeypatch, name):
    WRONG[name](monkeypatch)
    with pytest.raises(AssertionError):
        check_networks(range(8))


def test_a_radius_that_is_dropped_is_caught_by_nesting(monkeypatch):
    right = functions.FUNCTIONS["power"]
    monkeypatch.setitem(functions.FUNCTIONS, "matmul", lambda x, y: middles(functions.matmul(x, y)))
    monkeypatch.setitem(functions.FUNCTIONS, "power", lambda x, exponent: right(x, exponent).mid())
    with pytest.raises(AssertionError):
        check_nesting(range(40))


def middles(balls):
    return np.frompyfunc(lambda ball: ball.mid(), 1, 1)(balls)
