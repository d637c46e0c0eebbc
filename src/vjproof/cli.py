"""The command line: arguments and printing only."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from vjproof.errors import VjproofError

DONE, NEGATIVE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
# A usage error is whatever the option parser itself complains of; its class moved between versions of typer.
UsageError: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException" and issubclass(kind, Exception)
)

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="The input gradient of a Vision Transformer in closed form.",
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


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


@app.command()
def explain(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE", help="Pictures, or folders of pictures.")],
    model: Annotated[str, typer.Option(help="A built-in model, a weights file, or a folder.")] = "fashion",
    target: Annotated[
        list[str], typer.Option(help="top1, a class index or name, or margin:A-B; repeat it to give one per image.")
    ] = ["top1"],  # noqa: B006 - typer reads the default from the signature
    engine: Annotated[str, typer.Option(help="auto, numpy or jax.")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32 or float64.")] = "float32",
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
    from vjproof.pipeline import explain_images
    from vjproof.report import terminal

    given: dict[str, Any] = {"heads": heads, "eps": eps, "gelu": gelu, "image_size": parse_size(image_size)}
    with terminal.progress() as advance:
        report = explain_images(
            images, model=model, targets=target, out=out, engine=engine, dtype=dtype, scale=scale, top=top,
            recursive=recursive, advance=advance, **{name: value for name, value in given.items() if value is not None},
        )  # fmt: skip
    terminal.print_report(report, as_json=json)
    raise typer.Exit(NEGATIVE if report.skipped else DONE)


@app.command()
def certify(
    model: Annotated[str, typer.Argument(help="A built-in model, a weights file, or a folder.")],
    image: Annotated[Path, typer.Argument(help="A picture.")],
    target: Annotated[str, typer.Option(help="top1, a class index or name, or margin:A-B.")] = "top1",
    engine: Annotated[str, typer.Option(help="auto, numpy or jax.")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32 or float64.")] = "float32",
    gradient: Annotated[Path | None, typer.Option(help="A .npy file: certify this array, and run no engine.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the JSON certificate.")] = None,
    json: Json = False,
) -> None:
    """Bound the error of a computed gradient against the exact one, rigorously.

    Exit status: 0 done, 2 bad input or no bound.
    """
    from vjproof.pipeline import certify_image
    from vjproof.report.certification import print_certification

    record = certify_image(model, image, target=target, engine=engine, dtype=dtype, gradient=gradient, output=output)
    print_certification(record, as_json=json)


@app.command()
def models(json: Json = False) -> None:
    """List the built-in models."""
    from vjproof.pipeline import list_models
    from vjproof.report import terminal

    terminal.print_models(list_models(), as_json=json)


@app.command()
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
    from vjproof.pipeline import list_theorems, prove_theorems
    from vjproof.report import terminal, theorems

    if listed:
        theorems.print_list(list_theorems(), as_json=json)
        return
    with terminal.progress("proving") as advance:
        report = prove_theorems(names or (), every=every, out=out, advance=advance)
    theorems.print_theorems(report, as_json=json)
    raise typer.Exit(DONE if all(record["status"] == "proved" for record in report) else NEGATIVE)


@app.command()
def check(
    certificates: Annotated[list[Path], typer.Argument(metavar="CERTIFICATE...", help="Files that prove wrote.")],
    json: Json = False,
) -> None:
    """Check certificates, with no search, and that the installed code is what they speak of.

    Exit status: 0 all stand, 1 one is refused, 2 bad input.
    """
    from vjproof.pipeline import check_certificates
    from vjproof.report import terminal, theorems

    with terminal.progress("checking") as advance:
        report = check_certificates(certificates, advance=advance)
    theorems.print_audits(report, as_json=json)
    raise typer.Exit(NEGATIVE if any(record["reason"] for record in report) else DONE)


def parse_size(text: str | None) -> tuple[int, int] | None:
    """Return (height, width) for `SIDE` or `HEIGHTxWIDTH`; raises VjproofError for anything else."""
    if text is None:
        return None
    sides = text.lower().split("x")
    if len(sides) > 2 or not all(side.isascii() and side.isdigit() and len(side) < 6 for side in sides):
        raise VjproofError("--image-size", expected="SIDE or HEIGHTxWIDTH in pixels", got=repr(text[:40]))
    return int(sides[0]), int(sides[-1])


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
