"""Derivatives of random terms against complex-step differentiation of their brute-force values."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernel.evaluate import factor_size
from tests.kernel.test_terms import bind, made, near
from tests.kernel.trees import SIZES, TENSORS, Terms, Values, environments, evaluator, numbers, trees
from vjproof.kernel.program import Refused
from vjproof.kernel.terms import Algebra

STEP = 1e-30


@settings(max_examples=300, deadline=None)
@given(trees(), st.sampled_from(SIZES), st.sampled_from(sorted(TENSORS)))
def test_derivatives_agree_with_the_complex_step(drawn, sizes, name):
    expression, factors = drawn
    terms = Terms(factors)
    (term,) = made(terms, expression)
    indices = tuple(terms.algebra.fresh(factor) for factor in TENSORS[name])
    try:
        slope = terms.algebra.derivative(term, name, indices)
    except Refused:
        assume(False)
    tensors = numbers(sizes)
    brute = evaluator(sizes, tensors)
    for env, place in itertools.islice(points(sizes, name), 24):
        moved = {key: array.astype(complex) for key, array in tensors.items()}
        moved[name][place] += STEP * 1j
        with np.errstate(all="ignore"):
            wanted = complex(Values(factors, sizes, moved).value(expression, env)).imag / STEP
        bound = bind(terms, env) | {i.name: at for i, at in zip(indices, place, strict=True)}
        assert near(brute, slope, bound, wanted)


def points(sizes, name):
    """Yield (values of the free variables, entry of the tensor), entries varying fastest."""
    entries = list(itertools.product(*(range(factor_size(f, sizes)) for f in TENSORS[name])))
    for round_, env in enumerate(environments(sizes) * 3):
        yield env, entries[round_ * 5 % len(entries)]


def test_a_maximum_is_never_differentiated():
    algebra = Algebra({"a": None})
    i = algebra.fresh("a")
    row_max = algebra.opaque("max", (), (i,), [algebra.entry("T", (i,))])
    with pytest.raises(Refused, match="not differentiated"):
        algebra.derivative(row_max, "T", (algebra.fresh("a"),))
    assert algebra.derivative(row_max, "V", (algebra.fresh("a"),)) == {}


def test_an_unknown_function_is_never_differentiated():
    algebra = Algebra({"a": None})
    i = algebra.fresh("a")
    call = algebra.opaque("call f", (i,), (i,), [algebra.entry("T", (i,))])
    with pytest.raises(Refused, match="not differentiated"):
        algebra.derivative(call, "T", (algebra.fresh("a"),))
