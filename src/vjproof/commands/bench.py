"""`vjproof bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vjproof.commands.options import Json


def bench(
    model: Annotated[
        list[str] | None,
        typer.Option(help="tiny, small, base or fashion; repeat it for several (default: all).", show_default=False),
    ] = None,
    batch: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Images at a time; repeat it for several (default: 1, 8, 32).", show_default=False),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each contestant (default: 15).", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Minutes instead of an hour: tiny, no torch.compile.")] = False,
    results: Annotated[Path, typer.Option(help="File of the figures; a run that was ended goes on from it.")] = Path(
        "vjproof-bench.json"
    ),
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure anew what the file holds.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Markdown file for the tables.")] = None,
    json: Json = False,
) -> None:
    """Measure speed and memory against PyTorch, JAX and onnxruntime, in turns, on this machine.

    Nothing else should run meanwhile. Exit status: 0 done, 2 bad input.
    """
    from vjproof.pipeline.bench import make_plan, run_bench
    from vjproof.report import bench as report
    from vjproof.report import terminal

    plan = make_plan(model or (), batch or (), rounds, quick=quick)
    with report.progress() as tell:
        record = run_bench(plan, results, fresh=fresh, tell=tell)
    if out is not None:
        report.write_document(record, out)
    if json:
        terminal.say_json(record)
    else:
        report.print_tables(record)
