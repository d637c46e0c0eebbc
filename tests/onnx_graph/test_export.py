"""ONNX models of networks: every choice of a config, any batch, and what the file says of itself."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest

from tests.compare import assert_close
from tests.nets import GRID, draw, make_config
from vjproof.errors import VjproofError
from vjproof.onnx_graph import export, library
from vjproof.onnx_graph.export import export_model
from vjproof.vit import model
from vjproof.vit.params import map_tensors, named_tensors


def as_float32(arrays):
    return [np.asarray(array, np.float32) for array in arrays]


def run(data, **inputs):
    (result,) = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, inputs)
    return result


def rounded(config, batch):
    """Parameters, images and cotangents that float32 holds exactly."""
    params, images, d_logits = draw(config, batch)
    return (map_tensors(lambda t: t.astype(np.float32).astype(float), params), *as_float32((images, d_logits)))


@pytest.mark.parametrize(("config", "batch"), [entry[1:] for entry in GRID], ids=[entry[0] for entry in GRID])
def test_every_config_agrees_with_the_chain_in_float64(config, batch):
    if config.prefix == 0:
        with pytest.raises(VjproofError, match="at least one prefix token"):
            export_model(config, draw(config, 1)[0], "gradient")
        return
    params, images, d_logits = rounded(config, batch)
    logits, gradient = model.logits_and_gradient(config, params, images.astype(float), d_logits.astype(float))
    assert_close(run(export_model(config, params, "forward"), images=images), logits, 2e-5)
    exported = run(export_model(config, params, "gradient"), images=images, d_logits=d_logits)
    assert_close(exported, gradient, 2e-5)


def test_a_network_without_blocks_has_a_gradient():
    config = make_config(depth=0)
    params, images, d_logits = rounded(config, 2)
    wanted = model.logits_and_gradient(config, params, images.astype(float), d_logits.astype(float))[1]
    assert_close(run(export_model(config, params, "gradient"), images=images, d_logits=d_logits), wanted, 1e-5)


def test_another_eps_is_another_gradient():
    config = make_config(eps=1e-2)
    params, images, d_logits = rounded(config, 2)
    gradients = [
        run(export_model(make_config(eps=eps), params, "gradient"), images=images, d_logits=d_logits)
        for eps in (1e-2, 2e-2)
    ]
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(gradients[0], gradients[1], 2e-5)


@pytest.mark.parametrize("what", ["forward", "gradient"])
def test_weights_can_be_arguments_and_the_batch_fixed(what):
    config = make_config(layer_scale=True)
    params, images, d_logits = rounded(config, 3)
    more = {"d_logits": d_logits} if what == "gradient" else {}
    weights = {name: np.asarray(tensor, np.float32) for name, tensor in named_tensors(params)}
    data = export_model(config, params, what, batch=3, weights_inside=False)
    assert len(data) < len(export_model(config, params, what))
    got = run(data, images=images, **more, **weights)
    assert_close(got, run(export_model(config, params, what), images=images, **more), 1e-6)
    shape = onnx.load_from_string(data).graph.input[0].type.tensor_type.shape
    assert [dimension.dim_value for dimension in shape.dim] == [3, *config.image_shape]


@pytest.mark.parametrize("opset", [20, 21, 23])
def test_the_model_says_what_it_is(opset):
    config = make_config()
    params, images, _ = rounded(config, 1)
    data = export_model(config, params, "forward", opset=opset, metadata={"eps": config.eps})
    made = onnx.load_from_string(data)
    assert [entry.version for entry in made.opset_import] == [opset]
    assert made.producer_name == "vjproof"
    assert json.loads({entry.key: entry.value for entry in made.metadata_props}["vjproof"]) == {"eps": 1e-6}
    assert made.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert {node.op_type for node in made.graph.node} >= {"MatMul", "Erf"}
    assert np.isfinite(run(data, images=images)).all()


def test_the_same_export_gives_the_same_bytes():
    config = make_config()
    params = draw(config, 1)[0]
    assert export_model(config, params, "gradient") == export_model(config, params, "gradient")


@pytest.mark.parametrize("opset", [19, 10_000])
def test_an_opset_out_of_range_is_refused(opset):
    with pytest.raises(VjproofError, match=r"ONNX opset: expected 20 to \d+, got"):
        export_model(make_config(), draw(make_config(), 1)[0], "forward", opset=opset)


def test_too_many_weights_for_one_file_are_refused(monkeypatch):
    monkeypatch.setattr(export, "MOST_BYTES", 1000)
    params = draw(make_config(), 1)[0]
    with pytest.raises(VjproofError, match="export with --weights arguments"):
        export_model(make_config(), params, "forward")
    assert export_model(make_config(), params, "forward", weights_inside=False)


def test_an_absent_package_is_named_with_its_extra():
    with pytest.raises(VjproofError, match=r"vjproof\[onnx\]"):
        library.library("onnx_that_is_absent")
