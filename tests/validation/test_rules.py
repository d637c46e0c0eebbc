"""custom_vjp rules: the right ones are proved, the wrong ones are refuted with a confirmed counterexample."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.foreign.rules import RIGHT, arrays, ruled, scaled
from tests.foreign.wrong_rules import WRONG, WRONG_PRIMAL
from vjproof import VjproofError, validate_custom_vjp
from vjproof.kernel.certificate import check


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_is_proved(name):
    function, arguments = RIGHT[name]
    answer = validate_custom_vjp(function, *arguments)
    assert answer, str(answer)
    assert check(answer.certificate)
    assert check(answer.value)


def test_there_are_twenty_wrong_rules():
    assert len(WRONG) >= 20


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_refuted(name):
    function, arguments = WRONG[name]
    answer = validate_custom_vjp(function, *arguments)
    assert answer.status == "refuted", str(answer)
    assert answer.counterexample.confirmed
    assert answer.certificate is None


@pytest.mark.parametrize("name", ["attention, k and v swapped", "gelu, no density", "rms norm, eps missing"])
def test_a_counterexample_is_one(name):
    """JAX's own gradient at the input, in float64, is the true value; the rule gives the other one."""
    function, arguments = WRONG[name]
    found = validate_custom_vjp(function, *arguments).counterexample
    *inputs, d_y = found.inputs.values()
    with jax.enable_x64(True):
        true = jax.vjp(function.fun, *map(jnp.asarray, inputs))[1](jnp.asarray(d_y))
        rule = function.bwd(function.fwd(*map(jnp.asarray, inputs))[1], jnp.asarray(d_y))
    place = [f"d_{label}" for label in list(found.inputs)[: len(true)]].index(found.output)
    for value, said in ((true, found.expected), (rule, found.got)):
        assert np.isclose(float(value[place][found.entry]), float(said.strip("[]").split(" ")[0]), rtol=1e-7, atol=0)


@pytest.mark.parametrize("name", WRONG_PRIMAL)
def test_a_rule_whose_forward_returns_another_value_is_refuted(name):
    function, arguments = WRONG_PRIMAL[name]
    answer = validate_custom_vjp(function, *arguments)
    assert answer.status == "refuted"
    assert "does not return the function's value" in str(answer)
    assert answer.counterexample.confirmed


def test_arguments_that_are_not_differentiated():
    assert validate_custom_vjp(scaled, *arrays((3, 4)), 2.5)


def test_none_stands_for_zeros():
    def constant_in_y(x, y):
        return x + 0 * y

    right = ruled(constant_in_y, lambda x, y: (x + 0 * y, None), lambda _, d: (d, None))
    assert validate_custom_vjp(right, *arrays((3,), (3,)))
    wrong = ruled(lambda x, y: x + y, lambda x, y: (x + y, None), lambda _, d: (d, None))
    assert validate_custom_vjp(wrong, *arrays((3,), (3,))).status == "refuted"


def with_symbolic_zeros():
    rule = jax.custom_vjp(lambda x: x)
    rule.defvjp(lambda x: (x.value, None), lambda _, d: (d,), symbolic_zeros=True)
    return rule


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (with_symbolic_zeros(), "symbolic_zeros"),
        (jnp.sin, "a jax.custom_vjp function with a rule"),
        (jax.custom_vjp(lambda x: x), "set its rule with defvjp"),
        (ruled(lambda x: x, lambda x: (x, None), lambda _, d: d), "a tuple of 1 cotangents"),
        (ruled(lambda x: x, lambda x: (x, None), lambda _, d: (d[:1],)), r"gradients of args\[0\]: \(3,\)"),
        (ruled(lambda x: x, lambda x: (x[:1], None), lambda _, d: (d,)), "results shaped as f's"),
    ],
)
def test_what_is_no_rule_is_told_in_one_line(function, message):
    with pytest.raises(VjproofError, match=message) as caught:
        validate_custom_vjp(function, *arrays((3,)))
    assert "\n" not in str(caught.value)
