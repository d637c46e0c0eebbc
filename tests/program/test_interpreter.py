"""The interpreter: every library, dtypes, objects, axis sizes from shapes, and what does not fit."""

from fractions import Fraction

import numpy as np
import pytest

from tests import backends
from tests.compare import assert_close
from vjproof.errors import VjproofError
from vjproof.layers import array, attention, gelu, layer_norm, softmax
from vjproof.program import axis_sizes
from vjproof.program.interpreter import run, run_all
from vjproof.program.recorder import Tape, program_of, record
from vjproof.program.size import Size

SIZES = {"n": 5, "m": 7, "c": 3}


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def every_operation(q, k, v):
    """All kinds of lines but opaque calls: attention, both GELUs, layer norm, and the elementwise functions."""
    xp = array.namespace(q)
    y, _ = attention.forward(q, k, v)
    y = xp.concat([y[..., :1, :], xp.matrix_transpose(xp.matrix_transpose(-y))], axis=-2)
    y, saved = layer_norm.forward(1.0, 0.0, 1e-5, y)
    return y, gelu.forward("erf", y)[0], gelu.forward("tanh", y)[1].slope, array.erf(y), saved.reciprocal


@pytest.fixture(scope="module")
def program():
    return record(every_operation, {"q": ("1+n", "c"), "k": ("m", "c"), "v": ("m", "c")})


INPUTS = {"q": draw(6, 3), "k": draw(7, 3, seed=1), "v": draw(7, 3, seed=2)}


@pytest.mark.parametrize("library", backends.LIBRARIES)
def test_every_library_computes_the_same(program, library):
    wanted = every_operation(*INPUTS.values())
    got = backends.run(library, lambda inputs: run(program, inputs), INPUTS)
    assert max(assert_close(g, w, 1e-13) for g, w in zip(got, wanted, strict=True)) <= 1e-13


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_dtype_is_kept(program, dtype):
    values = run_all(program, {name: value.astype(dtype) for name, value in INPUTS.items()})
    assert {value.dtype.name for value in values.values()} == {dtype}
    assert set(values) == set(program.operations)


def test_opaque_functions_come_from_symbols():
    tape = Tape()
    x, d = tape.input("x", ("B", "n")), tape.input("d", ("B", "m"))
    program = tape.program([tape.call("tail", x, ("m",), 1), tape.call_back("tail", x, d, 1)])
    weight, inputs = draw(5, 7, seed=3), {"x": draw(2, 5), "d": draw(2, 7, seed=1)}
    symbols = {"tail": (lambda v: np.sin(v) @ weight, lambda v, d_y: np.cos(v) * (d_y @ weight.T))}
    y, d_x = run(program, inputs, symbols=symbols)
    assert np.array_equal(y, np.sin(inputs["x"]) @ weight)
    assert np.array_equal(d_x, np.cos(inputs["x"]) * (inputs["d"] @ weight.T))
    with pytest.raises(VjproofError, match="symbol tail: expected a pair"):
        run(program, inputs)
    with pytest.raises(VjproofError, match="symbol tail: expected an array"):
        run(program, inputs, symbols={"tail": (lambda v: v, lambda v, d_y: v)})


def rationals(*shape, seed=0):
    integers = np.random.default_rng(seed).integers(-9, 9, shape)
    return np.vectorize(lambda value: Fraction(int(value), 7), otypes=[object])(integers)


def test_fractions_are_exact():
    def function(x, w):
        xp = array.namespace(x)
        y = xp.matmul(x, w) / x.shape[-1] - 0.1
        return y, xp.max(y, axis=-1), -y / (y * y + 1), xp.mean(y), xp.permute_dims(y, (1, 0))[:1, :]

    program = record(function, {"x": ("n", "c"), "w": ("c", "1+m")})
    x, w = rationals(5, 3), rationals(3, 8, seed=1)
    y, top, quotient, mean, column = run(program, {"x": x, "w": w})
    wanted = (x @ w) / Fraction(3) - Fraction(1, 10)
    assert np.array_equal(y, wanted)
    assert [top[i] == max(row) for i, row in enumerate(wanted)] == [True] * 5
    assert np.array_equal(quotient, -wanted / (wanted * wanted + 1))
    assert mean[()] == sum(wanted.ravel()) / 40
    assert np.array_equal(column, wanted.T[:1])
    assert {type(value) for value in y.ravel()} == {Fraction}


def test_objects_take_functions_and_constants_from_tables():
    mpmath = pytest.importorskip("mpmath")
    program = record(
        lambda x: (softmax.forward(x)[0], gelu.forward("erf", x)[0], x.shape[0] ** -0.5 * x), {"x": ("n",)}
    )
    functions = {
        "exp": mpmath.exp, "erfc": mpmath.erfc, "max": max,
        "power": lambda x, exponent: x ** (mpmath.mpf(exponent.numerator) / exponent.denominator),
    }  # fmt: skip

    def constant(rational, powers):
        total = mpmath.mpf(rational.numerator) / rational.denominator
        for base, exponent in powers.items():
            total *= (mpmath.pi if base == "pi" else mpmath.mpf(base)) ** functions["power"](
                mpmath.mpf(exponent.numerator) / exponent.denominator, Fraction(1)
            )
        return total

    x = draw(5)
    with mpmath.workdps(40):
        inputs = {"x": np.vectorize(mpmath.mpf, otypes=[object])(x)}
        p, y, scaled = run(program, inputs, functions=functions, constant=constant)
        assert abs(sum(p) - 1) < mpmath.mpf(10) ** -38
        exact = [v * mpmath.ncdf(v) for v in inputs["x"]]
        assert max(abs(a - b) for a, b in zip(y, exact, strict=True)) < mpmath.mpf(10) ** -38
        assert abs(scaled[0] * mpmath.sqrt(5) - inputs["x"][0]) < mpmath.mpf(10) ** -38
        with pytest.raises(VjproofError, match="function erfc"):
            run(program, inputs, functions={"exp": mpmath.exp}, constant=constant)
        with pytest.raises(VjproofError, match="irrational constant"):
            run(program, inputs, functions=functions)


def test_balls_enclose_what_floats_approximate():
    flint = pytest.importorskip("flint")
    program = record(lambda x, w: x @ w / x.shape[-1] + 0.1, {"x": ("n", "c"), "w": ("c", "m")})
    x, w = draw(5, 3), draw(3, 7, seed=1)
    boxed = np.vectorize(flint.arb, otypes=[object])
    constant = lambda rational, powers: flint.arb(flint.fmpq(rational.numerator, rational.denominator))  # noqa: E731
    (balls,) = run(program, {"x": boxed(x), "w": boxed(w)}, constant=constant)
    floats = x @ w / 3 + 0.1
    assert all(abs(float(b.mid()) - f) < 1e-14 for b, f in zip(balls.ravel(), floats.ravel(), strict=True))


def sizes_of(axis, size, known=None, extra=None):
    """The value of sum(x) * 0 + (size of atom)s: run with what is known."""
    program = record(lambda x: x.tape.namespace.sum(x) * 0 + Size.of(extra or axis), {"x": (axis,)})
    return float(run(program, {"x": np.ones(size)}, known)[0])


def test_sizes_follow_from_shapes():
    assert sizes_of("n", 6) == 6
    assert sizes_of("1+n", 6, extra="n") == 5
    assert sizes_of("2*n", 6, extra="n") == 3
    assert sizes_of("(1+n)*3", 6, extra="n") == 1
    assert sizes_of("1+h*c", 7, {"h": 2}, extra="c") == 3
    assert sizes_of("n+m", 7, {"m": 3}, extra="n") == 4
    program = record(lambda x, y: x + y[:, :1] * 0, {"x": ("h*c", 1), "y": ("h*c", "1+h")})
    assert run(program, {"x": np.ones((6, 1)), "y": np.ones((6, 3))})[0].shape == (6, 1)


@pytest.mark.parametrize(
    ("axis", "size", "known", "message"),
    [
        ("h*c", 6, None, "size of axis h.*none that does.*sizes="),
        ("n+m", 6, None, "size of axis n"),
        ("2*n", 7, None, "a multiple of 2"),
        ("3+n", 3, None, "a positive int, got 0"),
        ("3+n", 2, None, "a positive int, got -1"),
        ("n", 6, {"n": 5}, "expected size 5, got 6"),
        ("h*c", 6, {"h": 2, "c": 2}, "expected size 4, got 6"),
        ("n", 6, {"n": 6.0}, "a positive int"),
        ("n", 6, {"q": 6}, "size of axis q"),
        ("3", 2, None, "expected size 3, got 2"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(axis, size, known, message):
    with pytest.raises(VjproofError, match=message):
        sizes_of(axis, size, known, extra=None if axis != "h*c" or known else "h")


def test_inputs_that_do_not_fit_are_refused(program):
    for inputs, message in (
        ({"q": INPUTS["q"]}, "inputs: expected"),
        ({**INPUTS, "z": 1.0}, "inputs: expected"),
        ({**INPUTS, "q": draw(2, 6, 3)}, "input q: expected an array"),
        ({**INPUTS, "q": draw(6, 4)}, "axis c: expected size 4, got 3"),
        ({**INPUTS, "q": [1.0]}, "arrays of one library"),
    ):
        with pytest.raises(VjproofError, match=message):
            run(program, inputs)


def test_a_value_that_would_not_fit_into_memory_is_refused(monkeypatch):
    program = record(lambda x: x.tape.namespace.broadcast_to(x, ("n", "n", "n")), {"x": ("n",)})
    assert run(program, {"x": np.ones(3)})[0].shape == (3, 3, 3)
    monkeypatch.setattr(axis_sizes, "LARGEST", 26)
    with pytest.raises(VjproofError, match="at most 26 elements"):
        run(program, {"x": np.ones(3)})


def test_lines_that_recording_never_writes_run_too():
    lines = [
        ["x", "input", [], {"shape": [["n"], ["c"]]}],
        ["y", "input", [], {"shape": [["m"]]}],
        ["outer", "dot", ["x", "y"], {"batch": [[], []], "contract": [[], []]}],
        ["turned", "broadcast", ["x"], {"shape": [["c"], ["m"], ["n"]], "places": [2, 0]}],
        ["both", "dot", ["outer", "turned"], {"batch": [[2], [1]], "contract": [[0, 1], [2, 0]]}],
        ["cube", "power", ["y"], {"exponent": "-3"}],
        ["root", "power", ["cube"], {"exponent": "2/3"}],
        ["same", "sum", ["x"], {"axes": []}],
        ["one", "concat", ["y"], {"axis": 0}],
    ]
    data = {"axes": {"n": None, "c": None, "m": None}, "lines": lines, "outputs": [line[0] for line in lines]}
    x, y = draw(5, 3), 1.5 + draw(7, seed=1) ** 2
    values = run_all(program_of(data), {"x": x, "y": y})
    assert_close(values["outer"], np.multiply.outer(x, y), 1e-15)
    assert_close(values["turned"], np.broadcast_to(x.T[:, None, :], (3, 7, 5)), 1e-15)
    assert_close(values["both"], np.sum(x * x) * y, 1e-14)
    assert_close(values["cube"], y**-3, 1e-14)
    assert_close(values["root"], y**-2, 1e-14)
    assert np.array_equal(values["same"], x)
    assert np.array_equal(values["one"], y)


def test_a_program_of_constants_runs():
    tape = Tape()
    program = tape.program([tape.constant(0.1) * 3])
    assert run(program, {})[0] == 0.1 * 3
