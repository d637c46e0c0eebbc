"""`vjproof certify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vjproof.commands.options import Eps, Gelu, Heads, ImageSize, Json, model_choices


def certify(
    model: Annotated[str, typer.Argument(help="A built-in model, a weights file, or a folder.")],
    image: Annotated[Path, typer.Argument(help="A picture.")],
    target: Annotated[str, typer.Option(help="top1, a class index or name, or margin:A-B.")] = "top1",
    engine: Annotated[
        list[str] | None,
        typer.Option(help="auto (the default), numpy, jax or torch; repeat it to rank several.", show_default=False),
    ] = None,
    dtype: Annotated[
        list[str] | None,
        typer.Option(help="float32 (the default), float64 or bfloat16; repeat it.", show_default=False),
    ] = None,
    gradient: Annotated[
        list[Path] | None,
        typer.Option(
            help="A .npy file: bound this array, and run no engine. The picture is taken as float32, as"
            " float64 where every such array is."
        ),
    ] = None,
    heads: Heads = None,
    eps: Eps = None,
    gelu: Gelu = None,
    image_size: ImageSize = None,
    bits: Annotated[int | None, typer.Option(help="Precision; by default the one that is needed is found.")] = None,
    processes: Annotated[int | None, typer.Option(help="1 or 2; by default 2 where these pay.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the JSON certificate; the numbers go beside it.")
    ] = None,
    json: Json = False,
) -> None:
    """Bound the error of computed gradients against the exact one, rigorously.

    Exit status: 0 done, 2 bad input or no bound.
    """
    from vjproof.pipeline.certify import certify_image
    from vjproof.report import terminal
    from vjproof.report.certification import print_certification

    with terminal.progress("enclosing", percent=True) as advance:
        record = certify_image(
            model, image, target=target, engine=engine or ["auto"], dtype=dtype or ["float32"],
            gradient=gradient or (), output=output, bits=bits,
            processes=processes, advance=lambda share: advance(round(1000 * share), 1000),
            **model_choices(heads, eps, gelu, image_size),
        )  # fmt: skip
    print_certification(record, as_json=json)
