"""Measure how the torch engine's time grows, and its attention against PyTorch's flash kernels: docs/engine-scaling.md.

    python tools/measure_scaling.py

ViT-Tiny/224 with random weights but for its depth or its image. Whatever is compared takes turns; figures are medians.
Nothing else should run meanwhile; on two cores it takes three minutes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from vjproof.bench.models import config_of
from vjproof.engines.torch_chain import block
from vjproof.engines.torch_chain.buffers import BlockActivations, Scratch
from vjproof.engines.torch_chain.threads import spread
from vjproof.engines.torch_engine import TorchEngine
from vjproof.report.bench import table
from vjproof.vit.config import Config
from vjproof.vit.params import map_tensors, random_params

PAGE = Path(__file__).resolve().parents[1] / "docs" / "engine-scaling.md"
DTYPES = ("float32", "bfloat16")
BATCHES, DEPTHS, SIDES = (1, 2, 3, 4, 8, 16, 32, 64), (3, 6, 12, 24), (224, 256, 320, 384, 448, 512)
ROUNDS, BATCH = 9, 8
HEAD = """# How the torch engine's time grows

Written by `python tools/measure_scaling.py`: medians of {rounds} rounds in turns, {cores} cores, load {load:.1f}
before. Random weights; sizes are ViT-Tiny's at 224 pixels, but for what a table varies. How the engine compares with
others is in [benchmarks.md](benchmarks.md). The second of two calls in a turn counts.
"""


def gradients(config: Config, batches: tuple[int, ...]) -> list[Callable[[], Any]]:
    """Return functions that compute the gradient for each batch and dtype, batch by batch."""
    engine, generator = TorchEngine(), np.random.default_rng(0)
    params = map_tensors(lambda tensor: tensor.astype(np.float32), random_params(config, 0))
    prepared = [engine.prepare(config, params, dtype) for dtype in DTYPES]

    def gradient(batch: int, which: int) -> Callable[[], Any]:
        images = generator.standard_normal((batch, *config.image_shape), dtype=np.float32)
        d_logits = np.eye(config.classes, dtype=np.float32)[:batch]
        return lambda: engine.logits_and_gradient(config, prepared[which], images, d_logits)

    return [gradient(batch, which) for batch in batches for which in range(len(DTYPES))]


def attention_pairs(side: int) -> list[Callable[[], Any]]:
    """Return functions that run attention forward and reverse on 8 images: this engine's, PyTorch's, for each dtype."""
    config = replace(config_of("tiny"), height=side, width=side)
    workers = torch.get_num_threads()
    found: list[Callable[[], Any]] = []
    for dtype in (getattr(torch, name) for name in DTYPES):
        tiles = [
            (Scratch(config, size, 1, dtype, torch.float32), BlockActivations(config, size, dtype, torch.float32, True))
            for size in [BATCH // workers] * workers
        ]
        for b, saved in tiles:
            saved.qkv.view.normal_()
            saved.qkv.view[0] *= config.head_width**-0.5  # the engine's queries are scaled
            b.context.view.normal_()

        def ours(tiles: Any = tiles) -> None:
            spread(lambda tile: (block.attend(*tile), block.attend_pullback(*tile)), tiles, workers)

        shape = (BATCH, config.heads, config.tokens, config.head_width)
        leaves = [torch.randn(shape).to(dtype).requires_grad_() for _ in range(3)]
        d_o = torch.randn(shape).to(dtype)

        def flash(leaves: Any = leaves, d_o: Any = d_o) -> None:
            torch.autograd.grad(torch.nn.functional.scaled_dot_product_attention(*leaves), leaves, d_o)

        found += [ours, flash]
    return found


def in_turns(functions: list[Callable[[], Any]]) -> list[float]:
    """Return the median milliseconds of each function, all of them taking turns; a first round does not count.

    Each is called twice in its turn, and the second time counts: OpenMP's threads wait actively for a while after what
    came before, and would take a core from it.
    """
    seconds: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS + 1):
        for times, function in zip(seconds, functions, strict=True):
            function()
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    return [1e3 * median(times[1:]) for times in seconds]


def main() -> None:
    """Measure all and write the page."""
    lines = [HEAD.format(rounds=ROUNDS, cores=os.cpu_count(), load=os.getloadavg()[0])]

    def tell(title: str, heads: tuple[str, ...], rows: list[tuple[str, ...]], words: str = "") -> None:
        lines.extend([f"## {title}", "", *([words, ""] if words else []), *table(heads, rows)])
        print("\n".join(lines), flush=True)

    times = iter(in_turns(gradients(config_of("tiny"), BATCHES)))
    rows = [(str(batch), *(f"{next(times) / batch:.1f}" for _ in DTYPES)) for batch in BATCHES]
    tell("Images", ("images", *(f"{dtype}, ms per image" for dtype in DTYPES)), rows)
    by_depth = [function for depth in DEPTHS for function in gradients(config_of("tiny", depth), (BATCH,))]
    times = iter(in_turns(by_depth))
    rows = [(str(depth), *(f"{next(times) / BATCH / depth:.2f}" for _ in DTYPES)) for depth in DEPTHS]
    heads = ("depth", *(f"{dtype}, ms per image and block" for dtype in DTYPES))
    tell(f"Depth, {BATCH} images", heads, rows, "The last block is a short one, so few blocks cost less each.")
    rows = []
    for side in SIDES:
        ours, flash, low, low_flash = in_turns(attention_pairs(side))
        numbers = (ours, flash, ours / flash, low, low_flash, low / low_flash)
        rows.append((str((side // 16) ** 2 + 1), *(f"{number:.2f}" for number in numbers)))
    heads = ("tokens", *(f"{dtype} {what}" for dtype in DTYPES for what in ("ours, ms", "flash, ms", "ratio")))
    tell(f"Attention alone, forward and reverse, {BATCH} images, 3 heads of 64", heads, rows)
    PAGE.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
