"""docs/stablehlo-subset.md, from the table of operations."""

from __future__ import annotations

HEAD = """# The StableHLO operations that are read

Written by `python tools/generate_docs.py` from `vjproof.stablehlo.subset`; a test keeps it up to date.

`vjproof.read_stablehlo` reads a module as a program over the real numbers: every operation below becomes the lines of
a program that are named beside it. What is not in the table, or is there and comes in another form, is refused by the
operation's name and its line, if a result depends on it. Sizes are those of the module. Two dimensions are the same
axis only if an operation makes them so.

* **Known numbers**: integers, truth values and constant arrays whose numbers do not depend on any argument. They are
  computed while the module is read, and so calls are entered, loops run, branches chosen and places looked up.
* **Literals** are read as the constant that they are the nearest float of, in their own format: a decimal of few
  digits, a small rational, a square root of one, or one of these times a power of sqrt 2 and sqrt pi. What is near to
  none is its own exact value. Each reading is declared (`.literals`).
* **Constant arrays** of many different numbers are inputs of the program (`.captured`), named after their content:
  what is proved then holds for any numbers there.
* **Conversions** between formats of floats are the identity over the real numbers, and declared (`.roundings`).

| operation | read as |
|---|---|
"""


def subset_page() -> str:
    """Return the text of docs/stablehlo-subset.md."""
    from vjproof.stablehlo.subset import SUBSET

    return HEAD + "".join(f"| `{name}` | {entry.words} |\n" for name, entry in SUBSET.items())
