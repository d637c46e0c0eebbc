"""What becomes of mutants, and what numbers say of them: whether a mutant computes another function."""

from collections import Counter
from functools import cache

import jax
import numpy as np

from tests.foreign import vit
from tests.foreign.mutations import mutants
from tests.foreign.rules import RIGHT, Case, arrays
from tests.foreign.spellings import SPELLINGS, by_vjp
from vjproof.errors import VjproofError
from vjproof.stablehlo.read import read_stablehlo
from vjproof.validation.gradient_claim import answer, question_of_modules

POINTS = (5, 6, 7, 8)  # seeds: a maximum with 0 may be the identity at one of them
SAME, OTHER = 1e-12, 1e-10  # relative: nearer is the same function, farther another one

# Equal sizes: an operation may take other dimensions and keep its types.
CASES = {**RIGHT, "square attention": Case(RIGHT["attention"].function, arrays(*[(3, 3, 3)] * 3))}


@cache
def pair(name):
    """Return (forward, gradient) as texts: a rule's, or those of a network with one block."""
    if name == "network":
        arguments = vit.structs(vit.Sizes(height=4, width=8, depth=1))

        def forward(params, images):
            return vit.logits(SPELLINGS["plain"], params, images)

        gradient = by_vjp(forward)
    else:
        (function, arguments), forward = CASES[name], CASES[name].function.fun

        def gradient(*given):
            return function.bwd(function.fwd(*given[:-1])[1], given[-1])

    texts = [
        jax.jit(f, keep_unused=True).lower(*a).as_text()
        for f, a in ((forward, arguments), (gradient, (*arguments, jax.eval_shape(forward, *arguments))))
    ]
    return tuple(texts)


@cache
def results(text):
    """Return a module's results at random points, as the reader runs it; None where it does not read."""
    try:
        module = read_stablehlo(text)
    except VjproofError:
        return None
    found = []
    for seed in POINTS:
        generator = np.random.default_rng(seed)
        with np.errstate(all="ignore"):
            found += module.run(*(generator.standard_normal(tensor.shape) for tensor in module.inputs))
    return found


def gap(left, right):
    """Return the largest relative difference of two lists of arrays, nan where the second is not finite.

    An array far smaller than the others counts as if it were not: the gradient of a key's bias is 0 up to rounding.
    """
    if any(a.shape != b.shape for a, b in zip(left, right, strict=True)):
        return np.inf
    if not all(np.isfinite(b).all() for b in right):
        return np.nan
    least = 1e-3 * max(float(np.linalg.norm(a)) for a in left)
    return max(
        float(np.linalg.norm(a - b)) / max(least, float(np.linalg.norm(a))) for a, b in zip(left, right, strict=True)
    )


def judged(names, every=1):
    """Yield (name, mutant, gap, answer) of every mutant, or every `every`-th, that reads."""
    for name in names:
        forward, gradient = pair(name)
        right = results(gradient)
        for place, mutant in enumerate(mutants(gradient)):
            if place % every:
                continue
            numbers = results(mutant.text)
            if numbers is not None:
                yield name, mutant, gap(right, numbers), answer(question_of_modules(forward, mutant.text, "all"))


def table(names, every=1):
    """Return how often each answer was given, by kind of change; AssertionError for one that numbers contradict."""
    counts = Counter()
    for name, mutant, change, found in judged(names, every):
        where = f"{name}, line {mutant.line}: {mutant.kind}: {found}"
        if found.status == "proved":
            assert change <= SAME, f"a false proof: {where}"
        elif found.status == "refuted":
            assert found.counterexample.confirmed, f"not confirmed: {where}"
            assert not change <= SAME / 1000 or "ulps" in mutant.kind, f"a false counterexample: {where}"
        else:
            assert not change > OTHER, f"not refuted: {where}"
        undefined = np.isnan(change) and found.status == "not proved"
        counts[mutant.kind, "undefined" if undefined else found.status] += 1
    return counts
