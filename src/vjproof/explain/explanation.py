"""One photograph's gradient with everything needed to read it and to repeat it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from vjproof.explain.choices import Choices
from vjproof.vit.params import Array

UNIT = "d target / d network input (after mean and std); divide by std[c] for one unit of a pixel in [0, 1]"


@dataclass(frozen=True)
class ClassScore:
    """One class of an image's answer, with its logit and softmax probability."""

    index: int
    label: str
    logit: float
    probability: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """The gradient of `target` with respect to the network's input, at one photograph.

    `logits` (K,); `x` (C, H, W) the photograph as the network reads it; `gradient` (C, H, W) = d target / d x, in
    units of the normalised input; `value` the target's own value.
    """

    image: str
    top: tuple[ClassScore, ...]
    target: str
    value: float
    logits: Array
    x: Array
    gradient: Array
    choices: Choices
    notes: tuple[str, ...] = ()

    @property
    def pixel_gradient(self) -> Array:
        """(C, H, W): the gradient per unit of a resized pixel in [0, 1], `gradient / std[c]`."""
        import numpy as np

        return self.gradient / np.asarray(self.choices.std, self.gradient.dtype)[:, None, None]

    def record(self) -> dict[str, Any]:
        """Return all but the arrays as a JSON-ready dictionary."""
        return {
            "image": self.image,
            "target": self.target,
            "value": self.value,
            "top": [asdict(score) for score in self.top],
            "gradient": UNIT,
            "choices": self.choices.record(),
            "notes": list(self.notes),
        }


def top_classes(logits: Array, labels: tuple[str, ...], count: int) -> tuple[ClassScore, ...]:
    """Return the `count` highest classes of `logits` (K,), equals in the order of their index."""
    import numpy as np

    scores = np.asarray(logits, dtype=np.float64)
    weights = np.exp(scores - scores.max())
    probabilities = weights / weights.sum()
    order = np.argsort(-scores, kind="stable")[:count]
    return tuple(ClassScore(int(i), labels[i], float(scores[i]), float(probabilities[i])) for i in order)
