"""Guards: read as one side where they are uniform, with the assumption told; other choices stay choices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vjproof import VjproofError
from vjproof.stablehlo.read import End, Link, read_pair

X = jax.ShapeDtypeStruct((3, 4), jnp.float32)
LINKS = [Link(End("input", 0), End("input", 0))]


def read(function, guards=True):
    """Read one function as both modules of a pair, and return the first."""
    text = jax.jit(function, keep_unused=True).lower(X).as_text()
    return read_pair(text, text, LINKS, guards=guards)[0]


UNIFORM = {
    "maximum": (lambda x: jnp.maximum(jnp.exp(x).sum(-1), 1e-6), ">", lambda x: np.exp(x).sum(-1)),
    "minimum": (lambda x: jnp.minimum(jnp.tanh(x), 4.0), None, np.tanh),
    "select": (lambda x: jnp.where(jnp.sum(x * x, -1) > 1e-9, jnp.sum(x, -1), 0.0), ">", lambda x: x.sum(-1)),
    "select below": (lambda x: jnp.where(jnp.sum(x * x, -1) < -2.0, 7.0, jnp.sum(x, -1)), ">", lambda x: x.sum(-1)),
}


@pytest.mark.parametrize("name", UNIFORM)
def test_a_uniform_guard_is_read_as_one_side(name):
    function, relation, wanted = UNIFORM[name]
    module = read(function)
    assert len(module.guards) == 1
    assert relation in (None, module.guards[0].relation)
    assert module.guards[0].value in module.program.operations
    assert str(module.guards[0]) in module.declarations()["guards"]
    x = np.random.default_rng(1).standard_normal((3, 4))
    assert np.allclose(module.run(x)[0], wanted(x), rtol=1e-12)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_without_guards_a_maximum_stays_one(name):
    module = read(UNIFORM[name][0], guards=False)
    assert not module.guards
    assert "max" in {operation.kind for operation in module.program.operations.values()}


@pytest.mark.parametrize("function", [jax.nn.relu, lambda x: jnp.clip(x, -0.1, 0.1), lambda x: jnp.maximum(x, 2.0)])
def test_a_choice_that_goes_both_ways_stays_one(function):
    module = read(function)
    assert len(module.guards) < 2
    x = 4 * np.random.default_rng(1).standard_normal((3, 4))
    assert np.allclose(module.run(x)[0], np.asarray(function(x), dtype=float), rtol=1e-6)


def test_a_guard_that_holds_at_one_scale_alone_is_none():
    """|x| < 1 holds at small inputs, and not at others."""
    assert not read(lambda x: jnp.minimum(x * 0.5, 1.0)).guards


def test_a_choice_by_data_is_refused():
    with pytest.raises(VjproofError, match="a choice that depends on inputs"):
        read(lambda x: jnp.where(x > 0, x, x * x))
