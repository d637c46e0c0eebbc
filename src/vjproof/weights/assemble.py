"""Reading the planned tensors: all names and shapes are compared first, and one error lists what disagrees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from vjproof.errors import VjproofError
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, unflatten
from vjproof.weights.json_file import shown
from vjproof.weights.plan import Recipe
from vjproof.weights.report import listed
from vjproof.weights.sizes import Shape


def check_tensors(
    needed: Mapping[str, Shape], present: Mapping[str, Shape], strangers: Iterable[str], where: str
) -> None:
    """Raise one VjproofError that lists missing, unexpected and wrongly shaped tensors."""
    missing = sorted(name for name in needed if name not in present)
    wrong = [
        f"{name} {shown(present[name])} instead of {shape}"
        for name, shape in sorted(needed.items())
        if name in present and present[name] != shape
    ]
    unexpected = sorted({*strangers, *(name for name in present if name not in needed)})
    parts = [
        f"{kind}: {listed(names)}"
        for kind, names in (("missing", missing), ("unexpected", unexpected), ("wrong shape", wrong))
        if names
    ]
    if parts:
        raise VjproofError(
            where, expected="the tensors of one network", got="; ".join(parts),
            remedy="nothing is filled in: another layout, or an incomplete file",
        )  # fmt: skip


def assemble(
    config: Config, recipes: Mapping[str, Recipe], read: Callable[[str], Array], files: Mapping[str, str], where: str
) -> Params:
    """Return the parameters that the recipes make; raises VjproofError for numbers that are not finite.

    `files` maps common names to names in the file, `read` reads by the latter.
    """
    last: dict[str, Array] = {}

    def tensor(common: str) -> Array:
        name = files[common]
        if name not in last:  # the packed projections are asked for three times in a row
            if len(last) > 1:
                last.pop(next(iter(last)))
            last[name] = read(name)
            refuse_non_finite(last[name], name, where)
        return last[name]

    tensors = {
        name: recipe.build(*(tensor(common) for common, _ in recipe.sources)) for name, recipe in recipes.items()
    }
    return unflatten(config, tensors)


def refuse_non_finite(array: Array, name: str, where: str) -> None:
    """Raise VjproofError when `array` has an infinity or a NaN."""
    import numpy as np

    bad = int(array.size - np.isfinite(array).sum())
    if bad:
        raise VjproofError(
            f"{where}: tensor {shown(name)}", expected="finite numbers",
            got=f"{bad} of {array.size} that are infinite or NaN", remedy="the checkpoint is damaged",
        )  # fmt: skip
