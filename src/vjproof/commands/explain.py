"""`vjproof explain` and `vjproof models`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vjproof.commands.options import DONE, NEGATIVE, Json, parse_size


def explain(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE", help="Pictures, or folders of pictures.")],
    model: Annotated[str, typer.Option(help="A built-in model, a weights file, or a folder.")] = "fashion",
    target: Annotated[
        list[str], typer.Option(help="top1, a class index or name, or margin:A-B; repeat it to give one per image.")
    ] = ["top1"],  # noqa: B006 - typer reads the default from the signature
    engine: Annotated[str, typer.Option(help="auto, numpy, jax or torch.")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32, float64 or bfloat16.")] = "float32",
    scale: Annotated[float | None, typer.Option(help="Gradient that gets the strongest colour.")] = None,
    heads: Annotated[int | None, typer.Option(help="Attention heads, where the file does not tell.")] = None,
    eps: Annotated[float | None, typer.Option(help="Layer norm's eps, where the file does not tell.")] = None,
    gelu: Annotated[str | None, typer.Option(help="erf or tanh, where the file does not tell.")] = None,
    image_size: Annotated[str | None, typer.Option(help="Pixels: SIDE, or HEIGHTxWIDTH.")] = None,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Search folders in folders too.")] = False,
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

    given: dict[str, Any] = {"heads": heads, "eps": eps, "gelu": gelu, "image_size": parse_size(image_size)}
    with terminal.progress() as advance:
        report = explain_images(
            images, model=model, targets=target, out=out, engine=engine, dtype=dtype, scale=scale, top=top,
            recursive=recursive, advance=advance, **{name: value for name, value in given.items() if value is not None},
        )  # fmt: skip
    terminal.print_report(report, as_json=json)
    raise typer.Exit(NEGATIVE if report.skipped else DONE)


def models(json: Json = False) -> None:
    """List the built-in models."""
    from vjproof.pipeline.explain import list_models
    from vjproof.report import terminal

    terminal.print_models(list_models(), as_json=json)
