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
* **Choices** by a comparison of values that depend on arguments are settled in two cases. `max(0, x)` is x where x is a
  sum of squares, a variance or the like; an equality of two values that differ at a random point is taken not to hold,
  which is a condition of every statement (`.conditions`). Other choices, as in the gradient of relu, are refused.
* **erf and erfc** that an exporter wrote out as piecewise polynomials are recognised by a rigorous bound of the
  difference over all real numbers (at most 1e-6), and declared with it (`.approximations`). A composite is what its
  decomposition says, whatever its name is.
* **Splits of axes that clash**, such as rows of 2 and rows of 3 of one axis: `read_stablehlo` writes the operation in
  the way as a product with a constant array, which is another input of the program.

A module is parsed by the MLIR bindings of jaxlib in a process of its own, which has a limit of time and memory; how
long a text, how deep its brackets and how many its operations may be is bounded too. Changed modules are run against
XLA by the tests: each is refused, or runs to the same numbers.

| operation | read as |
|---|---|
"""


def subset_page() -> str:
    """Return the text of docs/stablehlo-subset.md."""
    from vjproof.stablehlo.subset import SUBSET

    return HEAD + "".join(f"| `{name}` | {entry.words} |\n" for name, entry in SUBSET.items())
