"""The command line: the commands put together, and what every failure looks like."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from vjproof.commands.bench import bench
from vjproof.commands.certify import certify
from vjproof.commands.enclose_module import enclose_module
from vjproof.commands.explain import explain, models
from vjproof.commands.export import export
from vjproof.commands.options import BAD_INPUT, DONE, INTERRUPTED, NEGATIVE
from vjproof.commands.prove import check, prove
from vjproof.commands.validate import validate
from vjproof.errors import VjproofError

# A usage error is whatever the option parser itself complains of; its class moved between versions of typer.
UsageError: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException" and issubclass(kind, Exception)
)

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="The input gradient of a Vision Transformer in closed form.",
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip


@app.callback(invoke_without_command=True)
def common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """The input gradient of a Vision Transformer in closed form."""
    if version:
        import vjproof

        typer.echo(f"vjproof {vjproof.__version__}")
        raise typer.Exit(DONE)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (explain, certify, enclose_module, export, models, prove, check, validate, bench):
    app.command()(command)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status; every expected failure is one line on stderr."""
    from vjproof.report.terminal import complain

    try:
        status = app(arguments, prog_name="vjproof", standalone_mode=False)
    except VjproofError as problem:
        complain(str(problem))
        return BAD_INPUT
    except UsageError as problem:
        complain(f"{problem.format_message()} (see vjproof --help)")  # type: ignore[attr-defined]
        return BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    if status == INTERRUPTED:  # newer versions of typer return it instead of raising
        complain("interrupted")
    return status if isinstance(status, int) else DONE


def main() -> None:
    """Run the command line of this process."""
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader went away: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = NEGATIVE
    sys.exit(status)
