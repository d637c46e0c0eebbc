"""Operations by themselves: numbers of the module read against numbers computed otherwise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import export

import vjproof
from tests.stablehlo.lowered import arrays, gap, lowered
from vjproof.errors import VjproofError
from vjproof.stablehlo.read import read_stablehlo
from vjproof.stablehlo.subset import SUBSET

CONVOLUTIONS = {
    "one dimension": ((2, 3, 8), (5, 3, 4), (4,), "VALID", None, None),
    "window 1": ((2, 3, 4, 5), (6, 3, 1, 1), (1, 1), "VALID", None, None),
    "whole image": ((2, 3, 4, 5), (6, 3, 4, 5), (1, 1), "VALID", None, None),
    "spread": ((2, 3, 2, 3), (5, 3, 4, 2), (1, 1), ((3, 3), (1, 1)), (4, 2), None),
    "places": ((2, 3, 8, 6), (5, 3, 4, 2), (1, 1), "VALID", None, (2, 3)),
    "mixed": ((2, 3, 2, 6), (5, 3, 4, 2), (1, 2), ((3, 3), (0, 0)), (4, 1), None),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_whose_windows_tile_are_products(name):
    left, right, strides, padding, spread, places = CONVOLUTIONS[name]

    def function(x, w):
        return jax.lax.conv_general_dilated(x, w, strides, padding, lhs_dilation=spread, rhs_dilation=places)

    arguments = arrays(left, right)
    assert gap(read_stablehlo(lowered(function, *arguments)), function, *arguments) < 1e-12


def test_convolutions_whose_windows_overlap_are_refused():
    def function(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")

    with pytest.raises(VjproofError, match=r"stablehlo\.convolution at line 3: .*overlap"):
        read_stablehlo(lowered(function, *arrays((1, 2, 4, 4), (2, 2, 3, 3))))


@pytest.mark.parametrize("name", ["sum", "max", "min", "prod", "mean", "var"])
@pytest.mark.parametrize("axis", [0, 2, (0, 1), None])
def test_reductions(name, axis):
    def function(x):
        return getattr(jnp, name)(x, axis=axis)

    arguments = arrays((2, 3, 4))
    assert gap(read_stablehlo(lowered(function, *arguments)), function, *arguments) < 1e-12


def test_a_start_value_that_is_not_neutral_is_refused():
    text = lowered(lambda x: x.sum(), *arrays((3,)))
    wrong = text.replace("0.000000e+00", "1.000000e+00")
    assert wrong != text
    with pytest.raises(VjproofError, match="does not start from 0"):
        read_stablehlo(wrong)


@pytest.mark.parametrize("batch", [((), ()), ((0,), (0,)), ((1,), (2,))])
@pytest.mark.parametrize("contract", [((), ()), ((2,), (1,)), ((2, 3), (1, 3))])
def test_every_form_of_a_dot(batch, contract):
    x, y = arrays((4, 4, 3, 2), (4, 3, 4, 2))

    def function(x, y):
        return jax.lax.dot_general(x, y, (contract, batch))

    assert gap(read_stablehlo(lowered(function, x, y)), function, x, y) < 1e-12


def test_control_flow_with_known_numbers_unfolds():
    def function(x):
        def body(carry):
            k, y = carry
            return k + 1, jax.lax.switch(jnp.mod(k, 3), [jnp.tanh, jnp.negative, jnp.exp], y) * 0.5

        return jax.lax.while_loop(lambda carry: carry[0] < 5, body, (0, x))[1]

    arguments = arrays((3,))
    assert gap(read_stablehlo(lowered(function, *arguments)), function, *arguments) < 1e-12


def test_control_flow_by_inputs_is_refused():
    def loop(x):
        return jax.lax.while_loop(lambda y: y.sum() < 10, lambda y: y * 2, x)

    def branch(x):
        return jax.lax.cond(x.sum() > 0, jnp.tanh, jnp.exp, x)

    for function, words in ((loop, "loop whose length"), (branch, "branch that depends|depends on inputs")):
        with pytest.raises(VjproofError, match=words):
            read_stablehlo(lowered(function, *arrays((3,))))


def test_constant_arrays_are_inputs_named_after_their_content():
    table = arrays((4, 5), seed=3)[0]
    module = read_stablehlo(lowered(lambda x: x @ table + table[0], *arrays((2, 4))))
    assert len(module.captured) == 2
    assert all(name.startswith("constant.") for name in module.captured)
    again = read_stablehlo(lowered(lambda x: jnp.tanh(x @ table), *arrays((2, 4))))
    assert set(again.captured) < set(module.captured)
    assert gap(module, lambda x: x @ table + table[0], *arrays((2, 4))) < 1e-12


def test_masks_of_few_numbers_are_part_of_the_program():
    module = read_stablehlo(lowered(lambda x: jnp.where(np.tri(4, dtype=bool), x, 0.0), *arrays((4, 4))))
    assert not module.captured


def test_text_bytecode_and_artifact_are_one_module():
    shape = jax.ShapeDtypeStruct((2, 3), jnp.float32)
    exported = export.export(jax.jit(lambda x: jax.nn.softmax(x * 0.5)))(shape)
    text, artifact = read_stablehlo(exported.mlir_module()), read_stablehlo(exported.mlir_module_serialized)
    assert text.program.operations == artifact.program.operations
    assert text.sha256 != artifact.sha256


def test_places_name_the_source_line_where_the_module_tells_it():
    shape = jax.ShapeDtypeStruct((3,), jnp.float32)
    module = read_stablehlo(export.export(jax.jit(jnp.tanh))(shape).mlir_module())
    assert any(place.endswith(".py:" + place.rpartition(":")[2]) for place in module.places.values() if place)
    plain = read_stablehlo(lowered(jnp.tanh, *arrays((3,))))
    assert "line 3" in plain.places.values()


def test_conversions_are_the_identity_and_declared():
    def function(x):
        return (x.astype(jnp.bfloat16) * jnp.bfloat16(0.5)).astype(jnp.float64)

    module = read_stablehlo(lowered(function, *arrays((3,))))
    assert module.run(np.array([1.0, 2.0, 3.0]))[0].tolist() == [0.5, 1.0, 1.5]
    assert len(module.declarations()["roundings"]) == 2


def test_a_condition_is_declared_where_a_choice_was_settled():
    def standardize(x):
        return jax.nn.standardize(x, axis=-1, epsilon=1e-6)

    def reverse(x, d_y):
        return jax.vjp(standardize, x)[1](d_y)[0]

    module = read_stablehlo(lowered(reverse, *arrays((3, 5), (3, 5))))
    (condition,) = module.conditions
    assert str(condition).startswith("0 and the sub of line")
    assert not read_stablehlo(lowered(standardize, *arrays((3, 5)))).conditions


def test_choices_that_cannot_be_settled_are_refused():
    for function in (lambda x: jnp.where(x > 0, x, 0.1 * x), lambda x: jnp.where(x == x.max(), x, 0.0)):
        with pytest.raises(VjproofError, match="a choice that depends on inputs"):
            read_stablehlo(lowered(function, *arrays((3,))))


def test_arguments_that_do_not_fit_are_told():
    module = vjproof.read_stablehlo(lowered(jnp.tanh, *arrays((3,))))
    with pytest.raises(VjproofError, match="one for each argument"):
        module.run()
    with pytest.raises(VjproofError, match="an array"):
        module.run(np.zeros(4))
    with pytest.raises(VjproofError, match="a function 'other'"):
        vjproof.read_stablehlo(lowered(jnp.tanh, *arrays((3,))), "other")


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_padding_of_every_kind(data):
    edges = [
        (data.draw(st.integers(-2, 4)), data.draw(st.integers(-2, 4)), data.draw(st.integers(0, 3))) for _ in range(2)
    ]
    shape = (3, 5)
    sizes = [n + low + high + between * (n - 1) for n, (low, high, between) in zip(shape, edges, strict=True)]
    if min(sizes) < 1:
        return
    (x,) = arrays(shape)

    def function(x):
        return jax.lax.pad(x, jnp.asarray(0.25, x.dtype), edges)

    assert gap(read_stablehlo(lowered(function, x)), function, x) < 1e-12


def test_whole_numbers_keep_their_type():
    text = """module { func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
      %big = stablehlo.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
      %one = stablehlo.constant dense<1> : tensor<2xui64>
      %t = stablehlo.compare GT, %big, %one : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
      %z = stablehlo.constant dense<0.0> : tensor<2xf64>
      %a = stablehlo.constant dense<[100, -100]> : tensor<2xi8>
      %b = stablehlo.add %a, %a : tensor<2xi8>
      %c = stablehlo.convert %b : (tensor<2xi8>) -> tensor<2xf64>
      %q = stablehlo.constant dense<[-7, 7]> : tensor<2xi32>
      %r = stablehlo.constant dense<[2, -2]> : tensor<2xi32>
      %d = stablehlo.divide %q, %r : tensor<2xi32>
      %m = stablehlo.remainder %q, %r : tensor<2xi32>
      %s = stablehlo.add %d, %m : tensor<2xi32>
      %f = stablehlo.convert %s : (tensor<2xi32>) -> tensor<2xf64>
      %y = stablehlo.select %t, %x, %z : tensor<2xi1>, tensor<2xf64>
      %u = stablehlo.add %y, %c : tensor<2xf64>
      %v = stablehlo.add %u, %f : tensor<2xf64>
      return %v : tensor<2xf64> } }"""
    # 200 and -200 wrap to -56 and 56 in 8 bits; quotients round towards zero, remainders have the dividend's sign
    assert read_stablehlo(text).run([1.0, 2.0])[0].tolist() == [1 - 56 - 3 - 1, 0 + 56 - 3 + 1]


def test_every_entry_of_the_table_has_words():
    assert len(SUBSET) >= 40
    assert all(entry.words for entry in SUBSET.values())
