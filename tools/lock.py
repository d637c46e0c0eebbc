"""Write requirements/*.txt: the exact versions that `make setup`, `make test` and `make lint` install.

Each stage is resolved in one new virtual environment on top of the stage before, so that no two disagree.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TORCH = "torch==2.13.0"
STAGES = (
    ("build", ["hatchling", "editables"]),
    ("base", ["-e", "."]),
    ("test", [TORCH, "-e", ".[test]"]),
    ("lint", ["-e", ".[lint]"]),
)


def pinned(frozen: str) -> list[str]:
    """Return the `name==version` lines of `pip freeze`, without local version parts, paths and this package."""
    lines = (re.sub(r"^([\w.-]+==[^+\s]+)(\+\S+)?$", r"\1", line) for line in frozen.splitlines())
    return sorted((line for line in lines if re.fullmatch(r"[\w.-]+==[\w.!]+", line)), key=str.lower)


def main() -> None:
    """Resolve each stage and write what is new in it, after a reference to the stage before."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [str(Path(folder) / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        known: list[str] = []
        before = ""
        for stage, wanted in STAGES:
            subprocess.run(
                [*pip, "install", "--quiet", "--upgrade", "--upgrade-strategy", "eager", *wanted]
                if not before
                else [*pip, "install", "--quiet", "-c", str(ROOT / "requirements" / f"{before}.txt"), *wanted],
                check=True, cwd=ROOT,
            )  # fmt: skip
            frozen = subprocess.run([*pip, "freeze", "--exclude-editable"], check=True, capture_output=True, text=True)
            versions = pinned(frozen.stdout)
            head = ["# Written by `make lock`."] + ([f"-c {before}.txt"] if before else [])
            new = [line for line in versions if line not in known]
            (ROOT / "requirements" / f"{stage}.txt").write_text("\n".join([*head, *new]) + "\n")
            print(f"requirements/{stage}.txt: {len(new)} packages")
            known, before = versions, stage


if __name__ == "__main__":
    main()
