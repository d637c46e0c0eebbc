"""The forward pass and the input gradient of a network as ONNX models, from the recorded program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vjproof.enclosure.network import network_program
from vjproof.errors import VjproofError
from vjproof.kernel.program import Program
from vjproof.onnx_graph.graph import Graph
from vjproof.onnx_graph.library import library
from vjproof.onnx_graph.lines import Lines
from vjproof.vit.config import Config
from vjproof.vit.params import Params, count, named_tensors

OLDEST_OPSET = 20
BATCH = "batch"
MOST_BYTES = 2**31 - 2**20  # a protocol buffer ends below 2 GiB
INPUTS = {"x": "images", "d": "d_logits"}
OUTPUTS = {"forward": "logits", "gradient": "d_images"}


def check_opset(opset: int | None) -> int:
    """Return the opset, 20 for None; VjproofError where it is older, the library does not know it, or is absent."""
    defs = library("onnx").defs
    newest = defs.onnx_opset_version()
    if opset is not None and not OLDEST_OPSET <= opset <= newest:
        raise VjproofError("ONNX opset", expected=f"{OLDEST_OPSET} to {newest}", got=str(opset))
    return opset or OLDEST_OPSET


def export_model(
    config: Config,
    params: Params,
    what: str,
    *,
    batch: int | None = None,
    weights_inside: bool = True,
    opset: int | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the ONNX model of `forward` or `gradient` in float32, for `batch` images or, for None, any number of them.

    Inputs `images` (B, C, H, W), for the gradient `d_logits` (B, K), and each weight by its name where they are not
    inside; output `logits` (B, K) or `d_images` (B, C, H, W). `metadata` goes into the model as JSON, under "vjproof".
    VjproofError for a network without prefix rows, for too many weights, and where the package onnx is absent.
    """
    opset = check_opset(opset)
    if weights_inside and 4 * count(config) > MOST_BYTES:
        raise VjproofError(
            "ONNX model", expected=f"at most {MOST_BYTES} bytes of weights inside", got=str(4 * count(config)),
            remedy="export with --weights arguments",
        )  # fmt: skip
    import numpy as np
    from onnx import checker, helper, numpy_helper

    whole = network_program(config, ((BATCH, batch),))
    program = Program(whole.atoms, whole.operations, (whole.outputs[what == "gradient"],))
    graph, result = Graph(), OUTPUTS[what]
    tensors = dict(named_tensors(params))
    lines = Lines(program, graph, {**INPUTS, **{name: name for name in tensors}}, {"eps": config.eps}, INPUTS["x"])
    (output,) = lines.write()
    graph.rename(output, result)
    lead: Any = BATCH if batch is None else batch
    images, classes = (lead, *config.image_shape), (lead, config.classes)
    inputs = [_described("images", images)] + ([_described("d_logits", classes)] if what == "gradient" else [])
    stored = dict(graph.constants)
    if weights_inside:
        used = {name for node in graph.nodes for name in node.input}
        stored.update({name: np.asarray(t, np.float32) for name, t in tensors.items() if name in used})
    else:
        inputs += [_described(name, tensor.shape) for name, tensor in tensors.items()]
    outputs = [_described(result, images if what == "gradient" else classes)]
    initializers = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in stored.items()]
    made = helper.make_graph(graph.nodes, what, inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", opset)]
    # The oldest file version that has this opset, so that older runtimes read it.
    model = helper.make_model(
        made, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets), producer_name="vjproof"
    )
    helper.set_model_props(model, {"vjproof": json.dumps(metadata or {}, sort_keys=True)})
    checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def _described(name: str, shape: tuple[Any, ...]) -> Any:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
