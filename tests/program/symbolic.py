"""A network with symbolic sizes, the numbers that go with it, and the comparison of a recording with the function."""

from types import SimpleNamespace

import numpy as np

from tests.compare import assert_close
from tests.nets import draw, make_config
from vjproof.program.interpreter import run
from vjproof.program.recorder import Tape
from vjproof.program.size import Size
from vjproof.program.text import format_program, parse_program
from vjproof.vit.params import named_tensors, shapes, unflatten

# one odd size per atomic axis, all different; those of tests.nets.SHAPES[0] where a whole network runs
SIZES = {"B": 2, "C": 2, "rows": 2, "cols": 3, "P": 3, "h": 2, "c": 3, "M": 7, "K": 5}
TOLERANCE = 1e-12


def count(text, sizes=SIZES):
    """The number that an axis written as text stands for."""
    return eval(str(text), dict(sizes))


def numbers(shape, seed=0, sizes=SIZES):
    """Random numbers of a shape written as texts."""
    return np.random.default_rng(seed).standard_normal([count(axis, sizes) for axis in shape])


def assert_recorded(function, shapes, sizes=SIZES, axes=None, draws=None):
    """Record `function(size, *arrays)`, run the program on numbers and compare with the function on these numbers.

    `size` turns the text of an axis into what a shape holds: a Size while recording, an int on numbers.
    """
    tape = Tape(axes)
    outputs = flat(function(Size.of, *[tape.input(name, shape) for name, shape in shapes.items()]))
    program = tape.program(outputs)
    values = draws or {name: numbers(shape, seed, sizes) for seed, (name, shape) in enumerate(shapes.items())}
    wanted = flat(function(lambda text: count(text, sizes), *values.values()))
    fixed = {name: size for name, size in sizes.items() if name in program.atoms}
    errors = [assert_close(got, want, TOLERANCE) for got, want in zip(run(program, values, fixed), wanted, strict=True)]
    again = parse_program(format_program(program))
    assert format_program(again) == format_program(program)
    return program, max(errors)


def flat(tree):
    """The arrays of nested tuples."""
    return [leaf for branch in tree for leaf in flat(branch)] if isinstance(tree, tuple) else [tree]


def symbolic_config(tape, *, depth=2, gelu="erf", pooling=("cls", 1, 1), layer_scale=False):
    """A stand-in for vit.config.Config whose sizes are symbols and whose eps is an input of the tape."""
    name, readout, prefix = pooling
    axis = Size.of
    patches = axis("rows*cols")
    return SimpleNamespace(
        channels=axis("C"), height=axis("rows*P"), width=axis("cols*P"), patch=axis("P"), hidden=axis("h*c"),
        heads=axis("h"), mlp=axis("M"), depth=depth, classes=axis("K"), eps=tape.input("eps", ()), gelu=gelu,
        prefix=prefix, readout=readout, pooling=name, layer_scale=layer_scale, grid=(axis("rows"), axis("cols")),
        patches=patches, tokens=prefix + patches, image_shape=(axis("C"), axis("rows*P"), axis("cols*P")),
    )  # fmt: skip


def assert_network_recorded(function, extra, **choices):
    """Record `function(config, params, *extra arrays)`; compare its program with the function on numbers."""
    tape = Tape()
    config = symbolic_config(tape, **choices)
    params = unflatten(config, {name: tape.input(name, shape) for name, shape in named_tensors(shapes(config))})
    arrays = [tape.input(name, shape) for name, shape in extra.items()]
    program = tape.program(flat(function(config, params, *arrays)))

    concrete = make_config(**choices)
    weights, _, _ = draw(concrete, 1)
    values = {name: numbers(shape, seed) for seed, (name, shape) in enumerate(extra.items())}
    wanted = flat(function(concrete, weights, *values.values()))
    inputs = {"eps": np.asarray(concrete.eps), **dict(named_tensors(weights)), **values}
    got = run(program, inputs, {name: size for name, size in SIZES.items() if name in program.atoms})
    assert max(assert_close(g, w, TOLERANCE) for g, w in zip(got, wanted, strict=True)) <= TOLERANCE
    text = format_program(program)
    assert format_program(parse_program(text)) == text
    return program
