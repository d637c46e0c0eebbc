"""Places that are known: slices, gather and scatter by the rules of StableHLO."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.stablehlo.lowered import arrays, gap, lowered, pair_of, reverse_of
from vjproof.errors import VjproofError
from vjproof.stablehlo.read import read_stablehlo

ROWS, COLUMNS = np.array([3, 0, 2]), np.array([1, 4])
FUNCTIONS = {
    "rows": lambda x: x[ROWS],
    "rows and columns": lambda x: x[ROWS][:, COLUMNS],
    "a grid": lambda x: x[np.ix_(ROWS, COLUMNS)],
    "a repeated row": lambda x: x[np.array([1, 1, 2])],
    "take with clamped places": lambda x: jnp.take(x, np.array([2, 9]), axis=0, mode="clip"),
    "one entry": lambda x: x[2, 3],
    "dynamic slice, moved inside": lambda x: jax.lax.dynamic_slice(x, (3, 4), (2, 3)),
    "dynamic update": lambda x: jax.lax.dynamic_update_slice(x, x[:2, :2] * 2, (1, 3)),
    "rows replaced": lambda x: x.at[ROWS].set(1.5),
    "rows added": lambda x: x.at[ROWS].add(x[:3] * x[1:4]),
    "columns added": lambda x: x.at[:, COLUMNS].add(2.0),
    "one entry added": lambda x: x.at[1, 2].add(x[0, 0]),
    "gather by batch": lambda x: jax.vmap(lambda row, at: row[at])(x, np.array([0, 0, 0, 0, 0])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_known_places_run_to_the_numbers_of_jax(name):
    function = FUNCTIONS[name]
    arguments = arrays((5, 6))
    assert gap(read_stablehlo(lowered(function, *arguments)), function, *arguments) < 1e-12


@pytest.mark.parametrize("name", ["rows", "a grid", "columns added", "dynamic update", "one entry"])
def test_the_reverse_of_known_places_runs_to_the_numbers_of_jax(name):
    function = FUNCTIONS[name]
    arguments = tuple(arrays((5, 6)))
    _, gradient, d_y = pair_of(function, arguments, 0)
    assert gap(gradient, reverse_of(function, 0), *arguments, d_y) < 1e-12


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, at: x[at[0].astype(int)], "depends? on inputs|depend on inputs"),
        (lambda x, at: x[np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4])], "no product of places"),
        (lambda x, at: x.at[np.array([1, 1])].add(2.0), "meet twice"),
    ],
)
def test_other_places_are_refused_by_name_and_line(function, words):
    with pytest.raises(VjproofError, match=words) as caught:
        read_stablehlo(lowered(function, *arrays((5, 6), (2,))))
    assert caught.value.where.startswith("stablehlo.")
    assert " at line " in caught.value.where


def test_a_wrong_start_changes_the_numbers():
    (x,) = arrays((5, 6))
    text = lowered(lambda x: jnp.tanh(x[:, 1:4]), x)
    wrong = text.replace("1:4]", "2:5]")
    assert wrong != text
    assert gap(read_stablehlo(wrong), lambda x: jnp.tanh(x[:, 1:4]), x) > 1e-3
