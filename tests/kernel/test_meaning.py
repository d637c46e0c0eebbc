"""The meaning of each operation: a random program's terms, valued by brute force, against the interpreter."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernel.evaluate import Evaluator, factor_size
from tests.program.test_random import INPUTS, NAMES, next_step
from vjproof.kernel.meaning import Meaning
from vjproof.kernel.program import Refused, factors_of
from vjproof.kernel.terms import Algebra
from vjproof.program.interpreter import run_all
from vjproof.program.recorder import Tape

SIZES = [(1, 2, 2, 3), (2, 1, 2, 2), (3, 2, 1, 2), (2, 2, 2, 2)]


def compare(program, inputs, sizes, symbols=None, functions=None, entries=6):
    """Compare some entries of every output with the interpreter; Refused where a term is too much work."""
    algebra = Algebra(program.atoms, 20_000)
    names = {n: (f"v:{n}", range(len(factors_of(program.shape(n))))) for n in program.inputs}
    meaning = Meaning(algebra, program, names)
    values = run_all(program, inputs, sizes, symbols)

    def flat(name, array):
        return array.reshape([factor_size(f, sizes) for f in factors_of(program.shape(name))])

    brute = Evaluator(sizes, {f"v:{n}": flat(n, inputs[n]) for n in program.inputs}, functions)
    for output in program.outputs:
        indices = meaning.indices(output)
        term = meaning.entry(output, indices)
        wanted = flat(output, values[output])
        places = list(itertools.product(*map(range, wanted.shape)))
        for place in places[:: max(1, len(places) // entries)]:
            env = {i.name: at for i, at in zip(indices, place, strict=True)}
            with np.errstate(all="ignore"):
                got, scale = brute.value(term, env), brute.scale(term, env)
            if not (np.isfinite(got) and np.isfinite(wanted[place]) and scale < 1e5):
                continue  # beyond what float64 tells
            assert abs(got - wanted[place]) <= 1e-9 * (1 + scale + abs(wanted[place])), (output, place)


@settings(max_examples=250)
@given(st.data())
def test_the_terms_of_random_programs_have_the_values_of_the_interpreter(data):
    tape = Tape()
    pool = [tape.input(name, shape) for name, shape in INPUTS.items()]
    sizes = dict(zip(NAMES, data.draw(st.sampled_from(SIZES)), strict=True))
    for _ in range(data.draw(st.integers(1, 5))):
        step = next_step(data.draw, pool)
        recorded = step.apply(tape.namespace, lambda size: size, *(pool[i] for i in step.at))
        if np.prod([eval(repr(size), dict(sizes)) for size in recorded.shape], initial=1) <= 400:
            pool.append(recorded)
    random = np.random.default_rng(data.draw(st.integers(0, 9)))
    inputs = {n: random.uniform(-0.9, 0.9, [eval(repr(s), dict(sizes)) for s in x.shape]) for n, x in
              zip(INPUTS, pool, strict=False)}  # fmt: skip
    program = tape.program(pool[-3:])
    try:
        compare(program, inputs, {a: sizes[a] for a in program.atoms})
    except Refused:
        assume(False)


def test_unknown_functions_act_on_each_example_of_the_leading_axes():
    weight = np.random.default_rng(1).standard_normal((4, 2))

    def f(x):
        return np.tanh(x.reshape(*x.shape[:-2], 4) @ weight)

    def f_back(x, d_y):
        return (((1 - f(x) ** 2) * d_y) @ weight.T).reshape(x.shape)

    tape = Tape({"B": None, "n": None, "m": None, "k": None})
    x, d_y = tape.input("x", ("B", "n", "m")), tape.input("d_y", ("B", "k"))
    program = tape.program([tape.call("f", x + x, ("k",), 1), tape.call_back("f", x * x, d_y, 1)])
    random = np.random.default_rng(2)
    inputs = {"x": random.standard_normal((3, 2, 2)), "d_y": random.standard_normal((3, 2))}
    functions = {
        "call f": lambda arrays, at: f(arrays[0])[at],
        "call_back f": lambda arrays, at: f_back(arrays[0][:, :, 0], arrays[1][0, 0])[at],
    }
    compare(program, inputs, {"B": 3, "n": 2, "m": 2, "k": 2}, {"f": (f, f_back)}, functions, entries=12)
    functions["call f"] = lambda arrays, at: f(arrays[0].T)[at]
    with pytest.raises(AssertionError):
        compare(program, inputs, {"B": 3, "n": 2, "m": 2, "k": 2}, {"f": (f, f_back)}, functions, entries=12)
