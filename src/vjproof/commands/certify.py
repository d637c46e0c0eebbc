"""`vjproof certify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vjproof.commands.options import Json


def certify(
    model: Annotated[str, typer.Argument(help="A built-in model, a weights file, or a folder.")],
    image: Annotated[Path, typer.Argument(help="A picture.")],
    target: Annotated[str, typer.Option(help="top1, a class index or name, or margin:A-B.")] = "top1",
    engine: Annotated[str, typer.Option(help="auto, numpy, jax or torch.")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32, float64 or bfloat16.")] = "float32",
    gradient: Annotated[Path | None, typer.Option(help="A .npy file: certify this array, and run no engine.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the JSON certificate.")] = None,
    json: Json = False,
) -> None:
    """Bound the error of a computed gradient against the exact one, rigorously.

    Exit status: 0 done, 2 bad input or no bound.
    """
    from vjproof.pipeline.certify import certify_image
    from vjproof.report.certification import print_certification

    record = certify_image(model, image, target=target, engine=engine, dtype=dtype, gradient=gradient, output=output)
    print_certification(record, as_json=json)
