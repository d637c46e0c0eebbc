"""Random programs: whatever moves an axis about, two processes find what one finds."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.program.test_random import begin, next_step
from vjproof.enclosure import partner
from vjproof.enclosure.evaluate import evaluate
from vjproof.enclosure.halves import Cut, bounds, sliced

# a run starts a process, so that making an example smaller would take minutes
QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "phases": [Phase.generate]}


def check_random_program(data, swaps):
    tape, pool, _sizes, count, numbers = begin(data)
    inputs = {x.name: number for x, number in zip(pool, numbers, strict=True)}
    # products come first, since they are what starts a cut
    pool.append(tape.namespace.matmul(pool[1], tape.namespace.matrix_transpose(pool[1])) @ pool[0])
    pool.append(pool[3] * (tape.namespace.matmul(tape.namespace.matrix_transpose(pool[1]), pool[0])))
    for _ in range(data.draw(st.integers(3, 10))):
        step = next_step(data.draw, pool)
        recorded = step.apply(tape.namespace, lambda size: size, *(pool[i] for i in step.at))
        if np.prod([count(size) for size in recorded.shape], initial=1) <= 3_000 and recorded.ndim <= 6:
            pool.append(recorded)
    program = tape.program(pool[6:])
    given_inputs = {name: inputs[name] for name in program.inputs}
    one = evaluate(program, given_inputs, 200)
    swap = partner.Link.swap
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partner.Link, "swap", lambda self, values: swaps.append(1) or swap(self, values))
        two = evaluate(program, given_inputs, 200, processes=2, worth=1)
    for a, b in zip(one, two, strict=True):
        assert a.shape == b.shape
        assert all(x.overlaps(y) for x, y in zip(a.flat, b.flat, strict=True))
        wide = [max((float(ball.rad()) for ball in part.flat), default=0.0) for part in (a, b)]
        assert wide[1] <= 64 * wide[0] + 1e-40


def test_random_programs():
    swaps = []
    settings(max_examples=25, **QUIET)(given(st.data())(lambda data: check_random_program(data, swaps)))()
    assert len(swaps) > 25


@pytest.mark.slow
def test_many_random_programs():
    settings(max_examples=500, **QUIET)(given(st.data())(lambda data: check_random_program(data, [])))()


def test_both_parts_of_an_axis_are_all_of_it():
    cut = Cut(1, 3)
    assert [bounds(cut, 7, second) for second in (False, True)] == [(0, 3), (3, 7)]
    assert sliced(cut, 2, 6) == Cut(1, 1)
    assert sliced(cut, 3, 6) == Cut(1, 0)
    assert sliced(cut, 0, 2) == Cut(1, 2)
