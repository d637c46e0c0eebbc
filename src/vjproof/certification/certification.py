"""Rigorous bounds on the error of any gradient: |g - exact| <= |g - mid| + rad, whatever computed g."""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass
from typing import Any

from vjproof import engines
from vjproof.classifier import Classifier, cotangent
from vjproof.enclosure.balls import balls_of, upper
from vjproof.enclosure.enclosure import Enclosure, enclose_network
from vjproof.errors import VjproofError
from vjproof.vit.params import Array


@dataclass(frozen=True, eq=False)
class Certification:
    """Rigorous bounds on one gradient (C, H, W), which is `gradient`; absolute and relative bounds are rounded up.

    The unit of the ulp figures is taken at the rounded midpoint: at a power of two one may be off by a factor of 2.

    `absolute` bounds the largest error of an entry, `relative` the error's norm by the exact gradient's norm; ulps
    are units in the last place of the exact value in the gradient's dtype. `signs` is the share of entries whose sign
    is certain, `top_class` the class whose exact logit is certainly the highest, None where that is open.
    """

    gradient: Array
    enclosure: Enclosure
    absolute: float
    relative: float
    worst_ulp: float
    median_ulp: float
    signs: float
    top_class: int | None
    record: dict[str, Any]


def enclose(model: Classifier, image: Array, target: Any, bits: int | None = None) -> Enclosure:
    """Return the enclosure of the target's input gradient at `image` (C, H, W), pre-processed.

    `target` is a class, or a cotangent (K,); numbers are taken exactly as they are. VjproofError for a wrong shape or
    non-finite numbers, and where the bound stays too wide.
    """
    import numpy as np

    given = np.asarray(image)
    if given.shape != model.config.image_shape:
        raise VjproofError("image", expected=f"an array {model.config.image_shape}", got=str(given.shape))
    return enclose_network(model.config, model.params, given, _cotangent(model, target), bits)


def certify(
    model: Classifier,
    image: Array,
    target: Any,
    *,
    engine: str = "auto",
    dtype: str | None = None,
    gradient: Array | None = None,
    bits: int | None = None,
    enclosure: Enclosure | None = None,
) -> Certification:
    """Return bounds on the error of an engine's gradient at `image` (C, H, W), or of a given `gradient` as it is.

    The image is rounded to `dtype` first where an engine runs, so that engine and enclosure speak of one input.
    `enclosure` reuses one of the same image and target. VjproofError as `enclose`, and for a gradient of a wrong shape.
    """
    import numpy as np

    start, source, name = time.perf_counter(), "given", ""
    d_logits, pixels = _cotangent(model, target), np.asarray(image)
    if gradient is None:
        name = engines.check_dtype(dtype)
        pixels = pixels.astype(engines.storage(name))
        source = engines.choose(engine, model.config, 1).name
        gradient = model.input_gradient(pixels[None], d_logits[None], engine, name)[0]
    value = np.asarray(gradient)
    if value.shape != model.config.image_shape or value.dtype.kind != "f" or not np.isfinite(value).all():
        raise VjproofError(
            "gradient", expected=f"finite floats {model.config.image_shape}", got=f"{value.dtype} {value.shape}"
        )
    enclosed = enclosure or enclose(model, pixels, d_logits, bits)
    errors = np.vectorize(upper, otypes=[float])(_minus(balls_of(value), enclosed))
    ulps = errors / np.spacing(np.abs(enclosed.mid).astype(value.dtype)).astype(float) * (1 + 1e-15)
    bounds: dict[str, Any] = {
        "absolute": float(errors.max()), "relative": _relative(errors, enclosed), "worst_ulp": float(ulps.max()),
        "median_ulp": float(np.median(ulps)), "signs": _certain_signs(value, enclosed), "top_class": _top(enclosed),
    }  # fmt: skip
    record = {
        "engine": source, "dtype": name or str(value.dtype), **bounds,
        "relative": bounds["relative"] if math.isfinite(bounds["relative"]) else None,
        "bits": enclosed.bits, "bits_lost": enclosed.bits_lost,
        "radius": enclosed.radius, "seconds": time.perf_counter() - start,
        "sha256": {
            "weights": model.sha256, "image": _sha256(pixels), "target": _sha256(d_logits),
            "program": enclosed.program_sha256, "gradient": _sha256(value), "mid": _sha256(enclosed.mid),
            "rad": _sha256(enclosed.rad),
        },
    }  # fmt: skip
    return Certification(value, enclosed, record=record, **bounds)


def _cotangent(model: Classifier, target: Any) -> Array:
    import numpy as np

    given = np.asarray(target)
    one = given[None] if given.ndim == 1 else given
    return cotangent(one, 1, model.config.classes, np.float64)[0]


def _minus(value: Array, enclosed: Enclosure) -> Array:
    import flint

    with flint.ctx.workprec(enclosed.bits):
        return value - enclosed.balls


def _relative(errors: Array, enclosed: Enclosure) -> float:
    """Return an upper bound of the errors' norm by the exact gradient's norm; infinity where that may be 0."""
    import flint

    with flint.ctx.workprec(128):
        top = sum((flint.arb(e) ** 2 for e in errors.flat), flint.arb(0)).sqrt()
        below = sum((ball.abs_lower() ** 2 for ball in enclosed.balls.flat), flint.arb(0)).sqrt()
        return upper(top / below) if below > 0 else (0.0 if not errors.any() else math.inf)


def _certain_signs(value: Array, enclosed: Enclosure) -> float:
    agree = [
        (ball > 0 and number > 0) or (ball < 0 and number < 0) or (ball.is_zero() and number == 0)
        for ball, number in zip(enclosed.balls.flat, value.flat, strict=True)
    ]
    return sum(map(bool, agree)) / len(agree)


def _top(enclosed: Enclosure) -> int | None:
    scores = list(enclosed.logit_balls.flat)
    best = max(range(len(scores)), key=lambda k: float(enclosed.logits_mid[k]))
    return best if all(scores[best] > score for k, score in enumerate(scores) if k != best) else None


def _sha256(array: Array) -> str:
    import numpy as np

    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(f"{little.dtype.str} {little.shape} ".encode() + little.tobytes()).hexdigest()
