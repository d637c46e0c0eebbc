"""Write docs/mutants.md: what becomes of each systematic mutant of the library's reverse chains."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.prover import kill  # noqa: E402 - the mutants are the tests' own

HEAD = """# Mutants

Each reverse chain of the library is changed in one line, in every way that the kinds below name; the table counts
the sample that the tests take at every run (all mutants: `make test-slow`). Whether a mutant is still the same
function is told by an independent oracle: both programs run on numbers, at several sizes. A mutant that changes the
function is refuted with a counterexample, or reported as not proved; none is proved. "Nowhere defined" are mutants
without a finite value at any point tried, of which a claim says nothing. Written by `tools/mutants.py`.

"""


def main() -> None:
    """Judge the gate's mutants and write the table."""
    table = kill.written(kill.table(kill.gate(), kill.outcome))
    (ROOT / "docs" / "mutants.md").write_text(f"{HEAD}{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
