"""Every engine in every dtype against the chain on NumPy in float64; what a dtype may cost is stated here."""

import dataclasses

import numpy as np
import pytest

from tests.compare import assert_close
from tests.nets import GRID, SHAPES, draw, make_config
from vjproof import engines
from vjproof.engines.torch_chain import weights
from vjproof.vit import model

# The largest error of an entry, by the largest entry: on these small random networks, bfloat16's is 11 % at most.
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "bfloat16": 0.2}
NAMES = [name for name, _, _ in GRID]
NETS = [(config, batch) for _, config, batch in GRID]
DEEP = make_config(SHAPES[1], depth=3)


def run(engine, config, dtype, images, d_logits, params):
    kind = engines.storage(dtype)
    runner = engines.choose(engine, config, len(images))
    prepared = runner.prepare(config, params, dtype)
    results = runner.logits_and_gradient(config, prepared, images.astype(kind), d_logits.astype(kind))
    assert all(result.dtype == kind for result in results)
    return results


def check(engine, config, batch, dtype):
    """Compare an engine's logits and gradient with the chain's."""
    params, images, d_logits = draw(config, batch)
    want = model.logits_and_gradient(config, params, images, d_logits)
    for ours, reference in zip(run(engine, config, dtype, images, d_logits, params), want, strict=True):
        assert_close(ours, reference, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", engines.DTYPES)
@pytest.mark.parametrize(("config", "batch"), NETS, ids=NAMES)
def test_torch_computes_the_chain(config, batch, dtype):
    check("torch", config, batch, dtype)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("config", "batch"), NETS[::5], ids=NAMES[::5])
def test_numpy_computes_the_chain(config, batch, dtype):
    check("numpy", config, batch, dtype)


@pytest.mark.parametrize("dtype", engines.DTYPES)
@pytest.mark.parametrize(("config", "batch"), NETS[1::11], ids=NAMES[1::11])
def test_jax_computes_the_chain(config, batch, dtype):
    check("jax", config, batch, dtype)


@pytest.mark.parametrize("engine", engines.ENGINES)
@pytest.mark.parametrize("pooling", [("cls", 1, 1), ("mean", 1, 1)])
def test_a_network_without_blocks(engine, pooling):
    config = make_config(depth=0, pooling=pooling)
    check(engine, config, 2, "float64")


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_bfloat16_is_not_float32_in_disguise(engine):
    """The red control of bfloat16: its error is far above float32's, so its products are really rounded."""
    params, images, d_logits = draw(DEEP, 2)
    _, want = model.logits_and_gradient(DEEP, params, images, d_logits)
    _, got = run(engine, DEEP, "bfloat16", images, d_logits, params)
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(got, want, 1e-3)


def test_engines_round_the_same_operands():
    params, images, d_logits = draw(DEEP, 2)
    _, first = run("numpy", DEEP, "bfloat16", images, d_logits, params)
    _, second = run("jax", DEEP, "bfloat16", images, d_logits, params)
    _, exact = model.logits_and_gradient(DEEP, params, images, d_logits)
    error = np.abs(first - exact).max()
    assert np.abs(first - second).max() < 0.5 * error


WRONG = {
    "the softmax scale wrong": lambda b: b._replace(w_qkv=b.w_qkv * 1.001),
    "a transpose of another matrix": lambda b: b._replace(w_o_t=b.w_o_t * 1.001),
    "the values' bias left out": lambda b: b._replace(b_o=b.b_o * 0),
    "a norm's bias left out": lambda b: b._replace(b_1=b.b_1 * 0),
    "LayerScale applied twice": lambda b: b._replace(w_2=b.w_2 * 1.3),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_constant_folded_wrongly_is_caught(case, monkeypatch):
    config = make_config(layer_scale=True)
    params, images, d_logits = draw(config, 2)
    _, want = model.logits_and_gradient(config, params, images, d_logits)
    right = weights.folded_block
    monkeypatch.setattr(weights, "folded_block", lambda *arguments: WRONG[case](right(*arguments)))
    _, got = run("torch", config, "float64", images, d_logits, params)
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(got, want, TOLERANCE["float32"])


def test_another_form_of_gelu_is_caught():
    params, images, d_logits = draw(DEEP, 2)
    _, want = model.logits_and_gradient(DEEP, params, images, d_logits)
    _, got = run("torch", dataclasses.replace(DEEP, gelu="tanh"), "float64", images, d_logits, params)
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(got, want, TOLERANCE["float32"])
