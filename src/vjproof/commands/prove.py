"""`vjproof prove` and `vjproof check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vjproof.commands.options import DONE, NEGATIVE, Json


def prove(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Theorems.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Prove every theorem.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Tell the names and statements, and prove nothing.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the certificates.")] = None,
    json: Json = False,
) -> None:
    """Prove theorems about the code that runs, for all sizes, depths and inputs.

    Exit status: 0 all proved, 1 one is refuted or not proved, 2 bad input.
    """
    from vjproof.pipeline.prove import list_theorems, prove_theorems
    from vjproof.report import terminal, theorems

    if listed:
        theorems.print_list(list_theorems(), as_json=json)
        return
    with terminal.progress("proving") as advance:
        report = prove_theorems(names or (), every=every, out=out, advance=advance)
    theorems.print_theorems(report, as_json=json)
    raise typer.Exit(DONE if all(record["status"] == "proved" for record in report) else NEGATIVE)


def check(
    certificates: Annotated[list[Path], typer.Argument(metavar="CERTIFICATE...", help="Of prove or certify.")],
    json: Json = False,
) -> None:
    """Check certificates, with no search, and that the installed code is what they speak of.

    Of a theorem the proof is replayed; of an enclosure the digests and bounds are computed again from its numbers.

    Exit status: 0 all stand, 1 one is refused, 2 bad input.
    """
    from vjproof.pipeline.check import check_files
    from vjproof.report import terminal, theorems

    with terminal.progress("checking") as advance:
        report = check_files(certificates, advance=advance)
    theorems.print_audits(report, as_json=json)
    raise typer.Exit(NEGATIVE if any(record["reason"] for record in report) else DONE)
