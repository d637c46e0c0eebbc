"""Products by constants: the fast form where it is right, the plain one where it is not."""

import pytest
import torch

from tests.compare import assert_close
from tests.nets import SHAPES, draw, make_config
from vjproof.engines.torch_chain import matrix as module
from vjproof.engines.torch_chain.matrix import Matrix, PackedMatrix, can_pack, matrix
from vjproof.engines.torch_engine import TorchEngine
from vjproof.vit import model


@pytest.fixture(autouse=True)
def _asked_anew():
    can_pack.cache_clear()
    yield
    can_pack.cache_clear()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 5, 600])
def test_the_product_is_the_product(dtype, rows):
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(*shape, generator=generator).to(dtype) for shape in ((rows, 13), (13, 17)))
    got = matrix(weight).times(x, out=torch.empty(rows, 17, dtype=dtype))
    assert_close(
        got.double(), x.double() @ weight.double(), {torch.float32: 1e-6, torch.float64: 1e-14}.get(dtype, 1e-2)
    )


def spoilt(*_):
    raise RuntimeError("another signature")


@pytest.mark.parametrize("times", [spoilt, lambda self, x, bias: x @ x.T, lambda self, x, bias: torch.zeros(5, 11)])
def test_a_fast_product_that_is_not_as_expected_is_not_used(times, monkeypatch):
    monkeypatch.setattr(PackedMatrix, "times", times)
    assert not can_pack(torch.float32)
    assert not can_pack(torch.bfloat16)
    assert type(matrix(torch.ones(3, 2))) is Matrix


def test_without_it_the_chain_is_the_same(monkeypatch):
    config = make_config(SHAPES[1], depth=3)
    params, images, d_logits = draw(config, 3)
    want = model.logits_and_gradient(config, params, images, d_logits)[1]
    single = [array.astype("float32") for array in (images, d_logits)]
    for able in (False, True):
        monkeypatch.setattr(module, "can_pack", lambda dtype, able=able: able and can_pack(dtype))
        engine = TorchEngine()
        got = engine.logits_and_gradient(config, engine.prepare(config, params, "float32"), *single)[1]
        assert_close(got, want, 2e-5)
