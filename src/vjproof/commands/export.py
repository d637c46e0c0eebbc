"""`vjproof export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vjproof.commands.options import Eps, Gelu, Heads, ImageSize, Json, model_choices


def export(
    model: Annotated[str, typer.Argument(help="A built-in model, a weights file, or a folder.")],
    kind: Annotated[str, typer.Option("--format", "-f", help="stablehlo or onnx.")],
    batch: Annotated[
        list[str], typer.Option(help="symbolic (any number of images), or a number; repeat it for several.")
    ] = ["symbolic"],  # noqa: B006 - typer reads the default from the signature
    what: Annotated[str, typer.Option(help="gradient, forward or both.")] = "both",
    weights: Annotated[str, typer.Option(help="inside the programs, or arguments of them.")] = "inside",
    target_version: Annotated[str | None, typer.Option(help="StableHLO version to write for, such as 1.13.7.")] = None,
    opset: Annotated[int | None, typer.Option(help="ONNX opset, 20 or later.")] = None,
    heads: Heads = None,
    eps: Eps = None,
    gelu: Gelu = None,
    image_size: ImageSize = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the files (default: NAME-FORMAT).", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Write the forward pass and the input gradient as programs that need no vjproof to run.

    OUT/manifest.json says what each file is and what it takes. Exit status: 0 done, 2 bad input.
    """
    from vjproof.pipeline.export import export_network
    from vjproof.report import terminal
    from vjproof.report.exports import print_export

    with terminal.progress("exporting") as advance:
        record = export_network(
            model, out, kind=kind, batch=batch, what=what, weights=weights, target_version=target_version,
            opset=opset, advance=advance, **model_choices(heads, eps, gelu, image_size),
        )  # fmt: skip
    print_export(record, as_json=json)
