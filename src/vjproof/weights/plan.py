"""How each tensor of `vit.params.Params` is made from the tensors of a file.

timm packs the projections as rows (3, h, dh) of one matrix: queries, keys, values, each head after head. PyTorch stores
dense weights as [out, in]; here they are [in, out].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from vjproof.vit.config import Config
from vjproof.vit.params import Array
from vjproof.weights.declared import Declared
from vjproof.weights.report import Notes
from vjproof.weights.sizes import PREFIX_PARTS, Shape, Sizes


class Recipe(NamedTuple):
    """The file's tensors by common name, each with the shape it must have, and the function of them."""

    sources: tuple[tuple[str, Shape], ...]
    build: Callable[..., Array]


def plan(
    config: Config, sizes: Sizes, present: Mapping[str, Shape], declared: Declared, notes: Notes
) -> dict[str, Recipe]:
    """Return the recipe of each tensor, by its name in `vit.params.named_tensors`.

    `present` has the common names of the file's tensors; `config` is at the stored grid.
    """
    d, kernel = config.hidden, (config.hidden, config.channels, config.patch, config.patch)
    rows = sizes.positioned + config.patches
    norm = "fc_norm" if "fc_norm.weight" in present else "norm"
    parts = tuple((part, (1, sizes.prefix[part], d)) for part in PREFIX_PARTS if part in sizes.prefix)
    recipes = {
        "patch_weight": Recipe((("patch.weight", kernel),), _same),
        "patch_bias": Recipe((("patch.bias", (d,)),), _same),
        "prefix": Recipe(parts, _rows(d)),
        "position": Recipe((("position", (1, rows, d)),), _positions(config.prefix, sizes.positioned)),
        "norm_scale": Recipe(((f"{norm}.weight", (d,)),), _same),
        "norm_bias": Recipe(((f"{norm}.bias", (d,)),), _same),
        **_head(config, sizes),
    }
    biases = _biases(present, sizes.depth, declared, notes)
    for index in range(config.depth):
        for name, recipe in _block(config, f"blocks.{index}.", present, biases):
            recipes[f"blocks.{index}.{name}"] = recipe
    return recipes


def _same(tensor: Array) -> Array:
    return tensor


def _transposed(tensor: Array) -> Array:
    return tensor.T.copy()


def _zeros(*shape: int) -> Recipe:
    def build() -> Array:
        import numpy as np

        return np.zeros(shape, np.float32)

    return Recipe((), build)


def _rows(width: int) -> Callable[..., Array]:
    def build(*parts: Array) -> Array:
        import numpy as np

        return np.concatenate([np.zeros((0, width), np.float32), *(part.reshape(-1, width) for part in parts)])

    return build


def _positions(prefix: int, positioned: int) -> Callable[[Array], Array]:
    """Prefix tokens without a position get a row of zeros."""

    def build(tensor: Array) -> Array:
        import numpy as np

        rows = tensor[0]
        gap = np.zeros((prefix - positioned, rows.shape[1]), rows.dtype)
        return np.concatenate([rows[:positioned], gap, rows[positioned:]])

    return build


def _rows_of(part: int, width: int, turned: bool) -> Callable[[Array], Array]:
    def build(packed: Array) -> Array:
        rows = packed[part * width : (part + 1) * width]
        return (rows.T if turned else rows).copy()

    return build


def _head(config: Config, sizes: Sizes) -> dict[str, Recipe]:
    d, k = config.hidden, config.classes
    if sizes.classes is None:

        def identity() -> Array:
            import numpy as np

            return np.eye(d, dtype=np.float32)

        return {"w_head": Recipe((), identity), "b_head": _zeros(d)}
    names = ("head", "head_dist") if config.readout == 2 else ("head",)

    def mean_of_heads(*weights: Array) -> Array:
        import numpy as np

        return np.concatenate([weight.T for weight in weights]) / weights[0].dtype.type(len(weights))

    def mean(*biases: Array) -> Array:
        return sum(biases[1:], biases[0]) / biases[0].dtype.type(len(biases))

    return {
        "w_head": Recipe(tuple((f"{name}.weight", (k, d)) for name in names), mean_of_heads),
        "b_head": Recipe(tuple((f"{name}.bias", (k,)) for name in names), mean),
    }


def _biases(present: Mapping[str, Shape], depth: int, declared: Declared, notes: Notes) -> set[str]:
    """Return which of qkv, q, k, v have a bias: one that some block has is needed in every block."""
    found = {
        part for part in ("qkv", "q", "k", "v")
        if any(f"blocks.{index}.{part}.bias" in present for index in range(depth))
    }  # fmt: skip
    if declared.qkv_bias is False:
        notes.recognised.append(f"no bias of queries, keys, values ({declared.where}: qkv_bias false)")
        return set()
    if declared.qkv_bias and not found:
        return {"qkv"} if "blocks.0.qkv.weight" in present else {"q", "k", "v"}
    absent = [] if "qkv" in found else [part for part in ("q", "k", "v") if part not in found]
    if absent:
        notes.assumed.append(f"bias of {', '.join(absent)} is 0: the file has none")
    return found


def _block(config: Config, start: str, present: Mapping[str, Shape], biases: set[str]) -> Iterator[tuple[str, Recipe]]:
    d, m = config.hidden, config.mlp

    def dense(name: str, into: int, out: int, to: str) -> Iterator[tuple[str, Recipe]]:
        yield f"w_{to}", Recipe(((f"{start}{name}.weight", (out, into)),), _transposed)
        yield f"b_{to}", Recipe(((f"{start}{name}.bias", (out,)),), _same)

    for number in ("1", "2"):
        yield f"norm{number}_scale", Recipe(((f"{start}norm{number}.weight", (d,)),), _same)
        yield f"norm{number}_bias", Recipe(((f"{start}norm{number}.bias", (d,)),), _same)
        if config.layer_scale:
            yield f"scale{number}", Recipe(((f"{start}scale{number}", (d,)),), _same)
    packed = f"{start}qkv.weight" in present
    for part, name in enumerate("qkv"):
        if packed:
            yield f"w_{name}", Recipe(((f"{start}qkv.weight", (3 * d, d)),), _rows_of(part, d, turned=True))
        else:
            yield f"w_{name}", Recipe(((f"{start}{name}.weight", (d, d)),), _transposed)
        if "qkv" in biases:
            yield f"b_{name}", Recipe(((f"{start}qkv.bias", (3 * d,)),), _rows_of(part, d, turned=False))
        elif name in biases:
            yield f"b_{name}", Recipe(((f"{start}{name}.bias", (d,)),), _same)
        else:
            yield f"b_{name}", _zeros(d)
    yield from dense("o", d, d, "o")
    yield from dense("fc1", d, m, "1")
    yield from dense("fc2", m, d, "2")
