"""Networks in the layouts of timm, Hugging Face and DINOv2."""

from __future__ import annotations

from vjproof.errors import VjproofError
from vjproof.vit.config import Config
from vjproof.vit.params import Params
from vjproof.weights.assemble import assemble, check_tensors
from vjproof.weights.choices import Choices, pair, settle_eps, settle_gelu, settle_heads, settle_pooling
from vjproof.weights.declared import Declared
from vjproof.weights.names import Naming, recognise
from vjproof.weights.plan import plan
from vjproof.weights.report import Notes
from vjproof.weights.sizes import Sizes, measure
from vjproof.weights.tensor_file import TensorFile


def read_foreign(file: TensorFile, declared: Declared, choices: Choices, notes: Notes) -> tuple[Config, Params, bool]:
    """Return the config at the stored grid, the parameters, and whether the file has a classifier."""
    naming = recognise(file.shapes, file.where, notes)
    shapes = {common: file.shapes[name] for common, name in naming.files.items()}
    notes.layout = _layout(naming, declared, notes)
    grid = None if choices.grid is None else pair("grid", choices.grid)
    sizes = measure(naming, shapes, declared, grid, file.where, notes)
    _refuse_heads(naming, sizes, shapes, declared, file.where)
    config = _config(naming, sizes, declared, choices, file.where, notes)
    _describe(config, sizes, file, notes)
    recipes = plan(config, sizes, shapes, declared, notes)
    needed = {naming.file_name(common): shape for recipe in recipes.values() for common, shape in recipe.sources}
    present = {name: file.shapes[name] for name in naming.files.values()}
    check_tensors(needed, present, naming.strangers, file.where)
    if sizes.classes is None:
        notes.assumed.append("the outputs are the pooled features: the file has no classifier")
    return config, assemble(config, recipes, file.read, naming.files, file.where), sizes.classes is not None


def _describe(config: Config, sizes: Sizes, file: TensorFile, notes: Notes) -> None:
    prefix = ", ".join(f"{count} {part}" for part, count in sizes.prefix.items()) or "none"
    notes.recognised.append(
        f"image {config.image_shape}, patch {config.patch}, width {config.hidden}, MLP {config.mlp}, "
        f"depth {config.depth}, prefix tokens {prefix}, stored as {file.stored}"
    )
    if config.layer_scale:
        notes.recognised.append("LayerScale on both branches")
    if config.readout == 2:
        notes.recognised.append("two heads: the outputs are the mean of their logits")
    if sizes.positioned < config.prefix:
        notes.recognised.append(f"{config.prefix - sizes.positioned} prefix tokens without a position")


def _layout(naming: Naming, declared: Declared, notes: Notes) -> str:
    if "dist" in naming.files:
        return "deit"
    meta = any("mask_token" in name for name in notes.ignored)
    meta = meta or naming.files.get("registers", "").endswith("register_tokens")
    if "dinov2" in declared.family or meta or (naming.dialect == "hf" and "blocks.0.scale1" in naming.files):
        return "dinov2"
    return "hf5" if naming.modern else naming.dialect


def _refuse_heads(
    naming: Naming, sizes: Sizes, shapes: dict[str, tuple[int, ...]], declared: Declared, where: str
) -> None:
    if sizes.classes is None and (declared.classifier or "head_dist.weight" in shapes):
        raise VjproofError(where, expected="a classifier", got="missing: the tensors of the (first) head")
    head = shapes.get("head.weight", ())
    if len(head) == 2 and head[1] == 2 * sizes.hidden:
        raise VjproofError(
            f"{where}: {naming.files['head.weight']}", expected=f"a head that reads {sizes.hidden} numbers",
            got=f"{head[1]}: the class token beside the mean of the patches (DINOv2's linear classifier)",
            remedy="this readout is not supported; load the backbone without the classifier",
        )  # fmt: skip
    if "norm.weight" in shapes and "fc_norm.weight" in shapes:
        raise VjproofError(where, expected="one final norm", got="both norm and fc_norm")


def _config(naming: Naming, sizes: Sizes, declared: Declared, choices: Choices, where: str, notes: Notes) -> Config:
    prefix = sum(sizes.prefix.values())
    names = naming.files
    rows, columns = sizes.grid
    pooling = settle_pooling(choices, declared, prefix, "fc_norm.weight" in names, notes)
    readout = 2 if "head_dist.weight" in names else 1
    if readout == 2 and pooling != "cls":
        raise VjproofError("pooling", expected="cls for a network with two heads", got=pooling)
    return Config(
        channels=sizes.channels, height=rows * sizes.patch, width=columns * sizes.patch, patch=sizes.patch,
        hidden=sizes.hidden, heads=settle_heads(choices, declared, sizes.hidden, where, notes), mlp=sizes.mlp,
        depth=sizes.depth, classes=sizes.hidden if sizes.classes is None else sizes.classes,
        eps=settle_eps(choices, declared, notes.layout, naming.dialect, notes),
        gelu=settle_gelu(choices, declared, notes), prefix=prefix, readout=readout, pooling=pooling,
        layer_scale=any(name.endswith((".scale1", ".scale2")) for name in names),
    )  # fmt: skip
