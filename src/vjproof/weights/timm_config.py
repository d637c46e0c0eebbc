"""The config.json of timm's models on a hub: architecture, pretrained_cfg, model_args."""

from __future__ import annotations

import math

from vjproof.errors import VjproofError
from vjproof.weights.declared import Declared, Transform
from vjproof.weights.json_file import Fields, printable, shown

ARGUMENTS = {
    "img_size", "patch_size", "in_chans", "num_classes", "embed_dim", "depth", "num_heads", "mlp_ratio", "qkv_bias",
    "init_values", "class_token", "no_embed_class", "reg_tokens", "pos_embed", "global_pool", "fc_norm", "final_norm",
    "drop_rate", "pos_drop_rate", "patch_drop_rate", "proj_drop_rate", "attn_drop_rate", "drop_path_rate", "act_layer",
    "weight_init", "fix_init", "dynamic_img_size", "dynamic_img_pad", "strict_img_size",
}  # fmt: skip
GELU_OF_ACT = {"gelu": "erf", "gelu_tanh": "tanh"}
POOLING = {"token": "cls", "avg": "norm-mean", "": None}
# What timm's entry points set and no file states, by the architecture's name (models/vision_transformer.py).
OTHER_NETWORKS = {"rope": "rotary positions", "rpn": "norms after the branches"}
HEADS = {
    "vit_base_patch16_gap_224": 16, "vit_huge_patch14_224": 16, "vit_huge_patch14_gap_224": 16,
    "vit_huge_patch16_gap_448": 16, "test_vit": 2, "test_vit2": 2,
}  # fmt: skip
DEPARTING = ("siglip", "clip", "quickgelu", "so150m", "so400m", "aimv2", "eva", "beit", "naflex")


def is_timm(fields: Fields) -> bool:
    """Return whether a config.json has timm's form."""
    return "architecture" in fields.values and "model_type" not in fields.values


def read_timm_config(fields: Fields) -> Declared:
    """Return what timm's config.json declares; raises VjproofError for what a plain ViT does not have."""
    architecture = fields.text("architecture") or ""
    for word, feature in OTHER_NETWORKS.items():
        if word in architecture:
            raise VjproofError(
                f"{fields.where}: architecture", expected="a plain pre-norm ViT",
                got=f"{shown(architecture)}: {feature}",
                remedy="this network computes something else and is not supported",
            )  # fmt: skip
    arguments = fields.section("model_args") or Fields("model_args", {})
    unknown = sorted(set(arguments.values) - ARGUMENTS)
    if unknown:
        raise VjproofError(
            f"{arguments.where}", expected="arguments of a plain ViT", got=shown(unknown[0]),
            remedy="this network may compute something else and is not supported",
        )  # fmt: skip
    pretrained = fields.section("pretrained_cfg") or Fields("pretrained_cfg", {})
    size = _integers(pretrained, "input_size", 3)
    act = arguments.text("act_layer")
    if act is not None and act not in GELU_OF_ACT:
        raise arguments.wrong("act_layer", " or ".join(GELU_OF_ACT))
    pool = arguments.text("global_pool") or fields.text("global_pool") or ""
    if pool not in POOLING:
        raise fields.wrong("global_pool", "token or avg")
    classes = fields.integer("num_classes", low=0)
    sizes = {
        "classes": classes, "channels": arguments.integer("in_chans"),
        "hidden": fields.integer("num_features"), "depth": arguments.integer("depth"),
        "patch": arguments.integer("patch_size"),
    }  # fmt: skip
    return Declared(
        where=fields.where, family=shown(architecture), sizes={key: n for key, n in sizes.items() if n},
        image=arguments.size("img_size") or ((size[1], size[2]) if size else None),
        heads=arguments.integer("num_heads") or HEADS.get(architecture), gelu=_gelu(architecture, act),
        pooling=POOLING[pool],
        qkv_bias=arguments.flag("qkv_bias"), classifier=None if classes is None else classes > 0,
        labels=_labels(pretrained), transform=_transform(pretrained, size),
    )  # fmt: skip


def _gelu(architecture: str, act: str | None) -> str | None:
    if act is not None:
        return GELU_OF_ACT[act]
    # Timm's entry points give these families other activations or norms, which no file states.
    return "unknown" if any(word in architecture for word in DEPARTING) else None


def _integers(fields: Fields, name: str, length: int) -> tuple[int, ...] | None:
    values = fields.numbers(name)
    if values is None:
        return None
    if len(values) != length or not all(value == int(value) and 1 <= value <= 65536 for value in values):
        raise fields.wrong(name, f"{length} whole numbers (channels, height, width)")
    return tuple(int(value) for value in values)


def _labels(pretrained: Fields) -> tuple[str, ...] | None:
    names = pretrained.texts("label_names")
    described = pretrained.section("label_descriptions")
    if names is None or described is None:
        return names
    texts = (described.values.get(name) for name in names)
    return tuple(printable(text) if isinstance(text, str) else name for text, name in zip(texts, names, strict=True))


def _transform(pretrained: Fields, size: tuple[int, ...] | None) -> Transform:
    resample = pretrained.text("interpolation")
    if resample in ("random", ""):
        resample = None
    share = pretrained.number("crop_pct")
    if share is not None and not 0.05 <= share <= 1.0:
        raise pretrained.wrong("crop_pct", "a number from 0.05 to 1")
    mode = pretrained.text("crop_mode") or "center"
    if mode not in ("center", "squash"):
        raise pretrained.wrong("crop_mode", "center or squash")
    crop = (size[1], size[2]) if size else None
    resize: int | tuple[int, int] | None = None
    if crop and share:
        scaled = math.floor(crop[0] / share), math.floor(crop[1] / share)
        resize = scaled if mode == "squash" or scaled[0] != scaled[1] else scaled[0]
    return Transform(
        pretrained.where, crop, resize, resample, pretrained.numbers("mean"), pretrained.numbers("std")
    )  # fmt: skip
