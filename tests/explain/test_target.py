"""Which scalar a target names."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vjproof.errors import VjproofError
from vjproof.explain.target import Target, cotangents, parse_target, parse_targets

LABELS = ("T-shirt/top", "Trouser", "Ankle boot", "bag", "Bag", "BAG-7", "crane", "crane")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("top1", Target(None)),
        ("0", Target(0)),
        ("007", Target(7)),
        ("Trouser", Target(1)),
        ("tROUSER", Target(1)),
        ("bag", Target(3)),
        ("Bag", Target(4)),
        ("margin:3-1", Target(3, 1)),
        ("margin:T-shirt/top-Ankle boot", Target(0, 2)),
        ("margin:ankle boot-t-shirt/top", Target(2, 0)),
        ("margin:2-trouser", Target(2, 1)),
    ],
)
def test_a_target_is_read(text: str, target: Target) -> None:
    assert parse_target(text, LABELS) == target


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8", "index from 0 to 7, got 8"),
        ("-1", "index from 0 to 7, got -1"),
        ("9" * 5000, "index from 0 to 7"),
        ("BAG", r"2 of them: 3 \(bag\), 4 \(Bag\)"),
        ("crane", r"2 of them: 6 \(crane\), 7 \(crane\)"),
        ("boot", "closest names: Ankle boot"),
        ("Trousers", "closest names: Trouser"),
        ("", "no such class"),
        ("margin:", "no A-B"),
        ("margin:3", "no A-B"),
        ("margin:3-", "no A-B"),
        ("margin:3-3", "class 3 twice"),
        ("margin:3-8", "index from 0 to 7, got 8"),
        ("margin:Trouser-boot", "closest names: Ankle boot"),
        ("margin:crane-0", "2 of them"),
    ],
)
def test_what_names_no_single_target_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(VjproofError, match=message) as caught:
        parse_target(text, LABELS)
    assert len(str(caught.value)) < 400


def test_a_margin_that_reads_in_two_ways_is_refused() -> None:
    with pytest.raises(VjproofError, match="one way to read"):
        parse_target("margin:a-b-c", ("a", "b-c", "a-b", "c"))


def test_a_digit_that_names_another_class_is_ambiguous() -> None:
    assert parse_target("1", ("0", "1")) == Target(1)
    with pytest.raises(VjproofError, match="2 of them"):
        parse_target("1", ("1", "0"))


@given(st.text(max_size=40))
def test_any_text_is_a_target_or_one_clear_error(text: str) -> None:
    with suppress(VjproofError):
        target = parse_target(text, LABELS)
        assert target.plus is None or 0 <= target.plus < len(LABELS)


def test_one_target_serves_all_images_and_too_few_are_refused() -> None:
    assert parse_targets(["1"], 3, LABELS) == [Target(1)] * 3
    assert parse_targets(["1", "2", "top1"], 3, LABELS) == [Target(1), Target(2), Target(None)]
    for texts in (["1", "2"], ["1"] * 4, []):
        with pytest.raises(VjproofError, match="or 3 for 3 images"):
            parse_targets(texts, 3, LABELS)


def test_cotangents_are_unit_vectors_and_their_differences() -> None:
    logits = np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 0.0], [0.0, 1.0, 2.0]])
    d_logits = cotangents([Target(None), Target(None), Target(0, 2)], logits)
    np.testing.assert_array_equal(d_logits, [[0, 1, 0], [1, 0, 0], [1, 0, -1]])


def test_the_value_is_the_pairing_of_cotangent_and_logits() -> None:
    logits = np.array([1.0, 3.0, 2.0])
    for target in (Target(None), Target(2), Target(0, 1)):
        assert target.value(logits) == float(cotangents([target], logits[None])[0] @ logits)


def test_targets_are_told_in_words() -> None:
    logits = np.array([1.0, 3.0])
    assert Target(None).words(logits, ("a", "b")) == "logit of class 1 (b), the highest"
    assert Target(0, 1).words(logits, ("a", "b")) == "logit of class 0 (a) minus logit of class 1 (b)"
