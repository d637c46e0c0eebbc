"""Train the built-in model, a small Vision Transformer on Fashion-MNIST, on two CPU cores.

The forward pass is written here with PyTorch's own operations, independently of `vjproof.vit.model`, and the
two are compared before anything is saved. Training runs matrix products in bfloat16; parameters stay in float32.
The square weights of the blocks are trained by Muon (momentum, orthogonalised), all else by AdamW.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path

import fashion_data
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

from vjproof.images.preprocessing import Preprocessing
from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import Params, map_tensors, named_tensors, shapes, unflatten
from vjproof.weights import save

CONFIG = Config(
    channels=1, height=28, width=28, patch=4, hidden=96, heads=4, mlp=192, depth=4, classes=10,
    eps=1e-6, gelu="erf", pooling="cls",
)  # fmt: skip
BATCH = 128
ADAMW_RATE = 2e-3
MUON_RATE = 0.02
WEIGHT_DECAY = 0.05
LABEL_SMOOTHING = 0.05
WARM_UP = 120
HELD_OUT = 2000


def grid_position() -> torch.Tensor:
    """Return (tokens, D): sines and cosines of each patch's row and column, D/4 frequencies; 0 for the class token."""
    rows, columns = CONFIG.grid
    quarter = CONFIG.hidden // 4
    frequency = 100.0 ** (-torch.arange(quarter) / quarter)
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    angles = [axis.reshape(-1, 1) * frequency for axis in (row, column)]
    waves = torch.cat([wave(angle) for angle in angles for wave in (torch.sin, torch.cos)], dim=1)
    return torch.cat([torch.zeros(CONFIG.prefix, CONFIG.hidden), waves])


def initial_params(generator: torch.Generator) -> Params:
    """Return float32 parameters: dense weights of variance 1 / fan in, norms' scales 1, biases 0.

    What a residual branch adds is smaller by sqrt(2 depth), so that the sum keeps its size.
    """

    def draw(name: str, shape: tuple[int, ...]) -> torch.Tensor:
        leaf = name.rpartition(".")[2]
        if leaf == "position":
            return 0.5 * grid_position()
        if leaf == "prefix":
            return 0.02 * torch.randn(shape, generator=generator)
        if leaf.endswith("scale"):
            return torch.ones(shape)
        if "bias" in leaf or leaf.startswith("b_"):
            return torch.zeros(shape)
        fan_in = math.prod(shape[1:]) if leaf == "patch_weight" else shape[0]
        spread = 1 / math.sqrt(fan_in)
        if leaf in ("w_o", "w_2"):
            spread /= math.sqrt(2 * CONFIG.depth)
        return spread * torch.randn(shape, generator=generator)

    return unflatten(CONFIG, {name: draw(name, shape) for name, shape in named_tensors(shapes(CONFIG))})


def optimisers(params: Params) -> list[torch.optim.Optimizer]:
    """Return AdamW and Muon, which together own every tensor once; vectors do not decay."""
    tensors = dict(named_tensors(params))
    hidden = [tensor for name, tensor in tensors.items() if name.startswith("blocks") and tensor.ndim == 2]
    taken = {id(tensor) for tensor in hidden}
    others = [tensor for tensor in tensors.values() if id(tensor) not in taken]
    groups = [
        {"params": [tensor for tensor in others if tensor.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [tensor for tensor in others if tensor.ndim == 1], "weight_decay": 0.0},
    ]
    return [
        torch.optim.AdamW(groups, lr=ADAMW_RATE, betas=(0.9, 0.99), fused=True),
        torch.optim.Muon(hidden, lr=MUON_RATE, weight_decay=WEIGHT_DECAY, momentum=0.95),
    ]


def logits(params: Params, images: torch.Tensor) -> torch.Tensor:
    """Return the logits (B, K) of normalised images (B, H, W).

    The head reads the first row alone, so the last block works out no other.
    """
    d, p, h, dh = CONFIG.hidden, CONFIG.patch, CONFIG.heads, CONFIG.head_width
    rows, columns = CONFIG.grid
    batch = images.shape[0]

    def norm(x: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (d,), scale, bias, CONFIG.eps)

    patches = images.reshape(batch, rows, p, columns, p).permute(0, 1, 3, 2, 4).reshape(batch, -1, p * p)
    embedded = F.linear(patches, params.patch_weight.reshape(d, p * p), params.patch_bias)
    x = torch.cat([params.prefix.expand(batch, 1, d), embedded], dim=1) + params.position
    for index, block in enumerate(params.blocks):
        y = norm(x, block.norm1_scale, block.norm1_bias)
        if index == CONFIG.depth - 1:
            x = x[:, :1]
        q = F.linear(y[:, : x.shape[1]], block.w_q.T * (1 / math.sqrt(dh)), block.b_q * (1 / math.sqrt(dh)))
        k, v = F.linear(y, block.w_k.T, block.b_k), F.linear(y, block.w_v.T, block.b_v)
        q, k, v = (part.reshape(batch, -1, h, dh).transpose(1, 2) for part in (q, k, v))
        heads = (q @ k.transpose(-1, -2)).softmax(-1) @ v
        x = x + F.linear(heads.transpose(1, 2).reshape(x.shape), block.w_o.T, block.b_o)
        y = norm(x, block.norm2_scale, block.norm2_bias)
        x = x + F.linear(F.gelu(F.linear(y, block.w_1.T, block.b_1)), block.w_2.T, block.b_2)
    return norm(x[:, 0], params.norm_scale, params.norm_bias) @ params.w_head + params.b_head


def augment(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return images (B, H, W), each mirrored left to right half the time."""
    mirrored = torch.randint(0, 2, (len(images), 1, 1), generator=generator).bool()
    return torch.where(mirrored, images.flip(2), images)


def batches(count: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
    """Yield index batches of one shuffled pass over `count` images; a last partial batch is left out."""
    order = torch.randperm(count, generator=generator)
    for start in range(0, count - BATCH + 1, BATCH):
        yield order[start : start + BATCH]


def accuracy(params: Params, images: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the share of images that the float32 network classifies as labelled."""
    with torch.no_grad():
        found = torch.cat([logits(params, part).argmax(1) for part in images.split(500)])
    return float((found == labels).double().mean())


def compare(params: Params, arrays: Params, images: torch.Tensor) -> None:
    """Raise ValueError unless this file's logits agree with the package's for normalised images (B, H, W)."""
    with torch.no_grad():
        here = logits(params, images).numpy()
    there = model.logits(CONFIG, arrays, images[:, None].numpy())
    gap = float(np.abs(here - there).max() / np.abs(there).max())
    if not gap <= 1e-5:
        raise ValueError(f"the two forward passes differ by {gap:.1e}")


def train(images: torch.Tensor, labels: torch.Tensor, seed: int, epochs: int) -> Params:
    """Return the parameters after `epochs` passes: a linear warm-up, then the rates follow a cosine down to zero.

    `images` (n, H, W) normalised, `labels` (n,). The last HELD_OUT images are left out and only watched.
    """
    generator = torch.Generator().manual_seed(seed)
    params = map_tensors(lambda tensor: tensor.requires_grad_(), initial_params(generator))
    tensors = [tensor for _, tensor in named_tensors(params)]
    steppers = optimisers(params)
    count = len(images) - HELD_OUT
    per_epoch = count // BATCH
    rest = epochs * per_epoch - WARM_UP

    def rate(step: int) -> float:
        return (step + 1) / WARM_UP if step < WARM_UP else 0.5 + 0.5 * math.cos(math.pi * (step - WARM_UP) / rest)

    schedules = [torch.optim.lr_scheduler.LambdaLR(stepper, rate) for stepper in steppers]
    started = time.perf_counter()
    for epoch in range(epochs):
        summed = 0.0
        for index in batches(count, generator):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scores = logits(params, augment(images[index], generator))
            loss = F.cross_entropy(scores.float(), labels[index], label_smoothing=LABEL_SMOOTHING)
            for tensor in tensors:
                tensor.grad = None
            loss.backward()
            torch.nn.utils.clip_grad_norm_(tensors, 1.0)
            for stepper, schedule in zip(steppers, schedules, strict=True):
                stepper.step()
                schedule.step()
            summed += float(loss.detach())
        seen = accuracy(params, images[count:], labels[count:])
        print(
            f"epoch {epoch + 1}/{epochs}  loss {summed / per_epoch:.4f}  held out {seen:.4f}  "
            f"{time.perf_counter() - started:.0f} s",
            flush=True,
        )
    return map_tensors(lambda tensor: tensor.detach(), params)


def main() -> None:
    """Train, compare with `vjproof.vit.model`, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=fashion_data.FOLDER, help="folder of the IDX files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--output", type=Path, required=True, help="the safetensors file to write")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)

    data, test = (fashion_data.read_split(arguments.data, name) for name in ("train", "t10k"))
    mean, std = (round(float(value / 255), 6) for value in (data.images.mean(), data.images.std()))

    def normalised(images: np.ndarray) -> torch.Tensor:
        return (torch.tensor(images, dtype=torch.float32) / 255 - mean) / std

    params = train(normalised(data.images), torch.tensor(data.labels).long(), arguments.seed, arguments.epochs)
    found = accuracy(params, normalised(test.images), torch.tensor(test.labels).long())
    arrays = map_tensors(lambda tensor: tensor.numpy(), params)
    compare(params, arrays, normalised(test.images[:64]))
    save(
        arguments.output, CONFIG, arrays, fashion_data.LABELS,
        Preprocessing(size=(28, 28), channels=1, resize=28, resample="bilinear", mean=(mean,), std=(std,)),
        {
            "data": "Fashion-MNIST, first 58,000 training images",
            "licence": "MIT, as the data set",
            "accuracy": f"{found:.4f} on the 10,000 test images",
            "recipe": f"tools/train_fashion.py --seed {arguments.seed} --epochs {arguments.epochs}",
        },
    )  # fmt: skip
    print(f"test accuracy {found:.4f}, saved to {arguments.output}")


if __name__ == "__main__":
    main()
