"""The normal form against brute force: every operation keeps the value, at distinct, equal and unit sizes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernel.trees import FREE, SIZES, UNION, Terms, Values, environments, evaluator, numbers, trees
from vjproof.kernel.program import Refused
from vjproof.kernel.terms import ONE, Algebra, embed

TOLERANCE = 1e-9
LARGEST = 1e5
sizes_drawn = st.sampled_from(SIZES)


def near(brute, term, env, wanted):
    """Say whether a term has a value, up to the rounding of its largest summand; skip what float64 cannot hold."""
    with np.errstate(all="ignore"):
        got, scale = brute.value(term, env), brute.scale(term, env)
    assume(np.isfinite(wanted) and np.isfinite(got) and scale < LARGEST)
    return bool(abs(got - wanted) <= TOLERANCE * (1 + scale + abs(wanted)))


def bind(terms, env):
    """Return values of the algebra's variables."""
    return {terms.variables[n].name: at for n, at in env.items()}


def made(terms, *expressions):
    """Return the terms of expressions; skip what the kernel refuses as too much work, or as undefined."""
    try:
        return [terms.term(expression) for expression in expressions]
    except Refused:
        assume(False)


def compare(drawn, sizes, operate, expected):
    """Compare operate(terms, term) with expected(values, env) wherever the free variables may be."""
    expression, factors = drawn
    terms = Terms(factors)
    (term,) = made(terms, expression)
    try:
        result = operate(terms, term)
    except Refused:
        assume(False)
    tensors = numbers(sizes)
    values, brute = Values(factors, sizes, tensors), evaluator(sizes, tensors)
    for env in environments(sizes):
        with np.errstate(all="ignore"):
            wanted = expected(values, env)
        assert near(brute, result, bind(terms, env), wanted)


@settings(max_examples=400, deadline=None)
@given(trees(), sizes_drawn)
def test_a_term_has_the_value_of_its_expression(drawn, sizes):
    compare(drawn, sizes, lambda _, term: term, lambda values, env: values.value(drawn[0], env))


@settings(max_examples=150, deadline=None)
@given(trees(depth=2), sizes_drawn, st.sampled_from([2, 3]))
def test_whole_powers(drawn, sizes, exponent):
    compare(
        drawn, sizes, lambda terms, term: terms.algebra.power(term, Fraction(exponent)),
        lambda values, env: values.value(drawn[0], env) ** exponent,
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(trees(), sizes_drawn)
def test_renaming_one_free_variable_to_another(drawn, sizes):
    """Variables 0 and 1 range over the same axis; the entry at (i, i) is the renamed term's."""
    compare(
        drawn, sizes, lambda terms, term: terms.algebra.rename(term, {terms.variables[0].name: terms.variables[1]}),
        lambda values, env: values.value(drawn[0], {**env, 0: env[1]}),
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(trees(), sizes_drawn)
def test_renaming_a_union_variable_to_a_part(drawn, sizes):
    def into_part(terms, term):
        inner = (terms.variables[0],)
        return terms.algebra.rename(term, {terms.variables[4].name: embed(UNION, 0, 1, inner)})

    compare(drawn, sizes, into_part, lambda values, env: values.value(drawn[0], {**env, 4: env[0]}))


@settings(max_examples=200, deadline=None)
@given(trees(depth=2), sizes_drawn)
def test_sums_over_a_free_variable(drawn, sizes):
    """Also where the term does not depend on the variable: the sum is then a multiple by the size."""
    compare(
        drawn, sizes, lambda terms, term: terms.algebra.sum([terms.variables[0], terms.variables[4]], term),
        lambda values, env: sum(
            values.value(drawn[0], {**env, 0: i, 4: k}) for i in range(sizes["a"]) for k in range(sizes["a"] + 1)
        ),
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.data(), sizes_drawn)
def test_products_and_differences_of_two_terms(data, sizes):
    (left, factors), (right, more) = data.draw(trees(depth=2)), data.draw(trees(depth=2))
    terms = Terms(factors)
    other = Terms(more)
    other.algebra, other.variables[: len(FREE)] = terms.algebra, terms.variables[: len(FREE)]
    other.variables[len(FREE) :] = [terms.algebra.fresh(factor) for factor in more[len(FREE) :]]
    (p,), (q,) = made(terms, left), made(other, right)
    tensors = numbers(sizes)
    brute = evaluator(sizes, tensors)
    product = terms.algebra.multiply(p, q)
    difference = terms.algebra.add(p, terms.algebra.scale(q, -1))
    for env in environments(sizes):
        with np.errstate(all="ignore"):
            x = Values(factors, sizes, tensors).value(left, env)
            y = Values(more, sizes, tensors).value(right, env)
            wanted = x * y, x - y
        assert near(brute, product, bind(terms, env), wanted[0])
        assert near(brute, difference, bind(terms, env), wanted[1])


@settings(max_examples=150, deadline=None)
@given(trees(depth=2))
def test_equal_terms_have_equal_values_and_unequal_values_have_unequal_terms(drawn):
    """The red control: a term plus a small constant is another term."""
    terms = Terms(drawn[1])
    (term,) = made(terms, drawn[0])
    assert term == made(terms, drawn[0])[0]
    assert term != terms.algebra.add(term, {ONE: Fraction(1, 10**9)})


def test_an_index_missing_from_a_monomial_counts_its_axis():
    algebra = Algebra({"a": None, "b": 3})
    i, j = algebra.fresh("a"), algebra.fresh("b")
    assert algebra.sum([i], {ONE: Fraction(2)}) == algebra.scale(algebra.size(("a",)), 2)
    assert algebra.sum([j], algebra.entry("S", ())) == algebra.scale(algebra.entry("S", ()), 3)


def test_axes_of_equal_size_are_not_the_same_axis():
    """Tr(X) is a sum over one variable; over two axes of equal size there is no trace."""
    algebra = Algebra({"a": 2, "b": 2})
    i, j = algebra.fresh("a"), algebra.fresh("b")
    assert algebra.sum([i], algebra.entry("T", (i,))) != algebra.sum([j], algebra.entry("T", (j,)))


@pytest.mark.parametrize("exponent", ["-1", "-1/2", "-2"])
def test_nothing_is_divided_by_zero(exponent):
    with pytest.raises(Refused, match="division by zero"):
        Algebra({}).power({}, Fraction(exponent))


def test_an_even_root_of_a_square_is_not_the_number():
    algebra = Algebra({})
    x = algebra.entry("x", ())
    assert algebra.power(algebra.multiply(x, x), Fraction(1, 2)) != x
    assert np.sqrt((-2.0) ** 2) != -2.0


def test_roots_of_negative_multiples_are_refused():
    algebra = Algebra({})
    with pytest.raises(Refused, match="negative"):
        algebra.power(algebra.scale(algebra.entry("x", ()), -1), Fraction(1, 2))
