"""Certify gradients at a picture."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vjproof import classifier, engines
from vjproof.certification.certification import certify, enclose
from vjproof.certification.document import certificate, certificate_writers
from vjproof.certification.gradient_file import read_gradient
from vjproof.classifier import Classifier
from vjproof.explain.batch import read_input
from vjproof.explain.explanation import Explanation
from vjproof.explain.output import write_atomically
from vjproof.explain.target import Target, cotangents, parse_targets


def certify_image(
    model: str | Path,
    image: str | Path,
    *,
    target: str = "top1",
    engine: Sequence[str] = ("auto",),
    dtype: Sequence[str] = ("float32",),
    gradient: Sequence[str | Path] = (),
    output: str | Path | None = None,
    bits: int | None = None,
    processes: int | None = None,
    advance: Callable[[float], None] | None = None,
    **choices: Any,
) -> dict[str, Any]:
    """Return the JSON-ready certificate of each engine's gradient at a picture, in each dtype, the best one first.

    Files in `gradient` are bounded in place of engines. `output` gets the certificate too, and the numbers beside it.
    The picture is taken as float32 numbers, as float64 where only that dtype is asked for. `choices` go to
    `vjproof.load`; the others as for `vjproof.enclose`. VjproofError for bad arguments and files, before any work.
    """
    import numpy as np

    network = classifier.load(model, **choices)
    dtypes = [engines.check_dtype(name) for name in dtype]
    for name in engine:
        engines.choose(name, network.config, 1)
    (aim,) = parse_targets([target], 1, network.labels)
    given = [read_gradient(file) for file in gradient]
    x = read_input(Path(image), network.preprocessing).x
    wide = {str(array.dtype) for array in given} if given else set(dtypes)
    x = x.astype(np.float64 if wide == {"float64"} else np.float32)
    scores = network.logits(x[None], "numpy", "float64")
    d_logits = cotangents([aim], scores)[0]
    ways: list[dict[str, Any]] = [{"gradient": array} for array in given] or [
        {"engine": name, "dtype": kind} for name, kind in itertools.product(engine, dtypes)
    ]
    start = time.perf_counter()
    enclosed = enclose(network, x, d_logits, bits, processes=processes, advance=advance)
    seconds = time.perf_counter() - start
    proved = [certify(network, x, d_logits, enclosure=enclosed, **way) for way in ways]
    proved.sort(key=lambda one: one.bounds.absolute)
    names = {"model": network.name, "image": str(image), "target": aim.words(scores[0], network.labels)}
    record, stored = certificate(names, network.config, network.sha256, network.labels, x, d_logits, proved, seconds)
    if output is not None:
        write_atomically(certificate_writers(record, stored, Path(output)))
    return record


def certify_explanation(
    network: Classifier, explanation: Explanation, target: Target, advance: Callable[[float], None] | None = None
) -> tuple[dict[str, Any], bytes]:
    """Return the certificate of an explanation's gradient, and the bytes of its numbers; `advance` as for `enclose`."""
    d_logits = cotangents([target], explanation.logits[None])[0]
    start = time.perf_counter()
    enclosed = enclose(network, explanation.x, d_logits, advance=advance)
    seconds = time.perf_counter() - start
    proved = certify(network, explanation.x, d_logits, gradient=explanation.gradient, enclosure=enclosed)
    proved = replace(proved, engine=explanation.choices.engine, dtype=explanation.choices.dtype)
    names = {"model": network.name, "image": explanation.image, "target": explanation.target}
    return certificate(
        names, network.config, network.sha256, network.labels, explanation.x, d_logits, [proved], seconds
    )
