"""Enclosures of whole networks hold independent values, nest, and stay finite on hard inputs."""

import math

import flint
import numpy as np
import pytest

from tests.enclosure.soundness import holds
from tests.nets import GRID as NETS
from tests.nets import POOLINGS, SHAPES, draw, make_config
from tests.oracles.complex_step import directional
from vjproof.enclosure import evaluate
from vjproof.enclosure.enclosure import enclose_network
from vjproof.errors import VjproofError
from vjproof.vit import model
from vjproof.vit.params import map_tensors

NETS = [net for net in NETS if net[1].prefix]


def enclosed(config, seed=0, bits=None, change=None, scale=1.0):
    params, images, d_logits = draw(config, 1, seed)
    params = change(params) if change else params
    return enclose_network(config, params, images[0] * scale, d_logits[0], bits), params, images[0] * scale, d_logits[0]


@pytest.mark.parametrize(("config", "seed"), [(net[1], i) for i, net in enumerate(NETS)][::4])
def test_the_enclosure_is_near_the_float64_gradient_and_doubled_precision_lies_inside(config, seed):
    bounds, params, image, d_logits = enclosed(config, seed)
    logits, gradient = model.logits_and_gradient(config, params, image, d_logits)
    scale = np.abs(bounds.mid).max()
    assert np.abs(gradient - bounds.mid).max() < 1e-9 * scale
    assert np.abs(logits - bounds.logits_mid).max() < 1e-9 * np.abs(logits).max()
    assert bounds.radius <= 1e-30 * scale
    finer = enclosed(config, seed, 2 * bounds.bits)[0]
    assert all(a.contains(b) for a, b in zip(bounds.balls.flat, finer.balls.flat, strict=True))


def test_a_difference_quotient_of_the_enclosed_logits_agrees():
    config = make_config(SHAPES[0])
    bounds, params, image, d_logits = enclosed(config)
    entry, step = (1, 2, 3), 2.0**-20
    with flint.ctx.workprec(300):
        sides = []
        for sign in (1, -1):
            moved = image.copy()
            moved[entry] += sign * step
            logits = enclose_network(config, params, moved, d_logits, 300).logit_balls
            sides.append(sum(flint.arb(w) * z for w, z in zip(d_logits.tolist(), logits.flat, strict=True)))
        quotient = (sides[0] - sides[1]) / flint.arb(2 * step)
        assert abs(float((quotient - bounds.balls[entry]).mid())) < 1e-9 * np.abs(bounds.mid).max()


def test_a_wrong_primitive_fails_the_self_test(monkeypatch):
    monkeypatch.setitem(evaluate.FUNCTIONS, "erfc", lambda x: x.erfc() * (1 + flint.arb(2.0**-60)))
    evaluate._check_once.cache_clear()
    with pytest.raises(VjproofError, match="self-test of ball arithmetic: expected erfc"):
        enclosed(make_config())
    evaluate._check_once.cache_clear()


def test_the_global_precision_is_restored():
    before = flint.ctx.prec
    enclosed(make_config(depth=0))
    assert flint.ctx.prec == before


HARD = {
    "constant tokens": (
        {}, lambda p: p._replace(patch_weight=p.patch_weight * 0, position=p.position * 0, prefix=p.prefix * 0), 1.0,
    ),
    "equal keys": ({}, lambda p: p._replace(blocks=tuple(b._replace(w_k=b.w_k * 0) for b in p.blocks)), 1.0),
    "saturated 100": ({}, lambda p: p._replace(blocks=tuple(b._replace(w_q=b.w_q * 100) for b in p.blocks)), 1.0),
    "saturated 1e4": ({}, lambda p: p._replace(blocks=tuple(b._replace(w_q=b.w_q * 1e4) for b in p.blocks)), 1.0),
    "gelu tails": ({}, lambda p: p._replace(blocks=tuple(b._replace(w_1=b.w_1 * 50) for b in p.blocks)), 1.0),
    "denormals": ({}, None, 1e-310),
    "small eps": ({"eps": 1e-12, "gelu": "tanh"}, None, 1.0),
    "zero head": ({}, lambda p: p._replace(w_head=p.w_head * 0), 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_hard_inputs_stay_sound_and_finite(name):
    choices, change, scale = HARD[name]
    config = make_config(depth=1, **choices)
    bounds, params, image, d_logits = enclosed(config, change=change, scale=scale)
    direction = np.random.default_rng(0).standard_normal(image.shape)
    value, derivative = directional(config, params, image, d_logits, direction)
    with flint.ctx.workprec(300):
        assert holds(sum(flint.arb(d) * z for d, z in zip(d_logits, bounds.logit_balls, strict=True)), value)
        along = sum(flint.arb(v) * b for v, b in zip(direction.flat, bounds.balls.flat, strict=True))
    assert holds(along + flint.arb(0, 1e-40), derivative)
    assert np.isfinite(bounds.mid).all()
    assert np.isfinite(bounds.rad).all()
    finer = enclosed(config, bits=2 * bounds.bits, change=change, scale=scale)[0]
    assert all(a.overlaps(b) for a, b in zip(bounds.balls.flat, finer.balls.flat, strict=True))


def test_numbers_that_are_not_finite_are_refused():
    with pytest.raises(VjproofError, match="finite floats"):
        enclosed(make_config(), change=lambda p: map_tensors(lambda t: t * math.nan, p))
    with pytest.raises(VjproofError, match="finite floats"):
        enclosed(make_config(), scale=math.inf)


@pytest.mark.parametrize("bits", [0, 5000, 64.0])
def test_bits_out_of_range_are_refused(bits):
    with pytest.raises(VjproofError, match="bits: expected an int"):
        enclosed(make_config(), bits=bits)


def test_too_few_bits_give_no_bound():
    with pytest.raises(VjproofError, match="bound too wide at 24 bits"):
        enclosed(make_config(depth=4, eps=1e-12), bits=24, change=lambda p: p._replace(position=p.position * 0))


def test_networks_without_a_prefix_are_refused():
    with pytest.raises(VjproofError, match="prefix token"):
        enclosed(make_config(pooling=POOLINGS[-1]))
