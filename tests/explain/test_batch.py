"""Gradients of batches: each image its own."""

import json

import numpy as np
import pytest

from tests.classifiers import small_classifier
from vjproof.errors import VjproofError
from vjproof.explain.batch import BATCH, Input, batch_size, explain_batch
from vjproof.explain.explanation import Explanation
from vjproof.explain.target import Target
from vjproof.vit.config import Config

GENERATOR = np.random.default_rng(2)
NETWORK = small_classifier(channels=3)


def inputs(count: int) -> list[Input]:
    return [Input(f"{i}.png", GENERATOR.standard_normal((3, 8, 12))) for i in range(count)]


def explained(given: list[Input], targets: list[Target], network: object = NETWORK, **how: object) -> list[Explanation]:
    results = explain_batch(network, given, targets, dtype="float64", **how)
    assert all(isinstance(result, Explanation) for result in results)
    return results


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_an_image_repeated_in_a_batch_has_the_gradient_it_has_alone(engine: str) -> None:
    (one,) = inputs(1)
    alone = explained([one], [Target(1)], engine=engine)[0].gradient
    assert abs(alone).max() > 0
    for result in explained([one] * 10, [Target(1)] * 10, engine=engine):
        np.testing.assert_allclose(result.gradient, alone, rtol=1e-12, atol=1e-14)
        assert abs(result.gradient / 10 - alone).max() > 1e-6  # the mean over the batch would be seen


def test_different_images_with_different_targets_are_each_as_alone() -> None:
    given, targets = inputs(3), [Target(None), Target(2), Target(0, 3)]
    for one, target, together in zip(given, targets, explained(given, targets), strict=True):
        alone = explained([one], [target])[0]
        np.testing.assert_allclose(together.gradient, alone.gradient, rtol=1e-11, atol=1e-13)
        assert together.target == alone.target
    assert abs(explained(given, targets[::-1])[0].gradient - explained(given, targets)[0].gradient).max() > 1e-6


def test_a_margin_is_the_difference_and_top1_is_the_highest_class() -> None:
    (one,) = inputs(1)
    margin, plus, minus, top = (explained([one], [t])[0] for t in (Target(0, 3), Target(0), Target(3), Target(None)))
    np.testing.assert_allclose(margin.gradient, plus.gradient - minus.gradient, rtol=1e-12, atol=1e-14)
    assert margin.value == pytest.approx(plus.value - minus.value, rel=1e-12)
    best = top.top[0].index
    np.testing.assert_array_equal(top.gradient, explained([one], [Target(best)])[0].gradient)
    assert best == top.logits.argmax()


def test_the_gradient_predicts_a_small_change_of_the_target() -> None:
    (one,) = inputs(1)
    before = explained([one], [Target(1)])[0]
    step = 1e-6 * GENERATOR.standard_normal(one.x.shape)
    after, behind = (explained([Input("", one.x + sign * step)], [Target(1)])[0].value for sign in (1, -1))
    assert (after - behind) / 2 == pytest.approx(float((before.gradient * step).sum()), rel=1e-6)


def test_two_runs_are_bitwise_equal() -> None:
    given = inputs(2)
    first, second = (explained(given, [Target(None)] * 2) for _ in range(2))
    assert all(a.gradient.tobytes() == b.gradient.tobytes() for a, b in zip(first, second, strict=True))


def test_a_head_that_does_not_depend_on_the_image_gives_exact_zeros_and_says_why() -> None:
    result = explained(inputs(1), [Target(1)], small_classifier(channels=3, zero_head=True))[0]
    assert (result.gradient == 0).all()
    assert "does not depend on this image" in result.notes[0]
    assert not any("exactly zero" in note for note in explained(inputs(1), [Target(1)])[0].notes)


def test_an_overflow_is_the_fault_of_its_own_image_only() -> None:
    huge, fine = Input("huge.png", np.full((3, 8, 12), 3e38)), inputs(1)[0]
    with np.errstate(all="ignore"):
        refused, kept = explain_batch(NETWORK, [huge, fine], [Target(0)] * 2, dtype="float32")
    (alone,) = explain_batch(NETWORK, [fine], [Target(0)], dtype="float32")
    assert isinstance(refused, VjproofError)
    assert (
        str(refused) == "huge.png: expected finite logits and gradient, got an overflow in float32; use --dtype float64"
    )
    np.testing.assert_allclose(kept.gradient, alone.gradient, rtol=1e-4, atol=1e-6)


def test_the_record_holds_every_choice_and_is_json() -> None:
    record = json.loads(json.dumps(explained(inputs(1), [Target(None)])[0].record(), allow_nan=False))
    for name in (
        "model",
        "sha256",
        "version",
        "eps",
        "gelu",
        "size",
        "resize",
        "resample",
        "crop",
        "channels",
        "mean",
        "std",
    ):
        assert record["choices"][name] not in (None, "")
    assert record["choices"]["dtype"] == "float64"
    assert record["choices"]["engine"] == "numpy"  # what auto stood for


def test_probabilities_are_a_softmax_in_falling_order() -> None:
    result = explained(inputs(1), [Target(None)], top=9)[0]
    weights = np.exp(result.logits)
    np.testing.assert_allclose([s.probability for s in result.top], np.sort(weights / weights.sum())[::-1], rtol=1e-12)


def test_the_pixel_gradient_is_per_unit_of_a_pixel() -> None:
    result = explained(inputs(1), [Target(None)])[0]
    np.testing.assert_array_equal(result.pixel_gradient[2], result.gradient[2] / 0.5)


def test_large_networks_run_in_small_batches() -> None:
    large = Config(3, 384, 384, 16, 1024, 16, 4096, 24, 1000, 1e-6, "erf")
    assert batch_size(NETWORK.config, None) == BATCH
    assert 1 <= batch_size(large, "float64") <= batch_size(large, "float32") < BATCH
