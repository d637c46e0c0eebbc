"""A large batch is run in pieces, on every engine, and nobody can tell from the result."""

import numpy as np
import pytest

from tests.compare import assert_close
from tests.nets import SHAPES, draw, make_config
from vjproof import engines
from vjproof.engines import pieces
from vjproof.engines.pieces import cut, images_together, in_pieces

CONFIG = make_config(SHAPES[1], depth=2)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 31, 32])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("most", [1, 4])
def test_slices_cover_the_batch_once(count, workers, most):
    pieces = list(cut(count, workers, most))
    assert [i for piece in pieces for i in range(count)[piece]] == list(range(count))
    sizes = [piece.stop - piece.start for piece in pieces]
    assert max(sizes) <= most
    assert min(sizes) >= max(sizes) - 1
    assert len(pieces) >= min(count, workers)


def test_no_entry_gives_no_slice():
    assert list(cut(0, 2, 4)) == []


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_pieces_change_no_result(engine, monkeypatch):
    params, images, d_logits = draw(CONFIG, 5)
    rows = np.stack([d_logits, -d_logits], 1)
    runner = engines.choose(engine, CONFIG, 5)
    prepared = runner.prepare(CONFIG, params, "float64")

    def everything():
        return (
            runner.logits(CONFIG, prepared, images), *runner.logits_and_gradient(CONFIG, prepared, images, d_logits),
            runner.jacobian(CONFIG, prepared, images, rows),
        )  # fmt: skip

    whole = everything()
    monkeypatch.setattr(pieces, "MEMORY", 1)
    assert images_together(CONFIG, "float64") == 1
    for one, other in zip(everything(), whole, strict=True):
        assert_close(one, other, 1e-13)


def test_more_memory_takes_more_images():
    assert images_together(CONFIG, "float64") * 2 <= images_together(CONFIG, "float32") + 1


def test_a_function_gets_each_entry_once():
    seen = []

    def double(x):
        seen.append(len(x))
        return 2 * x

    assert np.array_equal(in_pieces(double, 2, np.arange(5)), 2 * np.arange(5))
    assert max(seen) <= 2
    assert sum(seen) == 5
