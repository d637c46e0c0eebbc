"""Constant arrays inside modules: a proof holds for any numbers there, a counterexample has the module's own."""

import jax
import jax.numpy as jnp
import numpy as np

from vjproof import validate

X = jax.ShapeDtypeStruct((3, 5), jnp.float32)
WEIGHTS = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
INVERSE = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 7.0], [0.0, 0.0, 1.0]], np.float32)  # of another one, of whole numbers


def test_weights_inside_are_free_in_a_proof():
    def forward(x):
        return jnp.tanh(x @ WEIGHTS)

    answer = validate(forward, lambda x, d: jax.vjp(forward, x)[1](d)[0], X)
    assert answer, str(answer)
    assert answer.declared["captured"]
    assert "Holds for any numbers in the constant array" in str(answer)


def test_a_transposed_constant_is_the_same_array():
    square = jax.ShapeDtypeStruct((3, 3), jnp.float32)
    assert validate(lambda x: x @ WEIGHTS, lambda x, d: d @ WEIGHTS.T, X)
    assert validate(lambda x: x @ INVERSE, lambda x, d: d @ INVERSE.T.copy(), square)


def test_other_weights_in_the_gradient_are_refuted():
    answer = validate(lambda x: x @ WEIGHTS, lambda x, d: d @ (WEIGHTS + 1e-3).T, X)
    assert answer.status == "refuted"
    assert answer.counterexample.confirmed
    constants = {name: array for name, array in answer.counterexample.inputs.items() if name.startswith("constant")}
    assert any(np.array_equal(array, weights) for array in constants.values() for weights in (WEIGHTS, WEIGHTS.T))


def test_a_constant_of_the_gradient_alone():
    """It does not matter to the result, whatever its numbers are."""
    assert validate(lambda x: x * x, lambda x, d: 2 * x * d + (d - d) * WEIGHTS[:3, :1], X)


def test_a_gradient_that_is_right_for_these_numbers_alone_is_not_refuted():
    """d_y times (A^-1 A)^T is d_y for this A; a proof, for any numbers, is not to be had."""
    inverse = np.linalg.inv(INVERSE).round().astype(np.float32)
    x = jax.ShapeDtypeStruct((3, 3), jnp.float32)
    assert validate(lambda x: (x @ INVERSE) @ inverse, lambda x, d: d, x).status == "not proved"
    assert validate(lambda x: x @ INVERSE, lambda x, d: d, x).status == "refuted"
