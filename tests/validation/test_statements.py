"""What is said where a function has kinks, guards or divisions: where the statement holds, or not proved."""

import jax
import jax.numpy as jnp
import pytest

from vjproof import validate

X = jax.ShapeDtypeStruct((3, 4), jnp.float32)


def gradient_of(f):
    return lambda x, d_y: jax.vjp(f, x)[1](d_y)[0]


KINKS = {
    "relu": jax.nn.relu,
    "abs": jnp.abs,
    "maximum": lambda x: jnp.maximum(x, 0.5),
    "where": lambda x: jnp.where(x > 0, x * x, x),
    "row maximum": lambda x: x.max(axis=-1),
    "clip": lambda x: jnp.clip(x, -1.0, 1.0),
    "hard tanh": jax.nn.hard_tanh,
    "leaky relu": jax.nn.leaky_relu,
    "sorted": lambda x: jnp.sort(x, axis=-1),
}


@pytest.mark.parametrize("name", KINKS)
def test_a_kink_that_matters_is_not_proved(name):
    answer = validate(KINKS[name], gradient_of(KINKS[name]), X)
    assert answer.status == "not proved", str(answer)
    assert answer.reason
    assert answer.certificate is None


@pytest.mark.parametrize("name", ["relu", "abs", "maximum", "where", "leaky relu"])
def test_a_wrong_gradient_at_a_kink_is_never_proved(name):
    assert not validate(KINKS[name], lambda x, d_y: d_y, X)
    assert not validate(KINKS[name], lambda x, d_y: 0 * d_y, X)


@pytest.mark.parametrize("place", ["test_statements.py"])
def test_the_place_of_what_is_not_read_is_told(place):
    assert place in str(validate(KINKS["where"], gradient_of(KINKS["where"]), X))
    assert place in str(validate(lambda x: jnp.maximum(x, -x) ** 2, lambda x, d: 2 * x * d, X))


def test_what_resists_is_told_with_its_lines():
    def root_of_square(x):
        e = jnp.exp(x)
        return jnp.sqrt(e * e + 2 * e + 1)

    answer = validate(root_of_square, lambda x, d_y: d_y * jnp.exp(x), X)
    assert answer.status == "not proved"
    assert "is not shown to be" in str(answer)
    assert "test_statements.py" in str(answer)


def test_a_guard_is_a_condition_of_the_statement():
    def unit(x):
        return x / jnp.maximum(jnp.sqrt(jnp.sum(x * x, axis=-1, keepdims=True)), 1e-12)

    answer = validate(unit, gradient_of(unit), X)
    assert answer, str(answer)
    (line,) = [line for line in answer.statement if "a branch at" in line]
    assert line.startswith("where sum(x * x over ")
    assert "> 9.99999996e-13 in every entry" in line


def test_a_wrong_gradient_under_a_guard_is_refuted():
    def unit(x):
        return x / jnp.maximum(jnp.sqrt(jnp.sum(x * x, axis=-1, keepdims=True)), 1e-12)

    answer = validate(unit, lambda x, d_y: d_y / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-12), X)
    assert answer.status == "refuted"
    assert answer.counterexample.confirmed


def test_a_division_is_a_condition():
    answer = validate(lambda x: 1 / x, lambda x, d_y: -d_y / (x * x), X)
    assert "where x != 0 in every entry" in answer.statement


def test_a_softmax_with_ties_needs_no_condition():
    answer = validate(jax.nn.softmax, gradient_of(jax.nn.softmax), X)
    assert answer
    assert not [line for line in answer.statement if line.startswith("where")]


@pytest.mark.parametrize("name", ["log", "sin"])
def test_an_operation_outside_the_subset_is_named(name):
    function = getattr(jnp, name)
    answer = validate(function, gradient_of(function), X)
    assert answer.status == "not proved"
    assert f"stablehlo.{ {'log': 'log', 'sin': 'sine'}[name] }" in str(answer)


def test_readings_of_literals_are_listed():
    f = lambda x: jax.nn.gelu(x, approximate=False)  # noqa: E731
    said = str(validate(f, gradient_of(f), X))
    assert "read as 1/2 * 2^(1/2)" in said
    assert "read as -2 * pi^(-1/2)" in said or "pi^(-1/2)" in said


def test_a_long_statement_is_shortened():
    from tests.foreign import vit
    from tests.foreign.spellings import SPELLINGS, by_vjp

    forward = lambda params, x: vit.logits(SPELLINGS["plain"], params, x)  # noqa: E731
    said = str(validate(forward, by_vjp(forward), *vit.structs(vit.Sizes()), wrt="all"))
    assert "more)" in said
    assert max(map(len, said.splitlines())) < 320
    assert len(said.splitlines()) < 30
