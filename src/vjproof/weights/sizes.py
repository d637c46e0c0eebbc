"""Sizes of a network from the shapes of its tensors; what shapes cannot tell comes from declarations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vjproof.errors import VjproofError
from vjproof.weights.declared import Declared
from vjproof.weights.names import Naming
from vjproof.weights.positions import square_side
from vjproof.weights.report import Notes, listed

Shape = tuple[int, ...]
DEPTH_LIMIT = 1024  # the deepest published ViT has 56 blocks
PREFIX_PARTS = ("cls", "dist", "registers")


@dataclass(frozen=True)
class Sizes:
    """C, P, D, M, k, K and the tokens: `prefix` maps each kind of prefix token to its count.

    `grid` is the stored positions' (rows, columns); `positioned` prefix rows have a position, the others none.
    `classes` is None when the file has no classifier.
    """

    channels: int
    patch: int
    hidden: int
    mlp: int
    depth: int
    classes: int | None
    prefix: Mapping[str, int]
    grid: tuple[int, int]
    positioned: int


def measure(
    naming: Naming, shapes: Mapping[str, Shape], declared: Declared, grid: tuple[int, int] | None, where: str,
    notes: Notes,
) -> Sizes:  # fmt: skip
    """Return the sizes; `shapes` has the common names. Raises VjproofError where shapes or config disagree."""
    kernel = shapes["patch.weight"]
    if len(kernel) != 4 or kernel[2] != kernel[3] or min(kernel) < 1:
        raise VjproofError(f"{where}: {naming.files['patch.weight']}", expected="shape (D, C, P, P)", got=str(kernel))
    hidden, channels, patch = kernel[:3]
    depth = _depth(shapes, where)
    fc1, head = shapes.get("blocks.0.fc1.weight"), shapes.get("head.weight")
    prefix = {part: _tokens(shapes[part]) for part in PREFIX_PARTS if part in shapes}
    sizes = {
        "channels": channels, "patch": patch, "hidden": hidden, "depth": depth, "mlp": fc1[0] if fc1 else 4 * hidden,
        **({"classes": head[0]} if head else {}),
    }  # fmt: skip
    for name, claim in declared.sizes.items():
        if sizes.get(name, claim) != claim:
            raise VjproofError(
                f"{declared.where}: {name}", expected=f"{sizes[name]} (from the tensors' shapes)", got=str(claim)
            )
    stored, positioned = _grid(shapes.get("position"), prefix, patch, declared, grid, where, notes)
    return Sizes(channels, patch, hidden, sizes["mlp"], depth, head[0] if head else None, prefix, stored, positioned)


def _depth(shapes: Mapping[str, Shape], where: str) -> int:
    indices = {int(name.split(".")[1]) for name in shapes if name.startswith("blocks.")}
    depth = max(indices, default=-1) + 1
    if not 0 < depth <= DEPTH_LIMIT:
        raise VjproofError(where, expected=f"1 to {DEPTH_LIMIT} encoder blocks", got=str(depth or "none"))
    if len(indices) != depth:
        absent = next(index for index in range(depth) if index not in indices)
        raise VjproofError(where, expected=f"blocks 0 to {depth - 1}", got=f"block {absent} missing")
    return depth


def _tokens(shape: Shape) -> int:
    return shape[1] if len(shape) == 3 else 1


def _grid(
    shape: Shape | None, prefix: Mapping[str, int], patch: int, declared: Declared, grid: tuple[int, int] | None,
    where: str, notes: Notes,
) -> tuple[tuple[int, int], int]:  # fmt: skip
    """Return the stored grid and the number of prefix rows that have a position.

    All prefix tokens have one (timm), only the class token (DINOv2 with registers), or none (`no_embed_class`).
    """
    if shape is None or len(shape) != 3 or shape[0] != 1:
        raise VjproofError(where, expected="position embeddings of shape (1, rows, D)", got=str(shape or "none"))
    rows, total = shape[1], sum(prefix.values())
    counts = sorted({total, 0} | ({prefix["cls"]} if {"cls", "registers"} <= prefix.keys() else set()), reverse=True)
    if grid is None and declared.image is not None:
        height, width = declared.image
        if height % patch or width % patch:
            raise VjproofError(
                f"{declared.where}: image size", expected=f"multiples of the patch size {patch}",
                got=f"{height} x {width}",
            )  # fmt: skip
        grid = height // patch, width // patch
    if grid is not None:
        fitting = [count for count in counts if rows - count == grid[0] * grid[1]]
        if not fitting:
            expected = " or ".join(str(grid[0] * grid[1] + count) for count in counts)
            raise VjproofError(
                where, expected=f"{expected} position rows for a grid of {grid[0]} x {grid[1]} patches", got=str(rows)
            )
        return grid, fitting[0]
    squares = [(side, count) for count in counts if (side := square_side(rows - count)) is not None]
    if len(squares) != 1:
        raise VjproofError(
            where, expected="position rows of one square grid of patches",
            got=f"{rows} rows, {listed(sorted(prefix)) or 'no'} prefix tokens",
            remedy="give the patch rows and columns, grid=(rows, columns)",
        )  # fmt: skip
    side, count = squares[0]
    notes.assumed.append(f"a square grid of {side} x {side} patches: {rows} position rows, no size declared")
    return (side, side), count
