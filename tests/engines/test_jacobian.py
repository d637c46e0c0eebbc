"""Many cotangents at one image: row for row the gradients that single calls give."""

import numpy as np
import pytest

from tests.classifiers import small_classifier
from tests.compare import assert_close
from tests.nets import NETS_WITH_EACH_POOLING, draw
from vjproof import engines
from vjproof.errors import VjproofError

IMAGES = np.random.default_rng(3).standard_normal((2, 1, 8, 12))


@pytest.fixture(scope="module")
def classifier():
    return small_classifier()


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_rows_are_the_gradients_of_the_classes(classifier, engine):
    rows = classifier.jacobian(IMAGES, engine=engine, dtype="float64")
    assert rows.shape == (2, 4, 1, 8, 12)
    for k in range(4):
        assert_close(rows[:, k], classifier.input_gradient(IMAGES, k, engine="numpy", dtype="float64"), 1e-12)


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_more_cotangents_than_are_pulled_back_together(classifier, engine):
    cotangents = np.random.default_rng(4).standard_normal((19, 4))
    rows = classifier.jacobian(IMAGES[:1], cotangents, engine=engine, dtype="float64")[0]
    back = classifier.pullback(IMAGES[:1], dtype="float64")
    for row, d_logits in zip(rows, cotangents, strict=True):
        assert_close(row, back(d_logits[None])[0], 1e-12)


@pytest.mark.parametrize("dtype", engines.DTYPES)
@pytest.mark.parametrize("config", NETS_WITH_EACH_POOLING)
def test_torch_keeps_images_and_cotangents_apart(config, dtype):
    params, images, _ = draw(config, 3)
    kind = engines.storage(dtype)
    d_logits = np.random.default_rng(5).standard_normal((3, 7, config.classes)).astype(kind)
    runner = engines.choose("torch", config, 3)
    prepared = runner.prepare(config, params, dtype)
    rows = runner.jacobian(config, prepared, images.astype(kind), d_logits)
    for t in range(7):
        single = runner.logits_and_gradient(config, prepared, images.astype(kind), d_logits[:, t])[1]
        assert_close(rows[:, t], single, {"float64": 1e-12, "float32": 1e-5, "bfloat16": 0.05}[dtype])


def test_the_order_of_cotangents_matters(classifier):
    """The red control: rows in another order are not the same."""
    rows = classifier.jacobian(IMAGES, [0, 1], engine="torch", dtype="float64")
    with pytest.raises(AssertionError):
        assert_close(rows[:, ::-1], classifier.jacobian(IMAGES, [0, 1], engine="numpy", dtype="float64"), 1e-3)


@pytest.mark.parametrize(
    ("targets", "words"),
    [([4], "classes from 0 to 3"), ([], r"classes \(T,\)"), (1, r"classes \(T,\)"), ([[1.0, 2.0]], "a cotangent"),
     ([[np.nan, 0, 0, 0]], "finite")],
)  # fmt: skip
def test_bad_targets_are_one_clear_line(classifier, targets, words):
    with pytest.raises(VjproofError, match=words) as caught:
        classifier.jacobian(IMAGES, targets)
    assert "\n" not in str(caught.value)
