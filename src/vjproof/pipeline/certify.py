"""Certify a gradient at a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vjproof import classifier, engines
from vjproof.explain.batch import read_input
from vjproof.explain.target import cotangents, parse_targets


def certify_image(
    model: str | Path,
    image: str | Path,
    *,
    target: str = "top1",
    engine: str = "auto",
    dtype: str | None = None,
    gradient: str | Path | None = None,
    output: str | Path | None = None,
    **choices: Any,
) -> dict[str, Any]:
    """Return the JSON-ready certificate of an engine's gradient at a picture, or of the array in the file `gradient`.

    The file `output` gets it too. `choices` go to `vjproof.load`. VjproofError for bad arguments and files.
    """
    from vjproof.certification.certification import certify
    from vjproof.certification.gradient_file import read_gradient, write_record

    network = classifier.load(model, **choices)
    name = engines.check_dtype(dtype)
    (aim,) = parse_targets([target], 1, network.labels)
    x = read_input(Path(image), network.preprocessing).x.astype(engines.storage(name))
    scores = network.logits(x[None], "numpy", "float64")
    given = read_gradient(gradient) if gradient is not None else None
    proved = certify(network, x, cotangents([aim], scores)[0], engine=engine, dtype=name, gradient=given)
    top = proved.top_class
    record = {
        "image": str(image), "model": network.name, "target": aim.words(scores[0], network.labels), **proved.record,
        "top_class": None if top is None else {"index": top, "label": network.labels[top]},
    }  # fmt: skip
    if output is not None:
        write_record(record, output)
    return record
