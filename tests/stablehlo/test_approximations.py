"""erf and erfc that JAX wrote out as piecewise polynomials: recognised with a bound that holds, or not at all."""

import re

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jax import export

from vjproof.errors import VjproofError
from vjproof.stablehlo.erf_bounds import bound_difference
from vjproof.stablehlo.read import read_stablehlo
from vjproof.stablehlo.scalar_expression import floats

FUNCTIONS = {"erf": jax.lax.erf, "erfc": jax.lax.erfc}
EXPECTED = {np.float32: 1e-7, np.float64: 2e-15}
STEP = (("argument", (), ()), ("number", (), (0,)), ("compare", (0, 1), ("LT",)))


def exported(function, number):
    with jax.enable_x64(True):
        shape = jax.ShapeDtypeStruct((3,), number)
        return export.export(jax.jit(function))(shape).mlir_module()


@pytest.mark.parametrize("number", EXPECTED)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_expansion_is_recognised_with_a_tight_bound(name, number):
    module = read_stablehlo(exported(FUNCTIONS[name], number))
    (approximation,) = module.approximations
    assert approximation.function == name
    assert 0 < approximation.bound < EXPECTED[number]
    assert [operation.kind for operation in module.program.operations.values()] == ["input", name]
    assert str(approximation) in module.declarations()["approximations"]


def test_the_bound_holds_at_many_points(monkeypatch):
    from vjproof.stablehlo import approximations

    seen = []

    def remember(lines, function):
        bound = bound_difference(lines, function)
        seen.append((lines, function, bound))
        return bound

    monkeypatch.setattr(approximations, "_bound", remember)
    for function in FUNCTIONS.values():
        read_stablehlo(exported(function, np.float32))
    accepted = [entry for entry in seen if entry[2] is not None and entry[2] < 1e-6]
    assert len(accepted) == 2
    points = np.concatenate([np.linspace(-12, 12, 4001), [-1e6, -1.0, 0.0, 1.0, 1e6, 3.9999, 4.0001]])
    for lines, function, bound in accepted:
        truth = np.array([float(getattr(mpmath, function)(point)) for point in points])
        worst = np.abs(floats(lines, points)[-1] - truth).max()
        assert worst <= bound + 1e-15
        assert bound < 3 * worst


def test_bounds_of_functions_that_are_not_near_are_large_or_none():
    line = ("number", (), (1,))
    assert (
        bound_difference((("argument", (), ()), line), "erf") is None
        or bound_difference((("argument", (), ()), line), "erf") >= 1
    )
    assert bound_difference((("argument", (), ()),), "erf") is None
    jump = (*STEP, ("number", (), (2,)), ("number", (), (0,)), ("select", (2, 3, 4), ()))
    assert bound_difference(jump, "erfc") is None or bound_difference(jump, "erfc") >= 1


def test_a_changed_coefficient_is_not_recognised():
    text = exported(jax.lax.erfc, np.float32)
    wrong = re.sub(r"dense<1\.12837911>", "dense<1.12837>", text)
    assert wrong != text
    with pytest.raises(VjproofError, match="a choice that depends on inputs"):
        read_stablehlo(wrong)


def test_the_exported_gelu_has_the_program_of_the_exact_one():
    def gelu(x):
        return jax.nn.gelu(x, approximate=False)

    module = read_stablehlo(exported(gelu, np.float64))
    x = np.array([-3.7, 0.3, 2.0])
    with jax.enable_x64(True):
        assert np.allclose(module.run(x)[0], gelu(jnp.asarray(x)), rtol=1e-12, atol=0)
    assert len(module.approximations) == 1
