"""Names of the tensors in the layouts that are read, each with its common name here.

Sources: timm `models/vision_transformer.py` (DINOv2's own checkpoints use the same names), Hugging Face transformers
`models/{vit,deit,dinov2}/modeling_*.py` before version 5 and since. Names of files saved by version 5 are still the old
ones; the new ones appear in a state dict that is saved directly.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from vjproof.errors import VjproofError
from vjproof.weights.json_file import shown
from vjproof.weights.report import Notes, listed

BLOCK = re.compile(r"(?:blocks(?:\.\d{1,6})?|encoder\.layer|layers)\.(\d{1,6})\.(.+)")
ANCHORS = {
    "patch_embed.proj.weight": "timm",
    "embeddings.patch_embeddings.projection.weight": "hf",
}
ENDS = {
    "timm": {
        "cls_token": "cls", "dist_token": "dist", "reg_token": "registers", "register_tokens": "registers",
        "pos_embed": "position", "patch_embed.proj": "patch", "norm": "norm", "fc_norm": "fc_norm", "head": "head",
        "head_dist": "head_dist",
    },
    "hf": {
        "embeddings.cls_token": "cls", "embeddings.distillation_token": "dist",
        "embeddings.register_tokens": "registers", "embeddings.position_embeddings": "position",
        "embeddings.patch_embeddings.projection": "patch", "layernorm": "norm", "classifier": "head",
        "cls_classifier": "head", "distillation_classifier": "head_dist",
    },
}  # fmt: skip
PARTS = {
    "timm": {
        "norm1": "norm1", "norm2": "norm2", "attn.qkv": "qkv", "attn.q_bias": "q.bias", "attn.v_bias": "v.bias",
        "attn.proj": "o", "mlp.fc1": "fc1", "mlp.fc2": "fc2", "ls1.gamma": "scale1", "ls2.gamma": "scale2",
        "gamma_1": "scale1", "gamma_2": "scale2",
    },
    "hf": {
        "layernorm_before": "norm1", "layernorm_after": "norm2", "norm1": "norm1", "norm2": "norm2",
        "attention.attention.query": "q", "attention.attention.key": "k", "attention.attention.value": "v",
        "attention.q_proj": "q", "attention.k_proj": "k", "attention.v_proj": "v",
        "attention.output.dense": "o", "attention.o_proj": "o", "intermediate.dense": "fc1", "output.dense": "fc2",
        "mlp.fc1": "fc1", "mlp.fc2": "fc2", "layer_scale1.lambda1": "scale1", "layer_scale2.lambda1": "scale2",
    },
}  # fmt: skip
UNUSED = re.compile(r"(^|\.)(mask_token|position_ids|num_batches_tracked|pooler\.(dense\.)?(weight|bias))$")
FOREIGN = {
    "normalised queries and keys (qk_norm)": re.compile(r"(q|k|query|key)_(layer)?norm\."),
    "rotary positions (rope)": re.compile(r"rope|rotary|(^|\.)freqs"),
    "a gated MLP (SwiGLU)": re.compile(r"mlp\.(w\d+|weights_in|weights_out|fc1_[gx]|gate_proj)\."),
    "a norm inside the attention or the MLP": re.compile(r"(attn|mlp)\.norm\."),
    "a norm before the blocks": re.compile(r"(^|\.)(norm_pre|pre_layrnorm|patch_embed\.norm)\."),
    "a relative position bias": re.compile(r"relative_position|rel_pos"),
    "attention pooling": re.compile(r"attn_pool\.|head\.probe|attention_pool"),
    "a layer before the head (pre_logits)": re.compile(r"pre_logits\."),
    "a convolutional stem": re.compile(r"patch_embed\.(backbone|conv\d|proj\.\d)\."),
}


@dataclass(frozen=True)
class Naming:
    """`files`: common name -> name in the file; `dialect` is "timm" or "hf", `modern` the names since 5."""

    dialect: str
    modern: bool
    files: dict[str, str]
    strangers: tuple[str, ...]

    @functools.cached_property
    def _neighbours(self) -> dict[str, tuple[str, str]]:
        """Part of a block -> the index of one block that has it, and its name there."""
        blocks = ((BLOCK.fullmatch(common), file) for common, file in self.files.items())
        return {block[2]: (block[1], file) for block, file in blocks if block}

    def file_name(self, common: str) -> str:
        """Return the name in the file of a tensor, also of a missing one (as its neighbours are named)."""
        if common in self.files:
            return self.files[common]
        block = BLOCK.fullmatch(common)
        if block and block[2] in self._neighbours:
            index, file = self._neighbours[block[2]]
            return file.replace(f".{index}.", f".{block[1]}.", 1)
        table, rest = (PARTS, block[2]) if block else (ENDS, common)
        names = {
            theirs + suffix
            for theirs, ours in table[self.dialect].items()
            for suffix in ("", ".weight", ".bias")
            if ours + suffix == rest
        }
        start = f"block {block[1]}: " if block else ""
        return start + " or ".join(sorted(names)) if names else common


def recognise(names: Iterable[str], where: str, notes: Notes) -> Naming:
    """Return the common name of each tensor; unused tensors go to the notes, unknown ones to `strangers`.

    Raises VjproofError for names of no known layout, for features that the model does not have, and for two
    tensors of one meaning.
    """
    names = sorted(names)
    dialect, prefix = _anchor(names, where)
    if prefix:
        notes.recognised.append(f"prefix {shown(prefix)} of the names")
    _refuse_features(names, where)
    files: dict[str, str] = {}
    strangers: list[str] = []
    for name in names:
        common = _common(_stripped(name, prefix), dialect)
        if common is None:
            (notes.ignored if UNUSED.search(name) else strangers).append(name)
        elif common in files:
            raise VjproofError(where, expected="one tensor of each kind", got=listed([files[common], name]))
        else:
            files[common] = name
    modern = any(".q_proj." in name for name in files.values())
    return Naming(dialect, modern, files, tuple(strangers))


def _anchor(names: list[str], where: str) -> tuple[str, str]:
    found = [
        (dialect, name.removesuffix(anchor))
        for name in names
        for anchor, dialect in ANCHORS.items()
        if name == anchor or name.endswith(f".{anchor}")
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise VjproofError(where, expected="one network", got=f"{len(found)} patch embeddings")
    _refuse_features(names, where)
    raise VjproofError(
        where, expected=f"a patch embedding ({' or '.join(ANCHORS)})",
        got=f"{len(names)} tensors: {listed(names)}" if names else "no tensors",
        remedy="the layouts read are timm, Hugging Face ViT, DeiT and DINOv2, and vjproof",
    )  # fmt: skip


def _refuse_features(names: list[str], where: str) -> None:
    for feature, pattern in FOREIGN.items():
        for name in names:
            if pattern.search(name):
                raise VjproofError(
                    where, expected="a plain pre-norm ViT", got=f"{feature}: tensor {shown(name)}",
                    remedy="this network computes something else and is not supported",
                )  # fmt: skip


def _stripped(name: str, prefix: str) -> str:
    """Drop the whole prefix, or the part of it that wraps the classifier too (`module.` of `module.vit.`)."""
    parts = prefix.split(".")[:-1]
    for length in range(len(parts), 0, -1):
        head = ".".join(parts[:length]) + "."
        if name.startswith(head):
            return name[len(head) :]
    return name


def _common(name: str, dialect: str) -> str | None:
    block = BLOCK.fullmatch(name)
    table, rest, start = (PARTS, block[2], f"blocks.{int(block[1])}.") if block else (ENDS, name, "")
    if rest in table[dialect]:
        return start + table[dialect][rest]
    stem, dot, leaf = rest.rpartition(".")
    if dot and leaf in ("weight", "bias") and stem in table[dialect]:
        return f"{start}{table[dialect][stem]}.{leaf}"
    return None
