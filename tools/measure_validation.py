"""Measure proofs of JAX's gradient of a Vision Transformer at its real sizes: docs/validation-figures.md.

    python tools/measure_validation.py [DEPTH...]    default: 1 2 4 8 12

The network is that of tests/foreign, ViT-Tiny/224 but for its depth; the gradient is with respect to the image and all
parameters. Each row is measured in a process of its own; "load" is that of the machine just before, on so many
processors as the page says.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation-figures.md"
DEPTHS = (1, 2, 4, 8, 12)
HEAD = """# Foreign gradients: measured figures

Written by `python tools/measure_validation.py`. The gradient that `jax.vjp` makes of an independently written
ViT-Tiny/224, with respect to the image and all parameters (8 and 16 for each block), is read, proved, saved and checked
again with the modules; what that means is in [prove-your-custom-vjp.md](prove-your-custom-vjp.md). "Processor" is the
time of all threads; "load" is that of the machine just before, on {processors} processors: where it is not near 0,
seconds are too many.

| GELU | depth | lines | equalities | seconds | processor, s | memory, GB | certificate, MB | check, s | load |
|---|---|---|---|---|---|---|---|---|---|
"""


def measure(depth: int, gelu: str) -> str:
    """Return the row of one network."""
    sys.path.insert(0, str(ROOT))
    from tests.foreign import vit
    from tests.foreign.spellings import SPELLINGS, by_vjp
    from vjproof import validate
    from vjproof.pipeline.check import check_files

    load = os.getloadavg()[0]
    forward = partial(vit.logits, SPELLINGS["tanh" if gelu == "tanh" else "plain"])
    began, processor = time.perf_counter(), time.process_time()
    answer = validate(forward, by_vjp(forward), *vit.structs(vit.TINY_224._replace(depth=depth)), wrt="all")
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if not answer:
        raise SystemExit(str(answer))
    lines = sum(len(answer.certificate["claim"][side]["lines"]) for side in ("forward", "second"))
    with tempfile.TemporaryDirectory() as folder:
        certificate = answer.save(folder)[0]
        size = certificate.stat().st_size / 1e6
        began = time.perf_counter()
        (record,) = check_files([certificate])
        check = time.perf_counter() - began
    if record["reason"] or not record["compared"]:
        raise SystemExit(f"not checked: {record}")
    return (
        f"| {gelu} | {depth} | {lines} | {answer.equalities} | {seconds:.1f} | {processor:.1f} | {memory:.2f} "
        f"| {size:.2f} | {check:.1f} | {load:.1f} |\n"
    )


def main() -> None:
    """Measure the rows and write the page; with --row DEPTH GELU print one row."""
    if sys.argv[1:2] == ["--row"]:
        print(measure(int(sys.argv[2]), sys.argv[3]), end="")
        return
    depths = [int(text) for text in sys.argv[1:]] or DEPTHS
    page = HEAD.format(processors=os.cpu_count())
    for gelu, depth in [*(("erf", depth) for depth in depths), ("tanh", depths[-1])]:
        command = [sys.executable, __file__, "--row", str(depth), gelu]
        row = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(row, end="", flush=True)
        page += row
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
