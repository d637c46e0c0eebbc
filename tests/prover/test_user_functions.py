"""Anybody's functions: right reverses are proved, wrong ones refuted, conditions named, misuse told in one line."""

import numpy as np
import pytest
from array_api_compat import array_namespace

import vjproof
from vjproof import prove_equal, prove_vjp
from vjproof.errors import VjproofError
from vjproof.kernel.certificate import check

ROWS = {"x": ("B", "n")}


def over_row(name, x):
    return getattr(array_namespace(x), name)(x, axis=-1, keepdims=True)


def softmax(x):
    e = array_namespace(x).exp(x - over_row("max", x))
    return e / over_row("sum", e)


def softmax_back(d_p, x):
    p = softmax(x)
    return p * (d_p - over_row("sum", p * d_p))


def unit(x):
    return x * over_row("sum", x**2) ** -0.5


def unit_back(d_y, x):
    s = over_row("sum", x**2)
    return d_y * s**-0.5 - x * over_row("sum", x * d_y) * s**-1.5


def two(x, y):
    return x * y, array_namespace(x).sum(y)


def two_back(d, x, y):
    return d[0] * y, d[0] * x + d[1]


def variance(x):
    return over_row("mean", (x - over_row("mean", x)) ** 2)


def variance_back(d_y, x):
    """The slope of the square is centred already; centring it again, as autodiff does, changes nothing."""
    d_c = 2 * (x - over_row("mean", x)) * d_y / x.shape[-1]
    return d_c - over_row("mean", d_c)


WRONG = {
    "sign": lambda d, x: -softmax_back(d, x),
    "dropped term": lambda d, x: softmax(x) * d,
    "parenthesis": lambda d, x: softmax(x) * d - over_row("sum", softmax(x) * d),
    "mean for sum": lambda d, x: softmax(x) * (d - over_row("mean", softmax(x) * d)),
    "scale": lambda d, x: softmax_back(d, x) * 1.000001,
    "nothing": lambda d, x: 0 * d,
    "at another point": lambda d, x: softmax_back(d, x + x),
}


def test_a_value_on_the_way_that_equals_the_gradient_hides_nothing():
    assert prove_vjp(variance, variance_back, ROWS)
    assert prove_vjp(variance, lambda d, x: variance_back(d, x) * 2, ROWS).status == "refuted"


def test_a_right_reverse_is_proved_with_a_certificate_that_checks():
    result = prove_vjp(softmax, softmax_back, ROWS)
    assert result
    assert tuple(check(result.certificate)) == result.statement
    assert str(result).startswith("proved:\n  for all sizes >= 1 of B, n; for all real x and the cotangents\n")
    assert "where" not in str(result)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_reverse_is_refuted_with_an_input_that_shows_it(name):
    result = prove_vjp(softmax, WRONG[name], ROWS)
    assert result.status == "refuted"
    assert result.certificate is None
    found = result.counterexample
    assert found.confirmed
    x, d_y = found.inputs["x"], found.inputs["d_y"]
    assert abs(softmax_back(d_y, x) - WRONG[name](d_y, x))[found.entry] > 1e-9
    for part in ("refuted:", "d_x[", "the true value is", "B = ", "where x = [[", "where d_y = [["):
        assert part in str(result)


def test_a_condition_names_what_it_is_about():
    result = prove_vjp(unit, unit_back, ROWS)
    assert result
    assert "where sum(x^2 over n) > 0 in every entry" in str(result)
    assert str(result).count("sum(x^2 over n) > 0") == 1


@pytest.mark.parametrize("reverse", [lambda d, x: x * d / x, lambda d, x: d + 0 * d / x, lambda d, x: d * x**2 * x**-2])
def test_a_cancelled_division_stays_in_the_statement(reverse):
    result = prove_vjp(lambda x: x, reverse, {"x": ("n",)})
    assert result
    assert "where x != 0 in every entry" in str(result)


def test_a_root_of_a_square_is_no_identity():
    assert prove_equal(lambda x: (x**2) ** 0.5, lambda x: x, {"x": ("n",)}).status == "refuted"
    positive = prove_equal(lambda x: (x**2) ** 0.5, lambda x: x, {"x": ("n",)}, positive=["x"])
    assert positive.status != "refuted"
    assert "where x > 0" in str(positive) or not positive


def test_several_inputs_and_outputs():
    shapes = {"x": ("n",), "y": ("n",)}
    result = prove_vjp(two, two_back, shapes, wrt=("x", "y"))
    assert result
    assert "d y[i]" in str(result)
    crossed = prove_vjp(two, lambda d, x, y: two_back(d, x, y)[::-1], shapes, wrt=("x", "y"))
    assert crossed.status == "refuted"
    assert prove_vjp(two, lambda d, x, y: two_back(d, x, y)[1], shapes, wrt="y")


def test_a_literal_is_told_as_it_is_read():
    result = prove_equal(lambda x: x * 0.1, lambda x: x / 10, {"x": ("n",)})
    assert result
    assert "The literal 0.1 is read as 1/10." in str(result)
    assert prove_equal(lambda x: x * 0.1000001, lambda x: x / 10, {"x": ("n",)}).status == "refuted"


def test_a_fixed_size_is_a_number():
    average = lambda x: array_namespace(x).mean(x)  # noqa: E731
    sum_of_four = lambda x: array_namespace(x).sum(x) / 4  # noqa: E731
    assert prove_equal(average, sum_of_four, {"x": ("n",)}, axes={"n": 4})
    assert prove_equal(average, sum_of_four, {"x": ("n",)}).status == "refuted"


def test_what_is_not_proved_says_what_resisted():
    def root(x):
        e = array_namespace(x).exp(x)
        return (e * e + 2 * e + 1) ** 0.5

    result = prove_equal(root, lambda x: 1 + array_namespace(x).exp(x), {"x": ("n",)})
    assert result.status == "not proved"
    assert not result
    assert result.certificate is None
    assert "1 + exp(x), in the second program" in str(result)
    assert "is not shown to be" in str(result)


def test_an_axis_that_no_input_has_is_declared():
    repeated = lambda x: array_namespace(x).sum(array_namespace(x).broadcast_to(x, ("k", "n")), axis=0)  # noqa: E731
    assert prove_equal(repeated, lambda x: x * 3, {"x": ("n",)}, axes={"k": 3})
    with pytest.raises(VjproofError, match="neither a declared axis"):
        prove_equal(repeated, repeated, {"x": ("n",)})


def test_the_functions_run_on_numbers_too():
    x = np.random.default_rng(0).standard_normal((3, 4))
    d = np.ones((3, 4))
    np.testing.assert_allclose(unit_back(d, x), unit_jacobian_times(x, d), rtol=1e-6, atol=1e-9)


def unit_jacobian_times(x, d):
    step = 1e-20j
    columns = [[(unit_complex(x[b] + step * np.eye(4)[i]).imag / 1e-20) @ d[b] for i in range(4)] for b in range(3)]
    return np.array(columns)


def unit_complex(x):
    return x / (x * x).sum() ** 0.5


MISUSE = {
    "no input": (lambda: prove_vjp(softmax, softmax_back, {}), "shapes: expected the axes of each input"),
    "a list of shapes": (
        lambda: prove_equal(softmax, softmax, [("B", "n")]),
        "shapes: expected the axes of each input",
    ),
    "unknown wrt": (lambda: prove_vjp(softmax, softmax_back, ROWS, wrt="z"), "wrt: expected names among x.*got 'z'"),
    "wrt twice": (lambda: prove_vjp(softmax, softmax_back, ROWS, wrt=("x", "x")), "each once"),
    "empty wrt": (lambda: prove_vjp(softmax, softmax_back, ROWS, wrt=()), "wrt: expected one or more of x"),
    "unknown hypothesis": (lambda: prove_vjp(softmax, softmax_back, ROWS, positive=["eps"]), "positive: .*got 'eps'"),
    "taken cotangent": (
        lambda: prove_vjp(softmax, softmax_back, ROWS, cotangent="x"),
        "input 'x': expected a name that",
    ),
    "gradient of another shape": (
        lambda: prove_vjp(softmax, lambda d, x: over_row("sum", d), ROWS),
        r"reverse, gradient of x: expected shape \[B,n\], got \[B,1\]",
    ),
    "too many gradients": (lambda: prove_vjp(softmax, lambda d, x: (d, d), ROWS), "a gradient for each of x, got 2"),
    "a number": (
        lambda: prove_vjp(softmax, lambda d, x: 0.0, ROWS),
        "reverse: expected an array that it computed.*0.0",
    ),
    "nothing": (lambda: prove_vjp(lambda x: None, softmax_back, ROWS), "forward: expected an array.*None"),
    "a branch": (lambda: prove_vjp(lambda x: x if x > 0 else -x, softmax_back, ROWS), "a comparison of arrays is not"),
    "other counts": (lambda: prove_equal(lambda x: x, lambda x: (x, x), ROWS), "right: expected 1 arrays"),
    "other shapes": (lambda: prove_equal(lambda x: x, lambda x: over_row("sum", x), ROWS), "right, output 0: expected"),
    "a malformed axis": (lambda: prove_equal(softmax, softmax, {"x": ("B", "n-")}), "axis"),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_one_line(name):
    call, message = MISUSE[name]
    with pytest.raises(VjproofError, match=message) as found:
        call()
    assert "\n" not in str(found.value)


def test_the_names_are_public():
    assert {"prove", "prove_vjp", "prove_equal"} <= set(vjproof.__all__)
