"""What `vjproof bench` says: tables in Markdown, for the terminal and for a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from vjproof.bench.contestants import CONTESTANTS, LIMIT
from vjproof.bench.summary import best, ratio, summarise

GOALS = {  # ViT-Tiny at each batch
    "float32 / best float32 peer": 0.78,
    "bfloat16 / best bfloat16 peer": 0.55,
    "bfloat16 / best float32 peer": 0.30,
}
MEMORY_BATCH = 32
MEMORY_GOAL, ROWS_GOAL, WARM_GOAL, COLD_GOAL = 0.6, 3.0, 5.0, 12.0
MIB = 2**20


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """Give a function (what is done, parts done, parts in all) that shows it on stderr: a bar, or a line per part."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        told = {-1}

        def tell(what: str, done: int, count: int) -> None:
            bar.update(task, completed=done, total=count, description=what)
            if not console.is_terminal and done not in told:
                told.add(done)
                sys.stderr.write(f"{done} of {count}: {what}\n")

        yield tell


def print_tables(record: Mapping[str, Any]) -> None:
    """Print the tables on stdout."""
    sys.stdout.write(document(record))


def write_document(record: Mapping[str, Any], path: Path) -> None:
    """Write the tables to a Markdown file; raises VjproofError where that cannot be done."""
    from vjproof.errors import VjproofError
    from vjproof.files import bytes_writer, write_together

    try:
        write_together({path: bytes_writer(document(record).encode())})
    except OSError as problem:
        raise VjproofError(str(path), expected="a place to write", got=problem.strerror or str(problem)) from None


def document(record: Mapping[str, Any]) -> str:
    """Return all tables, goals first."""
    machine, plan = record["machine"], record["plan"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    command = "vjproof bench --quick" if plan["quick"] else "vjproof bench"
    lines = [
        "# Benchmarks", "",
        f"Written by `{command}`. Every contestant runs in a process of its own; they take turns,",
        f"{plan['rounds']} rounds. Figures are medians over the rounds; a ratio is taken within each round, and its",
        "median told. Only ratios count on a machine that does other work: the load around each table says how",
        "much it did.", "",
        f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}, {versions}.", "",
    ]  # fmt: skip
    lines += goals(record)
    for model in plan["models"]:
        lines += [f"## {model}", ""]
        for batch in plan["batches"]:
            lines += _times(record["parts"].get(f"{model} batch {batch}"))
        lines += _probes(record["parts"].get(f"{model} probes"))
        lines += _rows(record["parts"].get(f"{model} cotangents"))
        lines += _explain(record["parts"].get(f"{model} explain"))
    lines += ["## Contestants", "", *table(("name", "what it is"), [(one.name, one.words) for one in CONTESTANTS])]
    lines += [f"Not measured: {name}: {why}." for name, why in record["absent"].items()]
    return "\n".join(lines).rstrip() + "\n"


def goals(record: Mapping[str, Any]) -> list[str]:
    """Return the table of what was aimed at, for ViT-Tiny, and what was reached."""
    rows = []

    def row(what: str, limit: float, value: float | None, more: bool = False) -> None:
        if value is not None:
            met = value >= limit if more else value <= limit
            rows.append(
                (what, f"{'at least' if more else 'at most'} {limit:g}", f"{value:.3g}", "met" if met else "missed")
            )

    parts = record["parts"]
    for batch in record["plan"]["batches"]:
        group = parts.get(f"tiny batch {batch}")
        for name, limit in GOALS.items() if group else ():
            row(f"{name}, batch {batch}", limit, summarise(group)["ratios"][name])
    probes = parts.get("tiny probes", {})
    for dtype in ("float32", "bfloat16"):
        ours, peer = (probes.get(f"{name} {dtype}", {}) for name in ("vjproof torch", "torch autograd"))
        if min(ours.get("batch", 0), peer.get("batch", 0)) >= MEMORY_BATCH:
            what = f"peak memory / torch autograd's, {dtype}, batch {ours['batch']}"
            row(what, MEMORY_GOAL, ours["peak"] / peer["peak"])
    count = parts.get("tiny cotangents", {}).get("count", 0)
    single = parts.get("tiny batch 1", {}).get("seconds", {})
    many = parts.get("tiny cotangents", {}).get("seconds", {})
    peer_name = best(single, "peer", "float32")
    for dtype in ("float32", "bfloat16"):
        quickest = best(many, "ours", dtype)
        if quickest and peer_name:
            faster = count * median(single[peer_name]) / median(many[quickest])
            row(
                f"{count} cotangents, {dtype}: times faster than {count} VJPs of the best peer",
                ROWS_GOAL,
                faster,
                more=True,
            )
    row("the same / the best peer's batched form, float32", 1.0, ratio(
        many, best(many, "ours", "float32"), best(many, "peer", "float32")))  # fmt: skip
    waits = parts.get("tiny explain", {}).get("auto")
    if waits:
        row("first result of explain, cold, seconds", COLD_GOAL, waits["cold"])
        row("first result of explain, warm, seconds", WARM_GOAL, median(waits["warm"]))
    return ["## Goals, ViT-Tiny", "", *table(("what", "goal", "measured", ""), rows)] if rows else []


def _times(group: Mapping[str, Any] | None) -> list[str]:
    if not group:
        return []
    told = summarise(group)
    first = group["first"]
    rows = [
        (name, f"{value:.2f}", f"{1e3 * min(group['seconds'][name]) / group['batch']:.2f}", f"{first[name]:.2f}")
        for name, value in sorted(told["milliseconds"].items(), key=lambda item: item[1])
    ]
    lines = [f"### Batch {group['batch']}", ""]
    lines += table(("contestant", "ms per image, median", "least", "first run, s"), rows)
    lines += table(("ratio", "median"), [(name, f"{r:.3f}") for name, r in told["ratios"].items() if r is not None])
    lines += [f"{name} failed: {why}." for name, why in group["failed"].items()]
    return [*lines, f"Load average {group['load'][0]} before, {group['load'][1]} after.", ""]


def _probes(probes: Mapping[str, Any] | None) -> list[str]:
    limits = {one.name for one in CONTESTANTS if one.kind == LIMIT}
    rows = [
        (name, f"{p['error']:.1e}", *(f"{size / MIB:.0f}" for size in (p["peak"], p["peak"] - p["loaded"])),
         f"{p['cold']:.1f}")
        for name, p in (probes or {}).items() if name not in limits and "failed" not in p
    ]  # fmt: skip
    if not rows:
        return []
    batch = next(p["batch"] for p in (probes or {}).values() if "batch" in p)
    heads = (
        "contestant",
        "relative error",
        f"peak MiB at batch {batch}",
        "above the loaded network",
        "launch to first, s",
    )
    lines = ["### Error, memory, start", "", *table(heads, rows)]
    lines += [f"{name} failed: {p['failed']}." for name, p in (probes or {}).items() if "failed" in p]
    return [*lines, "The error is the norm's, against float64, at one image: a measurement, no bound.", ""]


def _rows(group: Mapping[str, Any] | None) -> list[str]:
    if not group or not group["seconds"]:
        return []
    rows = [(name, f"{median(times):.2f}") for name, times in group["seconds"].items() if times]
    lines = [f"### {group['count']} cotangents at one image", "", *table(("contestant, batched form", "seconds"), rows)]
    return lines + [f"{name} failed: {why}." for name, why in group["failed"].items()] + [""]


def _explain(waits: Mapping[str, Any] | None) -> list[str]:
    rows = [(name, f"{w['cold']:.1f}", f"{median(w['warm']):.1f}") for name, w in (waits or {}).items() if w["warm"]]
    heads = ("engine", "cold, s", "warm, s")
    return ["### First result of `vjproof explain`", "", *table(heads, rows)] if rows else []


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table, and an empty line."""
    return [*("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows)), ""]
