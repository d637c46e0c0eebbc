"""Axes by dataflow: classes of dimensions, splits that fit together, and those that clash."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stablehlo.lowered import arrays, gap, links_of, lowered, reverse_of
from vjproof.errors import VjproofError
from vjproof.stablehlo.axis_classes import UNIT, AxisClasses, Conflict
from vjproof.stablehlo.read import read_pair, read_stablehlo


def axis_of(classes, one):
    return classes.axis(one, {})


def test_size_alone_makes_no_axis():
    module = read_stablehlo(lowered(lambda x, y: jnp.tanh(x) @ y, *arrays((4, 4), (4, 4))))
    first, second = (module.program.shape(name) for name in module.program.inputs)
    assert first[1] == second[0]
    assert len({first[0], first[1], second[1]}) == 3


def test_an_axis_is_split_where_a_reshape_splits_it():
    classes = AxisClasses()
    whole, heads, width = classes.new(12), classes.new(3), classes.new(4)
    for part, one in zip(classes.split(whole, [3, 4]), (heads, width), strict=True):
        classes.unify(part, one)
    assert axis_of(classes, whole) == (*axis_of(classes, heads), *classes.axis(width, {classes.find(heads): "n3_0"}))
    assert len(axis_of(classes, whole)) == 2


def test_parts_of_rows_are_parts_of_the_leading_factor():
    classes = AxisClasses()
    whole = classes.new(12)
    classes.section(whole, 0, 4)
    classes.split(whole, [3, 4])
    (lead, _) = axis_of(classes, whole)
    assert lead == ((), (classes.axis(classes.parts(classes.factors(whole)[0])[1], {})[0],)) or len(lead) == 2


def test_splits_that_do_not_fit_together_clash():
    classes = AxisClasses()
    whole = classes.new(6)
    classes.split(whole, [2, 3])
    with pytest.raises(Conflict):
        classes.split(whole, [3, 2])
    with pytest.raises(Conflict):
        classes.section(whole, 1, 6)
    with pytest.raises(Conflict):
        classes.unify(whole, classes.new(5))
    assert classes.new(1) == UNIT


CLASHES = {
    "two reshapes": (lambda x: x.reshape(2, 3) @ x.reshape(3, 2), (6,)),
    "a cut within a row": (lambda x: x.reshape(2, 3).sum(0) * x[1:4], (6,)),
    "sum of two splits": (lambda x, y: (x.reshape(6) + y.reshape(6)) ** 2, (2, 3), (3, 2)),
    "concatenation against rows": (
        lambda x, y: jnp.concatenate([x, y]).reshape(2, 3), (2,), (4,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASHES)
def test_a_module_with_a_clash_runs_to_the_numbers_of_jax(name):
    function, *shapes = CLASHES[name]
    arguments = arrays(*shapes)
    module = read_stablehlo(lowered(function, *arguments))
    assert module.captured
    assert gap(module, function, *arguments) < 1e-12


def test_a_clash_between_two_modules_is_told_or_written_as_a_product():
    def function(x):
        return (x.reshape(2, 3) ** 2).sum(1)

    def other(x, d_y):
        return (x.reshape(3, 2) * 2).reshape(6) * np.repeat(np.ones(2), 3) * d_y.sum()

    (x,), (d_y,) = arrays((6,)), arrays((2,))
    texts, links = (lowered(function, x), lowered(other, x, d_y)), links_of(function, (x,), 0)
    with pytest.raises(VjproofError, match="splits of axes that fit together"):
        read_pair(*texts, links)
    forward, gradient = read_pair(*texts, links, relinked=True)
    assert gap(forward, function, x) < 1e-12
    assert gap(gradient, other, x, d_y) < 1e-12
    assert forward.program.shape("arg0") == gradient.program.shape("arg0")


def test_linked_arrays_of_different_sizes_are_told():
    def function(x):
        return x * 2

    (x,) = arrays((6,))
    texts = lowered(function, x), lowered(reverse_of(lambda x: x[:5], 0), x, x[:5])
    with pytest.raises(VjproofError, match="input 1 of the gradient module"):
        read_pair(*texts, links_of(function, (x,), 0))


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_random_movements_run_to_the_numbers_of_jax(data):
    x = np.arange(24.0)
    steps = []
    shape = (24,)
    for _ in range(data.draw(st.integers(1, 5))):
        kind = data.draw(st.sampled_from(["reshape", "transpose", "slice", "pad", "flip", "double"]))
        dim = data.draw(st.integers(0, len(shape) - 1))
        if kind == "reshape":
            size = int(np.prod(shape))
            width = data.draw(st.sampled_from([k for k in range(1, size + 1) if size % k == 0]))
            steps.append(("reshape", (size // width, width)))
        elif kind == "transpose":
            steps.append(("transpose", tuple(data.draw(st.permutations(range(len(shape)))))))
        elif kind == "slice":
            start = data.draw(st.integers(0, shape[dim] - 1))
            step = data.draw(st.integers(1, 3))
            steps.append(("slice", (dim, start, step)))
        else:
            steps.append((kind, dim))
        shape = move(np.zeros(shape), steps[-1:], np).shape
    module = read_stablehlo(lowered(lambda x: move(x, steps, jnp), x))
    assert np.array_equal(module.run(x)[0], move(x, steps, np))


def move(x, steps, xp):
    for kind, how in steps:
        if kind == "reshape":
            x = x.reshape(how)
        elif kind == "transpose":
            x = x.transpose(how)
        elif kind == "slice":
            dim, start, step = how
            x = x[(slice(None),) * dim + (slice(start, None, step),)]
        elif kind == "pad":
            x = xp.pad(x, [(1, 2) if dim == how else (0, 0) for dim in range(x.ndim)])
        elif kind == "flip":
            x = xp.flip(x, how)
        else:
            x = xp.concatenate([x, x], axis=how)
    return x
