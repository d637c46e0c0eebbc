"""Which arguments and results belong together, and what is told where they do not fit."""

import jax
import jax.numpy as jnp
import pytest

from vjproof import VjproofError, validate

X = jax.ShapeDtypeStruct((3, 4), jnp.float32)
W = jax.ShapeDtypeStruct((4, 5), jnp.float32)


def text(function, *arguments, debug=True, **options):
    return jax.jit(function, **options).lower(*arguments).as_text(debug_info=debug)


def scaled(i):
    return i * 1.0


INTEGERS = jax.ShapeDtypeStruct((3,), jnp.int32)


def product(x, w):
    return x @ w


D_Y = jax.ShapeDtypeStruct((3, 5), jnp.float32)
FORWARD = text(product, X, W, keep_unused=True)
BOTH = text(lambda x, w, d_y: (d_y @ w.T, x.T @ d_y), X, W, D_Y, keep_unused=True)
D_W = text(lambda x, w, d_y: x.T @ d_y, X, W, D_Y, keep_unused=True)


@pytest.mark.parametrize("wrt", ["all", [0, 1], ["x", "w"], ["0", 1], (0, "w")])
def test_modules_with_respect_to_both(wrt):
    assert validate(FORWARD, BOTH, wrt=wrt)


@pytest.mark.parametrize("wrt", [1, "w", ["w"], "1"])
def test_modules_with_respect_to_one(wrt):
    assert validate(FORWARD, D_W, wrt=wrt)


def test_the_order_of_gradients_counts():
    square = jax.ShapeDtypeStruct((4, 4), jnp.float32)
    forward = text(product, square, square, keep_unused=True)
    both = text(lambda x, w, d_y: (d_y @ w.T, x.T @ d_y), square, square, square, keep_unused=True)
    assert validate(forward, both, wrt=[0, 1])
    assert validate(forward, both, wrt=[1, 0]).status == "refuted"


def test_a_cotangent_that_comes_first_is_found_by_its_label_or_named():
    first = text(lambda d_y, x, w: x.T @ d_y, D_Y, X, W, keep_unused=True)
    assert validate(FORWARD, first, wrt="w")
    assert validate(FORWARD, first, wrt="w", cotangent="d_y")
    plain = text(product, X, W, debug=False, keep_unused=True)
    assert validate(plain, text(lambda d, x, w: x.T @ d, D_Y, X, W, debug=False, keep_unused=True), wrt=1, cotangent=0)


def test_arguments_that_the_gradient_leaves_out_are_found_by_label():
    assert validate(FORWARD, text(lambda x, w, d_y: x.T @ d_y, X, W, D_Y), wrt="w")


def test_bytes_and_paths(tmp_path):
    (tmp_path / "f.mlir").write_text(FORWARD)
    (tmp_path / "g.mlir").write_text(D_W)
    assert validate(tmp_path / "f.mlir", str(tmp_path / "g.mlir"), wrt=1)
    assert validate(FORWARD.encode(), D_W, wrt=1)


def test_pytrees_and_several_results():
    def forward(params, x):
        return {"y": x * params["scale"], "z": x + params["shift"]}

    def gradient(params, x, d):
        scale = {"scale": jnp.sum(d["y"] * x), "shift": jnp.sum(d["z"])}
        return scale, d["y"] * params["scale"] + d["z"]

    number = jax.ShapeDtypeStruct((), jnp.float32)
    params = {"scale": number, "shift": number}
    answer = validate(forward, gradient, params, X, wrt="all")
    assert answer, str(answer)
    assert any("params.scale" in line for line in answer.statement)
    assert validate(forward, lambda p, x, d: gradient(p, x, d)[1], params, X, wrt=1)
    assert validate(forward, lambda p, x, d: gradient(p, x, d)[0], params, X, wrt=1 - 1)
    swapped = lambda p, x, d: gradient(p, x, {"y": d["z"], "z": d["y"]})  # noqa: E731
    assert validate(forward, swapped, params, X, wrt="all").status == "refuted"


def test_the_numbers_of_arrays_do_not_count():
    assert validate(lambda x: x * x, lambda x, d: 2 * x * d, jnp.zeros(3))


def test_a_function_made_of_a_rule_uses_it():
    """jax.vjp of a function with a wrong rule is the wrong gradient."""
    from tests.foreign.wrong_rules import WRONG

    function, (x,) = WRONG["gelu, no density"]
    forward = lambda x: function(2 * x)  # noqa: E731
    assert validate(forward, lambda x, d: jax.vjp(forward, x)[1](d)[0], x).status == "refuted"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((product, FORWARD), {}, "two functions, or two modules"),
        ((FORWARD, D_W, X), {}, "no args: modules have shapes of their own"),
        ((product, product), {}, "the arguments of f"),
        ((product, product, X, X), {}, "what|f: expected a function that JAX can trace"),
        ((product, lambda x, w, d: x, X, W), {"wrt": 1}, r"gradients of args\[1\]: \(4, 5\), got \(3, 4\)"),
        ((product, lambda x, w, d: x, X, W), {"wrt": 2}, "wrt: expected the place of an argument, 0 to 1"),
        ((product, lambda x, w, d: x, X, W), {"wrt": (0, 0)}, "each once"),
        ((product, lambda x, w, d: x, X, W), {"cotangent": X}, r"shapes of f's result, \(3, 5\)"),
        ((lambda x: x, lambda x, d: d, "text"), {}, "an array, a shape struct or a number|JAX can trace"),
        ((scaled, lambda i, d: d, INTEGERS), {}, "floating-point numbers, got int32"),
        ((FORWARD, D_W), {"wrt": "v"}, "or a name, such as x"),
        ((FORWARD, D_W), {"wrt": 0}, r"output 0 of the gradient module: expected \(3, 4\)"),
        ((FORWARD, BOTH), {"wrt": 0}, "expected 1 results, for x, got 2"),
        ((FORWARD, D_W), {"wrt": 1, "cotangent": [0, 1]}, "1 cotangents"),
        ((FORWARD, "module @m {\n func.func @g() {\n return } }"), {}, "a function main, got g"),
        ((FORWARD, "not\na module"), {}, "gradient module: expected a StableHLO module that parses"),
        ((FORWARD, "no/such/file.mlir"), {}, "a StableHLO module to read, got No such file"),
        ((FORWARD, text(lambda x, d: x, X, D_Y, debug=False, keep_unused=True)), {}, "lower both with"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_in_one_line(arguments, options, message):
    with pytest.raises(VjproofError, match=message) as caught:
        validate(*arguments, **options)
    assert "\n" not in str(caught.value)
