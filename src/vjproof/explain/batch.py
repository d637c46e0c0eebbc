"""A batch of photographs through the network and back."""

from __future__ import annotations

from collections.abc import Sequence

from vjproof.errors import VjproofError
from vjproof.explain.choices import Model, choices_of
from vjproof.explain.explanation import Explanation, top_classes
from vjproof.explain.notes import gradient_notes
from vjproof.explain.target import Target, cotangents
from vjproof.images.network_input import preprocess
from vjproof.images.photograph import Photograph
from vjproof.vit.params import Array


def explain_batch(
    model: Model,
    photographs: Sequence[tuple[str, Photograph]],
    targets: Sequence[Target],
    *,
    engine: str = "auto",
    dtype: str | None = None,
    top: int = 5,
) -> list[Explanation | VjproofError]:
    """Return an explanation per (name, photograph), or the reason why there is none.

    Each gradient is that of its own image's target: nothing is divided by the size of the batch. An image whose
    logits or gradient overflow `dtype` gets a VjproofError; the others are not touched by it.
    """
    import numpy as np

    x = np.stack([preprocess(photograph.pixels, model.preprocessing) for _, photograph in photographs])
    logits = np.asarray(model.logits(x, engine=engine, dtype=dtype))
    gradient = np.asarray(model.input_gradient(x, cotangents(targets, logits), engine=engine, dtype=dtype))
    choices = choices_of(model, engine, str(gradient.dtype))

    def one(row: int) -> Explanation | VjproofError:
        name, photograph = photographs[row]
        scores, d_x, target = logits[row], gradient[row], targets[row]
        if not (np.isfinite(scores).all() and np.isfinite(d_x).all()):
            return _overflow(name, d_x)
        return Explanation(
            name, top_classes(scores, model.labels, top), target.words(scores, model.labels), target.value(scores),
            scores, x[row].astype(gradient.dtype), d_x, choices, (*photograph.notes, *gradient_notes(d_x)),
        )  # fmt: skip

    return [one(row) for row in range(len(photographs))]


def _overflow(name: str, d_x: Array) -> VjproofError:
    return VjproofError(
        name, expected="finite logits and gradient", got=f"an overflow in {d_x.dtype}",
        remedy="" if str(d_x.dtype) == "float64" else "use --dtype float64",
    )  # fmt: skip
