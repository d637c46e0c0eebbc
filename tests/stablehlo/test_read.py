"""Modules that JAX lowers are read, and run to the numbers that JAX computes."""

import jax
import jax.numpy as jnp
import pytest

import vjproof
from tests.stablehlo.corpus import CORPUS, FORWARD_ONLY
from tests.stablehlo.lowered import TOLERANCE, arrays, gap, lowered, pair_of, reverse_of
from vjproof.errors import VjproofError
from vjproof.kernel.program import program_from
from vjproof.program.recorder import program_data


@pytest.mark.parametrize("name", CORPUS)
def test_forward_and_reverse_run_to_the_numbers_of_jax(name):
    function, arguments, wrt = CORPUS[name]
    forward, gradient, d_y = pair_of(function, arguments, wrt)
    assert gap(forward, function, *arguments) < TOLERANCE
    assert gap(gradient, reverse_of(function, wrt), *arguments, d_y) < TOLERANCE
    assert forward.program.atoms == gradient.program.atoms
    for module in (forward, gradient):
        assert program_from(program_data(module.program)).outputs == module.program.outputs


@pytest.mark.parametrize("name", FORWARD_ONLY)
def test_forward_runs_to_the_numbers_of_jax(name):
    function, arguments = FORWARD_ONLY[name]
    module = vjproof.read_stablehlo(lowered(function, *arguments))
    assert gap(module, function, *arguments) < TOLERANCE


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_of_the_library_rounds_its_weights_and_says_so(is_causal):
    def attention(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, is_causal=is_causal)

    arguments = arrays((2, 4, 3, 5), (2, 4, 3, 5), (2, 4, 3, 5))
    module = vjproof.read_stablehlo(lowered(attention, *arguments))
    assert TOLERANCE < gap(module, attention, *arguments) < 1e-5
    assert any("conversion to f32" in line for line in module.declarations()["roundings"])


def test_a_wrong_dimension_number_changes_the_numbers():

    from tests.stablehlo.lowered import arrays

    def function(x, w):
        return jnp.einsum("ab,bc->ac", x, w)

    arguments = arrays((4, 4), (4, 4))
    text = lowered(function, *arguments)
    wrong = text.replace("contracting_dims = [1] x [0]", "contracting_dims = [1] x [1]")
    assert wrong != text
    assert gap(vjproof.read_stablehlo(wrong), function, *arguments) > 1e-3


def test_an_operation_outside_the_subset_is_refused_by_name_and_line():

    from tests.stablehlo.lowered import arrays

    text = lowered(jnp.sin, *arrays((3,)))
    with pytest.raises(VjproofError, match=r"^stablehlo\.sine at line 3: .*subset"):
        vjproof.read_stablehlo(text)
