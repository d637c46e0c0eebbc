"""Small checkpoints in each layout, written by hand from numbered parameters: every weight is another integer."""

import json

import numpy as np
from safetensors.numpy import save_file

from vjproof.vit.config import Config
from vjproof.vit.params import named_tensors, shapes, unflatten

CONFIG = Config(3, 8, 12, 4, 6, 2, 10, 2, 5, 1e-6, "erf")  # D = 6, h = 2, a grid of 2 x 3 patches
HF_PARTS = {
    "q": "attention.attention.query", "k": "attention.attention.key", "v": "attention.attention.value",
    "o": "attention.output.dense", "1": "intermediate.dense", "2": "output.dense",
    "norm1": "layernorm_before", "norm2": "layernorm_after",
}  # fmt: skip
HF5_PARTS = HF_PARTS | {
    "q": "attention.q_proj", "k": "attention.k_proj", "v": "attention.v_proj", "o": "attention.o_proj",
    "1": "mlp.fc1", "2": "mlp.fc2",
}  # fmt: skip
DINOV2_PARTS = HF_PARTS | {"1": "mlp.fc1", "2": "mlp.fc2", "norm1": "norm1", "norm2": "norm2"}


def numbered(config=CONFIG):
    """Parameters whose entries are 0, 1, 2, ... in the order of `named_tensors`, float32 (exact)."""
    tensors, count = {}, 0
    for name, shape in named_tensors(shapes(config)):
        size = int(np.prod(shape))
        tensors[name] = np.arange(count, count + size, dtype=np.float32).reshape(shape)
        count += size
    return unflatten(config, tensors)


def _ends(params, names):
    patch, norm, head = names
    return {
        f"{patch}.weight": params.patch_weight, f"{patch}.bias": params.patch_bias,
        f"{norm}.weight": params.norm_scale, f"{norm}.bias": params.norm_bias,
        f"{head}.weight": params.w_head.T, f"{head}.bias": params.b_head,
    }  # fmt: skip


def timm(params, norm="norm"):
    state = _ends(params, ("patch_embed.proj", norm, "head"))
    state |= {"cls_token": params.prefix[None, :1], "pos_embed": params.position[None]}
    for i, b in enumerate(params.blocks):
        state |= {
            f"blocks.{i}.norm1.weight": b.norm1_scale, f"blocks.{i}.norm1.bias": b.norm1_bias,
            f"blocks.{i}.attn.qkv.weight": np.concatenate([b.w_q.T, b.w_k.T, b.w_v.T]),
            f"blocks.{i}.attn.qkv.bias": np.concatenate([b.b_q, b.b_k, b.b_v]),
            f"blocks.{i}.attn.proj.weight": b.w_o.T, f"blocks.{i}.attn.proj.bias": b.b_o,
            f"blocks.{i}.norm2.weight": b.norm2_scale, f"blocks.{i}.norm2.bias": b.norm2_bias,
            f"blocks.{i}.mlp.fc1.weight": b.w_1.T, f"blocks.{i}.mlp.fc1.bias": b.b_1,
            f"blocks.{i}.mlp.fc2.weight": b.w_2.T, f"blocks.{i}.mlp.fc2.bias": b.b_2,
        }  # fmt: skip
        if b.scale1 is not None:
            state |= {f"blocks.{i}.ls1.gamma": b.scale1, f"blocks.{i}.ls2.gamma": b.scale2}
    return state


def hugging_face(params, parts=HF_PARTS, base="vit.", blocks="encoder.layer"):
    state = _ends(params, (f"{base}embeddings.patch_embeddings.projection", f"{base}layernorm", "classifier"))
    state |= {
        f"{base}embeddings.cls_token": params.prefix[None, :1],
        f"{base}embeddings.position_embeddings": params.position[None],
    }
    for i, b in enumerate(params.blocks):
        start = f"{base}{blocks}.{i}."
        for part in ("q", "k", "v", "o", "1", "2"):
            state[f"{start}{parts[part]}.weight"] = getattr(b, f"w_{part}").T
            state[f"{start}{parts[part]}.bias"] = getattr(b, f"b_{part}")
        for norm in ("norm1", "norm2"):
            state[f"{start}{parts[norm]}.weight"] = getattr(b, f"{norm}_scale")
            state[f"{start}{parts[norm]}.bias"] = getattr(b, f"{norm}_bias")
        if b.scale1 is not None:
            state |= {f"{start}layer_scale1.lambda1": b.scale1, f"{start}layer_scale2.lambda1": b.scale2}
    return state


def write(path, state, metadata=None):
    """Write a state dict and return the path."""
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in state.items()}, path, metadata)
    return path


def write_folder(folder, state, config, preprocessor=None):
    """Write model.safetensors with its JSON files and return the folder."""
    write(folder / "model.safetensors", state)
    (folder / "config.json").write_text(json.dumps(config))
    if preprocessor is not None:
        (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    return folder


def hf_config(config=CONFIG, **changes):
    """A Hugging Face config.json for `config`."""
    return {
        "model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": config.hidden,
        "num_hidden_layers": config.depth, "num_attention_heads": config.heads, "intermediate_size": config.mlp,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "image_size": [config.height, config.width],
        "patch_size": config.patch, "num_channels": config.channels, "qkv_bias": True,
        "id2label": {str(i): f"class {i}" for i in range(config.classes)},
    } | changes  # fmt: skip


def same(got, expected):
    """Names of the tensors that differ; empty when all agree exactly, shapes and dtypes included."""
    left, right = dict(named_tensors(got)), dict(named_tensors(expected))
    return [
        name for name in sorted(left.keys() | right.keys())
        if name not in left or name not in right or left[name].shape != right[name].shape
        or left[name].dtype != right[name].dtype or not np.array_equal(left[name], right[name])
    ]  # fmt: skip
