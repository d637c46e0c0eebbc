"""The program of one network, logits and input gradient, with the sizes of its config."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from vjproof.errors import VjproofError
from vjproof.kernel.program import Program
from vjproof.program.recorder import Tape
from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import named_tensors, shapes, unflatten


@lru_cache(maxsize=8)
def network_program(config: Config, lead: tuple[tuple[str, int | None], ...] = ()) -> Program:
    """Return the program of `vit.model.logits_and_gradient` for one image: inputs eps, the parameters, x and d.

    x (C, H, W), d (K,); outputs logits (K,) and gradient (C, H, W). `lead` names axes that x, d and the outputs have in
    front of these, with their sizes (None: symbolic). VjproofError for a network without prefix rows.
    """
    if config.prefix < 1:
        raise VjproofError("a network as a program", expected="at least one prefix token (CLS)", got="none")
    rows, columns = config.grid
    tape = Tape(
        {"C": config.channels, "r": rows, "s": columns, "P": config.patch, "h": config.heads, "c": config.head_width,
         "M": config.mlp, "K": config.classes}
    )  # fmt: skip
    size = {name: tape.axis(name) for name in tape.axes}
    patches, height, width = size["r"] * size["s"], size["r"] * size["P"], size["s"] * size["P"]
    symbolic: Any = SimpleNamespace(
        channels=size["C"], height=height, width=width, patch=size["P"], hidden=size["h"] * size["c"],
        heads=size["h"], head_width=size["c"], mlp=size["M"], depth=config.depth, classes=size["K"],
        eps=tape.input("eps", ()), gelu=config.gelu, prefix=config.prefix, readout=config.readout,
        pooling=config.pooling, layer_scale=config.layer_scale, grid=(size["r"], size["s"]), patches=patches,
        tokens=config.prefix + patches, image_shape=(size["C"], height, width),
    )  # fmt: skip
    names = named_tensors(shapes(symbolic))
    params = unflatten(config, {name: tape.input(name, shape) for name, shape in names})
    before = tuple(tape.axis(name, count) for name, count in lead)
    image, d_logits = tape.input("x", (*before, *symbolic.image_shape)), tape.input("d", (*before, size["K"]))
    return tape.program(model.logits_and_gradient(symbolic, params, image, d_logits))
