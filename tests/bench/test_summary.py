"""Ratios are taken within rounds, so that a slow minute does not favour whoever ran outside of it."""

import pytest

from vjproof.bench.summary import best, ratio, summarise

SECONDS = {
    "vjproof torch float32": [1.0, 10.0, 1.2],
    "torch autograd float32": [2.0, 20.0, 2.0],
    "jax.vjp float32": [3.0, 30.0, 3.0],
    "vjproof torch bfloat16": [0.5, 5.0, 0.5],
    "products float32": [0.8, 8.0, 0.8],
}


def test_the_best_has_the_lowest_median():
    assert best(SECONDS, "peer", "float32") == "torch autograd float32"
    assert best(SECONDS, "peer", "bfloat16") is None


def test_a_ratio_is_the_median_over_the_rounds():
    assert ratio(SECONDS, "vjproof torch float32", "torch autograd float32") == pytest.approx(0.5)
    assert ratio(SECONDS, "vjproof torch float32", None) is None


def test_a_group_is_summed_up_per_image():
    told = summarise({"batch": 2, "seconds": SECONDS})
    assert told["milliseconds"]["vjproof torch float32"] == pytest.approx(600)
    assert told["ratios"]["float32 / best float32 peer"] == pytest.approx(0.5)
    assert told["ratios"]["bfloat16 / best float32 peer"] == pytest.approx(0.25)
    assert told["ratios"]["bfloat16 / best bfloat16 peer"] is None
    assert told["ratios"]["float32 / its products"] == pytest.approx(1.25)


def test_our_export_in_another_runtime_counts_against_our_engines():
    told = summarise({"batch": 1, "seconds": {**SECONDS, "onnxruntime float32": [0.5, 5.0, 0.5]}})
    assert told["best"]["ours float32"] == "vjproof torch float32"
    assert told["ratios"]["float32 / best float32 peer"] == pytest.approx(2)
    assert told["ratios"]["float32 / best float32 peer but our export"] == pytest.approx(0.5)


def test_rounds_that_do_not_pair_are_not_compared():
    with pytest.raises(ValueError, match="shorter"):
        ratio({"a": [1.0, 2.0], "b": [1.0]}, "a", "b")
