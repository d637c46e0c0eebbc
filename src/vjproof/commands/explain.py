"""`vjproof explain` and `vjproof models`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vjproof.commands.options import DONE, NEGATIVE, Eps, Gelu, Heads, ImageSize, Json, model_choices


def explain(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE", help="Pictures, or folders of pictures.")],
    model: Annotated[str, typer.Option(help="A built-in model, a weights file, or a folder.")] = "fashion",
    target: Annotated[
        list[str], typer.Option(help="top1, a class index or name, or margin:A-B; repeat it to give one per image.")
    ] = ["top1"],  # noqa: B006 - typer reads the default from the signature
    engine: Annotated[str, typer.Option(help="auto, numpy, jax or torch.")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32, float64 or bfloat16.")] = "float32",
    scale: Annotated[float | None, typer.Option(help="Gradient that gets the strongest colour.")] = None,
    heads: Heads = None,
    eps: Eps = None,
    gelu: Gelu = None,
    image_size: ImageSize = None,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Search folders in folders too.")] = False,
    certify: Annotated[
        bool, typer.Option("--certify", help="Bound each gradient's error rigorously; this takes a while.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="How many classes to print.")] = 5,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("vjproof-out"),
    json: Json = False,
) -> None:
    """Draw and save the gradient at a picture.

    For each picture: OUT/name.png shows the picture, where the gradient of the target is large, and its sign;
    OUT/name.npz holds the numbers. Exit status: 0 done, 1 some pictures were skipped, 2 bad input.
    """
    from vjproof.pipeline.explain import explain_images
    from vjproof.report import terminal

    with terminal.progress("enclosing" if certify else "explaining", percent=certify) as advance:
        report = explain_images(
            images, model=model, targets=target, out=out, engine=engine, dtype=dtype, scale=scale, top=top,
            recursive=recursive, certify=certify, advance=advance, **model_choices(heads, eps, gelu, image_size),
        )  # fmt: skip
    terminal.print_report(report, as_json=json)
    raise typer.Exit(NEGATIVE if report.skipped else DONE)


def models(json: Json = False) -> None:
    """List the built-in models."""
    from vjproof.pipeline.explain import list_models
    from vjproof.report import terminal

    terminal.print_models(list_models(), as_json=json)
