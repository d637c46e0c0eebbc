"""Nothing is misread: modules changed at random are refused, or run to the numbers that XLA computes from them."""

import random
import re

import jax
import numpy as np
import pytest

from tests.stablehlo.compiled import run_compiled
from tests.stablehlo.corpus import CORPUS
from tests.stablehlo.lowered import cotangents, lowered, reverse_of
from vjproof.errors import VjproofError
from vjproof.stablehlo.read import read_stablehlo

SWAPS = [
    ("stablehlo.add", "stablehlo.subtract"), ("stablehlo.multiply", "stablehlo.add"), ("stablehlo.divide",
    "stablehlo.multiply"), ("stablehlo.tanh", "stablehlo.exponential"), ("stablehlo.negate", "stablehlo.exponential"),
    ("stablehlo.add", "stablehlo.maximum"), ("stablehlo.maximum", "stablehlo.minimum"),
    ("applies stablehlo.add", "applies stablehlo.maximum"), ("applies stablehlo.maximum", "applies stablehlo.add"),
    ("stablehlo.rsqrt", "stablehlo.sqrt"), ("LT,", "GE,"),
]  # fmt: skip
NAMES = [
    "softmax", "standardize", "layer norm by var, x", "attention, k", "scan that collects", "counted loop", "split",
    "patches by convolution, x", "patches by convolution, w", "strided slice, rest left", "column added", "tril",
]  # fmt: skip
CHANGED_LINE = re.compile(r"stablehlo\.|chlo\.|func\.call")


def mutant(text, generator):
    """The text with one number, operation or operand of one line changed."""
    lines = text.splitlines()
    at = generator.choice([k for k, line in enumerate(lines) if CHANGED_LINE.search(line)])
    before, colon, types = lines[at].partition(" : ")
    numbers = list(re.finditer(r"(?<![\w%#.])\d+(?![\w.])", before))
    operands = re.findall(r"%[\w#]+", before.partition("=")[2])
    swaps = [(old, new) for old, new in SWAPS if old in before]
    literal = re.search(r"dense<-?\d+\.\d+(E[-+]?\d+)?>", before, re.IGNORECASE)
    kinds = ["number"] * (3 if numbers else 0) + ["swap"] * bool(swaps) + ["operand"] * bool(operands)
    kind = generator.choice([*kinds, "literal"] if literal or not kinds else kinds)
    if kind == "literal":
        value = generator.choice(["1.25", "-3.0", "0.0"])
        before = before.replace(literal.group(), f"dense<{value}>") if literal else before
    elif kind == "number":
        found = generator.choice(numbers)
        value = str(max(0, int(found.group()) + generator.choice([-1, 1, 2])))
        before = before[: found.start()] + value + before[found.end() :]
    elif kind == "swap":
        before = before.replace(*generator.choice(swaps), 1)
    else:
        head, equals, tail = before.partition("=")
        earlier = re.findall(r"^\s*(%\w+) =", "\n".join(lines[:at]), re.MULTILINE)
        if earlier:
            tail = tail.replace(generator.choice(operands), generator.choice(earlier[-6:]), 1)
        before = head + equals + tail
    return "\n".join([*lines[:at], before + colon + types, *lines[at + 1 :]])


def outcome(text, arrays):
    """Whether a module is refused, undefined at the arrays, or agrees with XLA; what differs fails."""
    try:
        module = read_stablehlo(text)
        with np.errstate(all="ignore"):
            ours = module.run(*arrays)
    except VjproofError:
        return "refused"
    theirs = run_compiled(text, *arrays)
    assert theirs is not None, text
    for left, right in zip(ours, theirs, strict=True):
        assert left.shape == right.shape
        if not np.isfinite(right).all():
            return "undefined"
        assert np.abs(left - right).max() <= 1e-9 * max(np.abs(right).max(), 1e-3), text
    return "agrees"


def modules(name):
    function, arguments, wrt = CORPUS[name]
    d_y = cotangents(function, *arguments)
    yield lowered(function, *arguments), jax.tree.leaves(arguments)
    yield lowered(reverse_of(function, wrt), *arguments, d_y), jax.tree.leaves((arguments, d_y))


def count(name, each, seed):
    generator = random.Random(f"{name} {seed}")
    found = {"refused": 0, "undefined": 0, "agrees": 0}
    for text, arrays in modules(name):
        assert outcome(text, arrays) == "agrees"
        for _ in range(each):
            found[outcome(mutant(text, generator), arrays)] += 1
    return found


@pytest.mark.parametrize("name", NAMES)
def test_changed_modules_are_refused_or_run_as_xla_runs_them(name):
    assert count(name, 8, 0)["agrees"] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_many_changed_modules_are_refused_or_run_as_xla_runs_them(name):
    assert count(name, 20, 1)["agrees"] >= 1
