"""`vjproof enclose-module`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vjproof.commands.options import Json


def enclose_module(
    module: Annotated[Path, typer.Argument(help="StableHLO: text, bytecode or a portable artifact.")],
    arrays: Annotated[list[Path], typer.Argument(metavar="ARRAY...", help="A .npy file for each argument.")],
    result: Annotated[
        list[Path] | None, typer.Option(help="A .npy file for each result, computed anywhere: bound its error.")
    ] = None,
    function: Annotated[str, typer.Option(help="The function of the module.")] = "main",
    effects: Annotated[
        bool, typer.Option("--effects", help="Bound what it changes to read each literal as a constant.")
    ] = False,
    bits: Annotated[int | None, typer.Option(help="Precision; by default the one that is needed is found.")] = None,
    json: Json = False,
) -> None:
    """Enclose what a StableHLO module computes, as it is written, on given arrays.

    Exit status: 0 done, 2 bad input or no bound.
    """
    from vjproof.pipeline.enclose_module import enclose_file
    from vjproof.report import terminal
    from vjproof.report.certification import print_module

    with terminal.progress("enclosing", percent=True) as advance:
        record = enclose_file(
            module, arrays, results=result or (), function=function, effects=effects, bits=bits,
            advance=lambda share: advance(round(1000 * share), 1000),
        )  # fmt: skip
    print_module(record, as_json=json)
