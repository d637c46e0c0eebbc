"""`vjproof validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vjproof.commands.options import DONE, NEGATIVE, Json


def validate(
    forward: Annotated[Path, typer.Argument(metavar="FORWARD", help="StableHLO of a function: text or bytecode.")],
    gradient: Annotated[
        Path,
        typer.Argument(metavar="GRADIENT", help="StableHLO of its gradient: FORWARD's arguments, then cotangents."),
    ],
    wrt: Annotated[
        list[str] | None,
        typer.Option(
            "--wrt", metavar="ARG", help="Argument of FORWARD: place, name or all; may be repeated. [default: 0]"
        ),
    ] = None,
    cotangent: Annotated[
        list[str] | None,
        typer.Option(
            "--cotangent", metavar="ARG", help="Argument of GRADIENT that is the cotangent. [default: the last]"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for certificate and modules, if proved.")
    ] = None,
    json: Json = False,
) -> None:
    """Prove that one module is the gradient of another, or find an input at which it is not.

    Exit status: 0 proved, 1 refuted or not proved, 2 bad input.
    """
    from vjproof.pipeline.validate import validate_modules
    from vjproof.report import terminal, validations

    with terminal.progress("validating"):
        validation = validate_modules(forward, gradient, wrt=wrt or (), cotangent=cotangent or (), out=out)
    validations.print_validation(validation.record(), str(validation), out, as_json=json)
    raise typer.Exit(DONE if validation else NEGATIVE)
