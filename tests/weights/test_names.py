"""Names of tensors: prefixes, strangers, features of other networks."""

import pytest

from tests.weights.checkpoints import HF5_PARTS, hugging_face, numbered, timm
from vjproof.errors import VjproofError
from vjproof.weights.names import FOREIGN, recognise
from vjproof.weights.report import Notes

TIMM, HF = sorted(timm(numbered())), sorted(hugging_face(numbered()))
HF5 = sorted(hugging_face(numbered(), HF5_PARTS, blocks="layers"))


@pytest.mark.parametrize("prefix", ["", "model.", "module.", "backbone.", "model.vit.", "_orig_mod.module."])
@pytest.mark.parametrize("names", [TIMM, HF, HF5], ids=["timm", "hf", "hf5"])
def test_a_prefix_is_dropped_and_reported(names, prefix):
    notes = Notes()
    plain = recognise(names, "w", Notes())
    got = recognise([prefix + name for name in names], "w", notes)
    assert got.files.keys() == plain.files.keys()
    assert got.files["patch.weight"].startswith(prefix)
    assert got.strangers == ()
    inner = "vit." if names is not TIMM else ""
    assert notes.recognised == ([f"prefix {prefix}{inner} of the names"] if prefix + inner else [])


def test_the_classifier_may_stand_outside_the_prefix():
    names = [name if name.startswith("head.") else f"backbone.{name}" for name in TIMM]
    assert recognise(names, "w", Notes()).files["head.weight"] == "head.weight"


def test_blocks_in_chunks_are_read():
    names = [name.replace("blocks.", "blocks.0.") for name in TIMM]
    assert recognise(names, "w", Notes()).files["blocks.1.o.bias"] == "blocks.0.1.attn.proj.bias"


def test_unused_tensors_are_ignored_and_strangers_kept():
    notes = Notes()
    extra = ["mask_token", "pooler.dense.weight", "decoder.weight", "text.pooler.x"]
    got = recognise([*TIMM, *extra], "w", notes)
    assert notes.ignored == ["mask_token", "pooler.dense.weight"]
    assert got.strangers == ("decoder.weight", "text.pooler.x")


@pytest.mark.parametrize(
    ("tensor", "feature"),
    [
        ("blocks.0.attn.q_norm.weight", "qk_norm"), ("rope.freqs", "rope"), ("blocks.0.mlp.w12.weight", "SwiGLU"),
        ("blocks.0.mlp.fc1_g.weight", "SwiGLU"), ("blocks.0.attn.norm.weight", "a norm inside"),
        ("norm_pre.weight", "a norm before the blocks"), ("patch_embed.norm.bias", "a norm before the blocks"),
        ("blocks.0.attn.relative_position_bias_table", "relative position bias"), ("attn_pool.q.weight", "pooling"),
        ("pre_logits.fc.weight", "pre_logits"), ("patch_embed.backbone.conv.weight", "convolutional stem"),
    ],
)  # fmt: skip
def test_other_architectures_are_refused_by_name(tensor, feature):
    with pytest.raises(VjproofError, match=f"expected a plain pre-norm ViT, got .*{feature}.*: tensor {tensor}"):
        recognise([*TIMM, tensor], "w", Notes())


def test_no_plain_name_looks_foreign():
    assert not [name for name in [*TIMM, *HF, *HF5] for pattern in FOREIGN.values() if pattern.search(name)]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([], "no tensors"),
        (["conv1.weight", "fc.bias"], r"2 tensors: conv1.weight, fc.bias"),
        ([*TIMM, *(f"teacher.{name}" for name in TIMM)], "expected one network, got 2 patch embeddings"),
        ([*TIMM, *HF], "expected one network"),
        ([*HF, "vit.embeddings.cls_token", "cls_classifier.weight"], "one tensor"),
    ],
)
def test_other_files_are_refused(names, reason):
    with pytest.raises(VjproofError, match=reason):
        recognise(names, "w", Notes())


def test_a_missing_tensor_is_named_as_its_neighbours_are():
    hf5 = recognise(HF5, "w", Notes())
    assert hf5.file_name("blocks.7.q.bias") == "vit.layers.7.attention.q_proj.bias"
    bare = recognise(["patch_embed.proj.weight"], "w", Notes())
    assert bare.file_name("norm.bias") == "norm.bias"
    assert bare.file_name("blocks.0.fc1.weight") == "block 0: mlp.fc1.weight"
