"""StableHLO modules of networks: forms, batches, versions, and how the error function is kept."""

import re

import jax
import jax.export
import numpy as np
import pytest

from tests.compare import assert_close
from tests.nets import GRID, POOLINGS, SHAPES, draw, make_config
from vjproof.errors import VjproofError
from vjproof.stablehlo import portable
from vjproof.stablehlo.composites import keep_special_functions
from vjproof.stablehlo.export import export_module
from vjproof.vit import model
from vjproof.vit.params import map_tensors, named_tensors

SMALL = make_config(depth=1)


def rounded(config, batch):
    """Parameters, images and cotangents that float32 holds exactly."""
    params, images, d_logits = draw(config, batch)
    params = map_tensors(lambda t: t.astype(np.float32).astype(float), params)
    return params, images.astype(np.float32), d_logits.astype(np.float32)


def call(module, *arguments):
    return np.asarray(jax.export.deserialize(bytearray(module.exported)).call(*arguments))


def in_float64(config, params, images, d_logits):
    return model.logits_and_gradient(config, params, images.astype(float), d_logits.astype(float))


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(
    "config",
    [
        make_config(SHAPES[1], depth=1, gelu="tanh", pooling=POOLINGS[5], layer_scale=True),
        make_config(SHAPES[3], depth=2, pooling=POOLINGS[1], eps=1e-12),
        make_config(SHAPES[2], depth=0, pooling=POOLINGS[3]),
    ],
    ids=["tanh-mean-no-prefix-scaled", "erf-two-rows", "no-blocks"],
)
def test_the_chain_runs_from_the_module(config, fixed):
    params, images, d_logits = rounded(config, 3)
    logits, gradient = in_float64(config, params, images, d_logits)
    batch = 3 if fixed else None
    assert_close(call(export_module(config, params, "forward", batch=batch), images), logits, 2e-5)
    assert_close(call(export_module(config, params, "gradient", batch=batch), images, d_logits), gradient, 2e-5)


def test_one_module_takes_every_batch_and_says_so_of_others():
    params, images, d_logits = rounded(SMALL, 7)
    module = export_module(SMALL, params, "gradient")
    whole = in_float64(SMALL, params, images, d_logits)[1]
    for batch in (1, 3, 7):
        assert_close(call(module, images[:batch], d_logits[:batch]), whole[:batch], 2e-5)
    for arguments in ((images[:0], d_logits[:0]), (images[:3], d_logits[:2])):
        with pytest.raises(ValueError, match="polymorphic shape"):
            call(module, *arguments)


def test_a_wrong_module_is_told_apart():
    params, images, d_logits = rounded(SMALL, 2)
    other = params._replace(norm_scale=params.norm_scale * 1.001)
    wanted = in_float64(SMALL, params, images, d_logits)[1]
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(call(export_module(SMALL, other, "gradient", batch=2), images, d_logits), wanted, 2e-5)


@pytest.mark.parametrize("batch", [None, 2])
def test_weights_can_be_arguments_also_those_that_are_not_read(batch):
    params, images, d_logits = rounded(SMALL, 2)
    weights = {name: np.asarray(tensor, np.float32) for name, tensor in named_tensors(params)}
    module = export_module(SMALL, params, "gradient", batch=batch, weights_inside=False)
    wanted = in_float64(SMALL, params, images, d_logits)[1]
    assert_close(call(module, images, weights, d_logits), wanted, 2e-5)
    main = next(line for line in module.text.splitlines() if "@main" in line)
    assert len(re.findall(r"%arg\d+:", main)) == 2 + len(weights)
    assert 'dense<"0x' not in module.text


@pytest.mark.parametrize(("config", "erfs"), [(make_config(depth=3), 3), (make_config(depth=3, gelu="tanh"), 0)])
def test_a_fixed_batch_keeps_the_error_function(config, erfs):
    module = export_module(config, draw(config, 1)[0], "gradient", batch=2)
    assert len(re.findall(r"= chlo\.erfc ", module.text)) == erfs
    text, _ = portable.rewrite(module.artifact, portable.versions()["newest"])
    assert len(re.findall(r'stablehlo\.composite "chlo\.erfc"', text)) == erfs
    how = {"text": "operation", "artifact": "composite", "exported": "composite"}
    assert module.special == (how if erfs else dict.fromkeys(how, "none"))


@pytest.mark.parametrize(("batch", "version"), [(None, None), (2, "0.18.0")])
def test_the_error_function_is_expanded_where_it_cannot_be_kept(batch, version):
    params, images, d_logits = rounded(SMALL, 2)
    module = export_module(SMALL, params, "gradient", batch=batch, target_version=version)
    text, _ = portable.rewrite(module.artifact, portable.versions()["newest"])
    assert "composite" not in text
    assert module.special["artifact"] == module.special["exported"] == "expanded"
    assert_close(call(module, images, d_logits), in_float64(SMALL, params, images, d_logits)[1], 2e-5)


def test_both_error_functions_become_composites():
    def function(tree):
        return {"a": jax.lax.erf(tree["x"]) * 2, "b": jax.lax.erfc(tree["y"])}

    tree = {"x": np.linspace(-3, 3, 7, dtype=np.float32), "y": np.linspace(-3, 9, 5, dtype=np.float32)}
    kept = jax.jit(keep_special_functions(function))
    text = kept.lower(tree).as_text()
    assert 'composite "chlo.erf"' in text
    assert 'composite "chlo.erfc"' in text
    for name, wanted in jax.jit(function)(tree).items():
        np.testing.assert_array_equal(kept(tree)[name], wanted)


@pytest.mark.parametrize("batch", [None, 2])
def test_no_file_of_this_machine_is_named(batch):
    config = GRID[0][1]
    module = export_module(config, draw(config, 1)[0], "gradient", batch=batch)
    for data in (module.text.encode(), module.artifact, module.exported):
        assert b".py" not in data
        assert b"loc(" not in data
    named = jax.export.export(jax.jit(lambda x: x + 1))(jax.ShapeDtypeStruct((2,), "float32"))
    assert b"test_export.py" in named.mlir_module_serialized  # what JAX writes by itself


@pytest.mark.parametrize("version", ["2.0.0", "0.8.9", "1", "one", "1.0.0.0", "1.0.-1"])
def test_a_target_version_out_of_range_is_refused(version):
    with pytest.raises(VjproofError, match=r"expected 0\.\d+\.\d+ to \d+\.\d+\.\d+"):
        portable.check_target(version)


def test_the_default_version_lags_and_the_version_is_in_the_artifact():
    known = portable.versions()
    default = portable.check_target(None)
    assert portable.numbers(known["oldest"]) < portable.numbers(default) < portable.numbers(known["newest"])
    module = export_module(SMALL, draw(SMALL, 1)[0], "forward", batch=1, target_version=default)
    assert f"StableHLO_v{default}".encode() in module.artifact


def test_an_operation_that_a_version_lacks_is_named():
    composite = jax.jit(keep_special_functions(jax.lax.erfc))
    shape = jax.ShapeDtypeStruct((3,), "float32")
    artifact = jax.export.export(composite)(shape).mlir_module_serialized
    with pytest.raises(VjproofError, match=r"StableHLO 0\.18\.0: expected a target version that has every operation"):
        portable.rewrite(artifact, "0.18.0")
