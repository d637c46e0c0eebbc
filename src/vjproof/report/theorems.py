"""What `prove` and `check` say: a table for people, or one JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vjproof.report.terminal import complain, printable, say, say_json

WIDE = 150  # characters of a table that goes to a file or a pipe

Records = Sequence[Mapping[str, Any]]


def print_theorems(theorems: Records, *, as_json: bool) -> None:
    """Print a table of theorems; what is not proved is told in full below it."""
    if as_json:
        say_json({"theorems": list(theorems)})
        return
    rows = [
        [t["name"], t["words"], t["hypotheses"], f"{t['seconds']:.2f} s", str(t["equalities"]), _status(t)]
        for t in theorems
    ]
    _table({"theorem": "left", "statement": "left", "if": "left", "time": "right", "equal.": "right", "": "left"}, rows)
    proved = sum(t["status"] == "proved" for t in theorems)
    say(f"{proved} of {len(theorems)} proved, {sum(t['equalities'] for t in theorems)} local equalities")
    files = [v["certificate"] for t in theorems for v in t["variants"] if v["certificate"]]
    if files:
        say(f"{len(files)} certificates in {files[0].rpartition('/')[0] or '.'}: vjproof check checks them")
    for theorem in theorems:
        for variant in theorem["variants"]:
            if variant["status"] != "proved":
                complain(f"{theorem['name']} [{variant['variant']}] {variant['status']}: {' '.join(variant['lines'])}")


def _status(theorem: Mapping[str, Any]) -> str:
    variants = theorem["variants"]
    if len(variants) < 2:
        return str(theorem["status"])
    proved = sum(variant["status"] == "proved" for variant in variants)
    return f"{theorem['status']} ({proved}/{len(variants)} cases)"


def print_list(theorems: Records, *, as_json: bool) -> None:
    """Print the names and statements of theorems."""
    if as_json:
        say_json({"theorems": list(theorems)})
        return
    _table({"theorem": "left", "statement": "left"}, [[t["name"], t["words"]] for t in theorems])


def print_audits(audits: Records, *, as_json: bool) -> None:
    """Print what each certificate proves; refusals go to stderr, one line each."""
    if as_json:
        say_json({"certificates": [{**audit, "status": _verdict(audit)} for audit in audits]})
        return
    for audit in audits:
        if audit["reason"]:
            complain(f"{audit['path']}: refused, {audit['reason']}")
            continue
        if audit.get("kind") == "enclosure":
            _print_enclosure(audit)
            continue
        said = f"{audit['theorem']} {audit['variant'] and '[' + audit['variant'] + ']'}".strip()
        say(f"{audit['path']}: {said + ': ' + audit['words'] if said else 'programs of its own'}")
        for line in audit["statement"]:
            say(f"  {line}")
        for line in [*audit["limits"], *(f"read as something else: {text}" for text in _read_as(audit))]:
            say(f"  {line}")
        say(f"  checked; {_same(audit)}")
    stand = sum(not audit["reason"] for audit in audits)
    say(f"{stand} of {len(audits)} certificates stand")


def _same(audit: Mapping[str, Any]) -> str:
    if audit["compared"]:
        return f"{audit['compared']} {'are' if audit['compared'].startswith('the modules') else 'is'} what it speaks of"
    if audit.get("missing"):
        return "the modules that it names are not beside it: not compared with them"
    return "not compared with any installed code"


def _read_as(audit: Mapping[str, Any]) -> list[str]:
    return [line for kind, lines in audit["declared"].items() if kind not in ("guards", "conditions") for line in lines]


def _print_enclosure(audit: Mapping[str, Any]) -> None:
    say(f"{audit['path']}: enclosure")
    for line in audit["statement"]:
        say(f"  {line}")
    say("  digests and bounds agree with the stored numbers; these were not computed again")


def _verdict(audit: Mapping[str, Any]) -> str:
    if audit["reason"]:
        return "refused"
    return "bounded" if audit.get("kind") == "enclosure" else "proved"


def _table(columns: Mapping[str, Any], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, (title, justify) in enumerate(columns.items()):
        table.add_column(title, justify=justify, overflow="fold", ratio=1 if title == "statement" else None,
                         no_wrap=place > 1)  # fmt: skip
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print(table)
