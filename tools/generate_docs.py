"""Write docs/theorems.md, docs/stablehlo-subset.md and the kernel's table in docs/trust.md.

`--check` only says whether all are up to date.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from vjproof.errors import VjproofError
from vjproof.prover.registry import record_variant, theorems
from vjproof.prover.ties.tie import Tie
from vjproof.stablehlo.subset_page import subset_page

ROOT = Path(__file__).resolve().parents[1]
THEOREMS, TRUST = ROOT / "docs" / "theorems.md", ROOT / "docs" / "trust.md"
SUBSET_PAGE = ROOT / "docs" / "stablehlo-subset.md"
KERNEL = ROOT / "src" / "vjproof" / "kernel"
START, END = "<!-- kernel: written by tools/generate_docs.py -->\n", "<!-- end -->"
RECORDED = ("vjproof.layers.", "vjproof.vit.")
HELPERS = ("vjproof.layers.array", "vjproof.layers.linear_map", "vjproof.vit.config", "vjproof.vit.params")

HEAD = """# The theorems

Written by `python tools/generate_docs.py` from `vjproof.prover.ties`; a test keeps it up to date.

Each theorem is about programs that were recorded by running the functions named below, the ones that compute the
gradient, on arrays with symbolic axes. It holds for every size of every axis (one element or more), for all real
inputs, parameters and cotangents, and where depth occurs, for every depth. "Cases" are declared choices; each is
proved on its own and has a certificate of its own. `vjproof prove NAME` proves one, `vjproof check` checks what
`vjproof prove --all -o FOLDER` wrote.

No theorem here speaks of

* rounding and overflow: programs are read over the real numbers; how far floating point is from that is a question
  for an enclosure, not for a theorem;
* the compiler, the array library and the hardware that run the code;
* the weights, or whether a network is any good;
* inputs at which one side is not defined. Where that can happen the statement has a condition; none here has another
  one than `0 < eps`.

Float literals in the code are read as the constants that they are nearest to (`0.7071067811865476` as
1 / sqrt 2); each certificate lists them. What must be believed is listed in [trust.md](trust.md).
"""


def page() -> str:
    """Return the text of docs/theorems.md."""
    ties = list(theorems().values())
    index = "\n".join(f"| [`{tie.name}`](#{tie.name}) | {_cell(tie.words)} | {len(tie.variants)} |" for tie in ties)
    table = f"| theorem | statement | cases |\n|---|---|---|\n{index}\n"
    return "\n".join([HEAD, table, *map(_section, ties)])


def _section(tie: Tie) -> str:
    seed = f"* The seed's name: `{tie.seed}`\n" if tie.seed else ""
    cases = "; ".join(variant for variant in tie.variants if variant)
    return (
        f"## {tie.name}\n\n{_cell(tie.words)}\n\n    {tie.formula}\n\n{seed}* Hypotheses: {tie.hypotheses}\n"
        + (f"* Cases: {cases}\n" if cases else "")
        + f"* Recorded: {', '.join(f'`{name}`' for name in functions_of(tie)) or 'unknown functions'}\n"
    )


def functions_of(tie: Tie) -> list[str]:
    """Return the layer and network functions that run while a theorem's claims are recorded, by their full names."""
    seen: set[str] = set()
    for variant in tie.variants:
        with _calls(seen):
            try:
                record_variant(tie.name, variant)
            except VjproofError as problem:
                raise SystemExit(f"{tie.name} [{variant}] cannot be recorded: {problem}") from None
    return sorted(seen)


@contextmanager
def _calls(seen: set[str]) -> Iterator[None]:
    """Enter in `seen` the public functions of layers and networks that are called meanwhile."""

    def notice(frame: FrameType, event: str, _: object) -> None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_qualname
        public = name.isidentifier() and not name.startswith("_")
        if event == "call" and module.startswith(RECORDED) and module not in HELPERS and public:
            seen.add(f"{module.removeprefix('vjproof.')}.{name}")

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        yield
    finally:
        sys.setprofile(before)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def kernel_table() -> str:
    """Return the kernel's files, what each holds, and how long it is, as a table."""
    rows, counts = [], []
    for path in sorted(KERNEL.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        counts.append((len(text.splitlines()), code_lines(text)))
        words = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
        rows.append(f"   | `kernel/{path.name}` | {counts[-1][0]} | {counts[-1][1]} | {_cell(words)} |")
    lines, code = map(sum, zip(*counts, strict=True))
    head = ["   | file | lines | of code | what it holds |", "   |---|---|---|---|"]
    return "\n".join([*head, *rows, f"   | in all | {lines} | {code} | |", ""])


def code_lines(source: str) -> int:
    """Return how many lines of a source text are neither blank nor docstring nor comment alone."""
    silent = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            silent |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate((line.strip() for line in source.splitlines()), 1)
    return sum(1 for number, line in lines if line and not line.startswith("#") and number not in silent)


def documents() -> dict[Path, str]:
    """Return what each document must hold."""
    trust = TRUST.read_text(encoding="utf-8")
    before, _, rest = trust.partition(START)
    return {
        THEOREMS: page(),
        SUBSET_PAGE: subset_page(),
        TRUST: f"{before}{START}{kernel_table()}{END}{rest.partition(END)[2]}",
    }


def main() -> int:
    """Write the documents, or with --check return 1 where one differs from what would be written."""
    status = 0
    for path, text in documents().items():
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is out of date: run python tools/generate_docs.py")
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
