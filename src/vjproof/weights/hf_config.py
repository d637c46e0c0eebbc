"""Hugging Face's config.json and preprocessor_config.json."""

from __future__ import annotations

from vjproof.errors import VjproofError
from vjproof.weights.declared import Declared, Transform
from vjproof.weights.json_file import Fields, printable, shown

MODEL_TYPES = ("vit", "deit", "dinov2", "dinov2_with_registers")
GELU_OF_ACT = {"gelu": "erf", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}
RESAMPLE_OF_NUMBER = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}  # PIL.Image.Resampling
SIZES = {
    "hidden": "hidden_size", "depth": "num_hidden_layers", "mlp": "intermediate_size", "patch": "patch_size",
    "channels": "num_channels",
}  # fmt: skip


def read_hf_config(fields: Fields) -> Declared:
    """Return what a Hugging Face config.json declares; raises VjproofError for networks not supported."""
    family = fields.text("model_type") or ""
    if family and family not in MODEL_TYPES:
        raise fields.wrong("model_type", " or ".join(MODEL_TYPES))
    for flag, needed in (("use_swiglu_ffn", False), ("use_qk_norm", False), ("apply_layernorm", True)):
        if fields.flag(flag) is (not needed):
            raise fields.wrong(flag, str(needed).lower())
    act = fields.text("hidden_act")
    if act is not None and act not in GELU_OF_ACT:
        raise VjproofError(
            f"{fields.where}: hidden_act", expected=" or ".join(GELU_OF_ACT), got=shown(act),
            remedy="this network has another activation and is not supported",
        )  # fmt: skip
    sizes = {ours: value for ours, theirs in SIZES.items() if (value := fields.integer(theirs)) is not None}
    return Declared(
        where=fields.where, family=family, sizes=sizes, image=fields.size("image_size"),
        heads=fields.integer("num_attention_heads"), eps=fields.number("layer_norm_eps"),
        gelu=None if act is None else GELU_OF_ACT[act], pooling="cls", qkv_bias=fields.flag("qkv_bias"),
        classifier=_classifier(fields), labels=_labels(fields),
    )  # fmt: skip


def _classifier(fields: Fields) -> bool | None:
    names = fields.texts("architectures")
    return any("ForImageClassification" in name for name in names) if names else None


def _labels(fields: Fields) -> tuple[str, ...] | None:
    table = fields.section("id2label")
    if table is None:
        return None
    names = table.values
    order = [str(index) for index in range(len(names))]
    if set(names) != set(order) or not all(isinstance(name, str) for name in names.values()):
        raise fields.wrong("id2label", f"the strings of classes 0 to {len(names) - 1}")
    return tuple(printable(names[key]) for key in order)


def read_preprocessor(fields: Fields) -> Transform:
    """Return what a preprocessor_config.json declares."""
    number = fields.integer("resample", low=0, high=5)
    if number is not None and number not in RESAMPLE_OF_NUMBER:
        raise fields.wrong("resample", "0 nearest, 1 lanczos, 2 bilinear or 3 bicubic")
    resize: int | tuple[int, int] | None = None
    if fields.flag("do_resize") is not False:
        edge = fields.section("size") if isinstance(fields.values.get("size"), dict) else None
        resize = edge.integer("shortest_edge", high=65536) if edge else None
        resize = resize or fields.size("size")
    crop = None
    if "crop_size" in fields.values and fields.flag("do_center_crop") is not False:
        crop = fields.size("crop_size")
    if isinstance(resize, tuple) and crop is None:
        crop = resize
    mean, std = fields.numbers("image_mean"), fields.numbers("image_std")
    if fields.flag("do_normalize") is False:
        channels = len(mean) if mean else 3
        mean, std = (0.0,) * channels, (1.0,) * channels
    # Their pixels are 0..255 times a factor, ours lie in [0, 1]: both choices fold into mean and std.
    factor = fields.number("rescale_factor")
    gain = 255.0 if fields.flag("do_rescale") is False else 1.0 if factor is None else round(255.0 * factor, 12)
    if gain <= 0:
        raise fields.wrong("rescale_factor", "a number > 0")
    if gain != 1.0 and mean and std:
        mean, std = tuple(m / gain for m in mean), tuple(s / gain for s in std)
    resample = None if number is None else RESAMPLE_OF_NUMBER[number]
    return Transform(fields.where, crop, resize, resample, mean, std)
