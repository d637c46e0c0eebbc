"""A batch of photographs through the network and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vjproof import engines
from vjproof.classifier import Classifier
from vjproof.errors import VjproofError
from vjproof.explain.choices import choices_of
from vjproof.explain.explanation import Explanation, top_classes
from vjproof.explain.notes import gradient_notes
from vjproof.explain.target import Target, cotangents
from vjproof.images.network_input import preprocess
from vjproof.images.photograph import read_photograph
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.config import Config
from vjproof.vit.params import Array

BATCH = 16
MEMORY = 2**30  # bytes of saved activations that a batch may take


@dataclass(frozen=True, eq=False)
class Input:
    """One photograph as the network reads it, `x` (C, H, W), its name, and what was done to read it."""

    name: str
    x: Array
    notes: tuple[str, ...] = ()


def read_input(path: Path, choices: Preprocessing) -> Input:
    """Return the picture at `path`, pre-processed; raises VjproofError, naming it, where that cannot be done."""
    photograph = read_photograph(path)
    try:
        return Input(str(path), preprocess(photograph.pixels, choices), photograph.notes)
    except VjproofError as problem:
        raise VjproofError(str(path), expected=problem.expected, got=problem.got, remedy=problem.remedy) from None


def batch_size(config: Config, dtype: str | None) -> int:
    """Return how many images to run together: `BATCH`, or fewer where their activations would pass `MEMORY`."""
    row = 12 * config.hidden + 2 * config.mlp + 3 * config.heads * config.tokens
    image = config.depth * config.tokens * row * (8 if dtype == "float64" else 4)
    return max(1, min(BATCH, MEMORY // max(1, image)))


def explain_batch(
    model: Classifier,
    inputs: Sequence[Input],
    targets: Sequence[Target],
    *,
    engine: str = "auto",
    dtype: str | None = None,
    top: int = 5,
) -> list[Explanation | VjproofError]:
    """Return an explanation per input, or the reason why there is none.

    Each gradient is that of its own image's target: nothing is divided by the size of the batch. An image whose
    logits or gradient overflow `dtype` gets a VjproofError; the others are not touched by it.
    """
    import numpy as np

    x = np.stack([given.x for given in inputs])
    logits, gradient = _logits_and_gradient(model, x, targets, engine, dtype)
    choices = choices_of(model, engines.choose(engine, model.config, len(x)).name, engines.check_dtype(dtype))

    def one(row: int) -> Explanation | VjproofError:
        scores, d_x, target = logits[row], gradient[row], targets[row]
        if not (np.isfinite(scores).all() and np.isfinite(d_x).all()):
            return _overflow(inputs[row].name, d_x)
        return Explanation(
            inputs[row].name, top_classes(scores, model.labels, top), target.words(scores, model.labels),
            target.value(scores), scores, x[row].astype(d_x.dtype), d_x, choices,
            (*inputs[row].notes, *gradient_notes(d_x)),
        )  # fmt: skip

    return [one(row) for row in range(len(inputs))]


def _logits_and_gradient(
    model: Classifier, x: Array, targets: Sequence[Target], engine: str, dtype: str | None
) -> tuple[Array, Array]:
    """Return logits (B, K) and gradient (B, C, H, W); a target that depends on the logits takes a pass of its own."""
    import numpy as np

    if all(target.plus is not None for target in targets):
        unread = np.zeros((len(x), model.config.classes))
        return model.logits_and_gradient(x, cotangents(targets, unread), engine, dtype)
    logits = model.logits(x, engine, dtype)
    return logits, model.input_gradient(x, cotangents(targets, logits), engine, dtype)


def _overflow(name: str, d_x: Array) -> VjproofError:
    return VjproofError(
        name, expected="finite logits and gradient", got=f"an overflow in {d_x.dtype}",
        remedy="" if str(d_x.dtype) == "float64" else "use --dtype float64",
    )  # fmt: skip
