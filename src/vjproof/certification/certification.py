"""Certifications: an engine's gradient, or one from elsewhere, against the enclosure of the exact one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vjproof import engines
from vjproof.certification.bounds import Bounds, bound_errors, certain_top, floats_of
from vjproof.classifier import Classifier, cotangent
from vjproof.enclosure.enclosure import Enclosure, enclose_network
from vjproof.errors import VjproofError
from vjproof.vit.params import Array

GIVEN = "given"  # in place of an engine's name


@dataclass(frozen=True, eq=False)
class Certification:
    """Rigorous bounds on one gradient (C, H, W), which is `gradient`.

    `top_class` is the class whose exact logit is certainly the highest, None where that is open; `seconds` is what
    the engine took the first time, compilation included.
    """

    gradient: Array
    enclosure: Enclosure
    engine: str
    dtype: str
    bounds: Bounds
    top_class: int | None
    seconds: float


def enclose(
    model: Classifier,
    image: Array,
    target: Any,
    bits: int | None = None,
    *,
    processes: int | None = None,
    advance: Callable[[float], None] | None = None,
) -> Enclosure:
    """Return the enclosure of the target's input gradient at `image` (C, H, W), pre-processed.

    `target` is a class, or a cotangent (K,); numbers are taken exactly as they are. `bits` is the precision, None
    finds it; `processes` 1 or 2, None where 2 pay; `advance` is told the share of the work done. VjproofError for a
    wrong shape or non-finite numbers, and where the bound stays too wide.
    """
    import numpy as np

    given = np.asarray(image)
    if given.shape != model.config.image_shape:
        raise VjproofError("image", expected=f"an array {model.config.image_shape}", got=str(given.shape))
    d_logits = cotangent_of(model, target)
    return enclose_network(model.config, model.params, given, d_logits, bits, processes=processes, advance=advance)


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

    The image is taken exactly; that an engine rounds it, or the weights, to `dtype` is part of its error. `enclosure`
    reuses one of the same image and target. VjproofError as `enclose`, and for a gradient of a wrong shape.
    """
    import numpy as np

    d_logits, pixels, source = cotangent_of(model, target), np.asarray(image), GIVEN
    start = time.perf_counter()
    if gradient is None:
        name = engines.check_dtype(dtype)
        source = engines.choose(engine, model.config, 1).name
        gradient = model.input_gradient(pixels[None], d_logits[None], engine, name)[0]
    else:
        gradient = np.asarray(gradient)
        name = str(gradient.dtype)
    seconds = time.perf_counter() - start
    floats_of(gradient, model.config.image_shape, name)
    enclosed = enclosure or enclose(model, pixels, d_logits, bits)
    bounds = bound_errors(gradient, enclosed, name)
    return Certification(gradient, enclosed, source, name, bounds, certain_top(enclosed), seconds)


def cotangent_of(model: Classifier, target: Any) -> Array:
    """Return the cotangent (K,), float64, that a class or a cotangent means."""
    import numpy as np

    given = np.asarray(target)
    one = given[None] if given.ndim == 1 else given
    return cotangent(one, 1, model.config.classes, np.float64)[0]
