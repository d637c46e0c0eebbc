"""What commands say: text on stdout for people or one JSON document, complaints and progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import Any

PATIENCE = 2.0  # seconds before a progress bar appears
FULL = 4  # up to so many images are told in full, more of them one line each


def printable(text: str) -> str:
    """Return `text` with control characters spelled out: names of files and classes are not to be trusted."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def say(text: str = "") -> None:
    """Print one line on stdout."""
    _write(sys.stdout, text)


def complain(text: str) -> None:
    """Print one line on stderr, marked as ours."""
    _write(sys.stderr, f"vjproof: {text}")


def _write(stream: Any, text: str) -> None:
    line = printable(text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


@contextmanager
def progress(what: str = "explaining", *, percent: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Give a function (done, total) that shows a bar on stderr, once the work has taken `PATIENCE` seconds."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        TextColumn(what), BarColumn(), TaskProgressColumn() if percent else MofNCompleteColumn(), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    task = bar.add_task(what, total=None)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def print_report(report: Any, *, as_json: bool) -> None:
    """Print what an `explain` did; images that were skipped are named on stderr."""
    if as_json:
        say_json({"results": report.results, "skipped": report.skipped, "loading": report.loading})
    else:
        for result in report.results:
            (_print_full if len(report.results) <= FULL else _print_short)(result)
        for line in report.loading["assumed"]:
            say(f"assumed   {line}")
        say(f"choices   {report.choices}")
    for entry in report.skipped:
        complain(f"skipped {entry['reason']}")


def _print_full(result: Mapping[str, Any]) -> None:
    say(result["image"])
    width = max(len(printable(score["label"])) for score in result["top"])
    for score in result["top"]:
        label = printable(score["label"]).ljust(width)
        say(f"  {score['index']:>5}  {label}  {score['probability']:8.2%}  logit {score['logit']:.4f}")
    say(f"  target   {result['target']} = {result['value']:.6g}")
    for note in result["notes"]:
        say(f"  note     {note}")
    say(f"  picture  {result['picture']}")
    say(f"  arrays   {result['arrays']}")
    if "certificate" in result:
        from vjproof.certification.document import words

        say(f"  error    {words(result['certificate'])}")
        say(f"  checked  by vjproof check {result['certificate_file']}")
    say()


def _print_short(result: Mapping[str, Any]) -> None:
    best = result["top"][0]
    say(f"{result['image']}: {best['label']} {best['probability']:.1%} -> {result['picture']}")


def print_models(models: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print the built-in models."""
    if as_json:
        say_json({"models": list(models)})
        return
    for model in models:
        channels, height, width = model["image"]
        config = model["config"]
        say(f"{model['name']}")
        say(f"  image      {height} x {width}, {'grey' if channels == 1 else 'RGB'}, patches of {config['patch']}")
        say(f"  network    depth {config['depth']}, width {config['hidden']}, {config['heads']} heads,"
            f" {model['parameters']:,} parameters, {model['bytes']:,} bytes")  # fmt: skip
        say(f"  accuracy   {model['metadata'].get('accuracy', 'not stated')}")
        say(f"  classes    {', '.join(model['classes'])}")
        say(f"  sha256     {model['sha256']}")


def say_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout, in ASCII."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")
