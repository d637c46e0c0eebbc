"""Gradients that JAX makes of one network in many spellings are proved, with respect to images and all parameters."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest

from tests.foreign import vit
from tests.foreign.spellings import REVERSES, SPELLINGS, by_vjp, mapped
from tests.foreign.vit import Sizes, Spelling, structs
from vjproof import validate
from vjproof.kernel.certificate import check

SIZES = Sizes(batch=2, depth=1)


def network(spelling):
    return partial(vit.logits, spelling)


@pytest.mark.parametrize("name", SPELLINGS)
def test_the_gradient_of_a_spelling_is_proved(name):
    forward = network(SPELLINGS[name])
    depth = 2 if name in ("scan", "checkpoint") else 1
    arguments = structs(SIZES._replace(depth=depth), stacked=name == "scan")
    answer = validate(forward, by_vjp(forward), *arguments, wrt="all")
    assert answer, str(answer)
    count = len(jax.tree.leaves(arguments))
    assert sum("sum over j" in line for line in answer.statement) == count
    assert len(check(answer.certificate)) >= count


@pytest.mark.parametrize("name", REVERSES)
def test_reverses_made_in_other_ways_are_proved(name):
    forward = network(SPELLINGS["softmax"])
    assert validate(forward, REVERSES[name](forward), *structs(SIZES), wrt="all")


@pytest.mark.parametrize("name", ["softmax", "dot_product_attention"])
def test_a_batch_by_vmap_is_proved(name):
    forward = mapped(SPELLINGS[name])
    assert validate(forward, by_vjp(forward), *structs(SIZES), wrt="all")


@pytest.mark.parametrize("name", ["matmul", "conv", "dot_product_attention", "standardize", "naive softmax", "moments"])
def test_the_gradient_of_one_spelling_is_that_of_another(name):
    """The attention's three products fused into one, another variance, another embedding."""
    answer = validate(network(SPELLINGS["softmax"]), by_vjp(network(SPELLINGS[name])), *structs(SIZES), wrt="all")
    assert answer, str(answer)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_other_number_formats(dtype):
    forward = network(SPELLINGS["plain"])
    answer = validate(forward, by_vjp(forward), *structs(SIZES, dtype=dtype), wrt="all")
    assert answer
    assert ("roundings" in answer.declared) == (dtype == "bfloat16")
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize("name", ["tanh for erf", "eps", "query for key", "scale", "residual"])
def test_the_gradient_of_another_network_is_refuted(name):
    """The red control: each is a gradient, of a network that is slightly different."""
    other = {
        "tanh for erf": SPELLINGS["tanh"],
        "eps": Spelling(norm=partial(vit.centred_norm, eps=1.0000002e-6)),
        "query for key": Spelling(attention=lambda x, p: vit.einsum_attention(x, {**p, "query": p["key"]})),
        "scale": Spelling(
            attention=partial(vit.einsum_attention, softmax=lambda z: vit.shifted_softmax(z * 1.0000002))
        ),
        "residual": Spelling(gelu=lambda x: x),
    }[name]
    answer = validate(network(SPELLINGS["plain"]), by_vjp(network(other)), *structs(SIZES._replace(batch=1)), wrt="all")
    assert answer.status == "refuted", str(answer)
    assert answer.counterexample.confirmed


def test_a_block_of_equinox_is_proved():
    from tests.foreign.equinox_block import forward_and_parameters

    forward, parameters = forward_and_parameters()
    x = jax.ShapeDtypeStruct((7, 6), jnp.float32)
    answer = validate(forward, by_vjp(forward), parameters, x, wrt="all")
    assert answer, str(answer)
    assert any("differ in every entry" in line or "> 0 in every entry" in line for line in answer.statement)
