"""The torch engine's own business: tiles, memory, threads, and what stays the same from run to run."""

import threading

import numpy as np
import pytest
import torch

from tests.compare import assert_close
from tests.nets import SHAPES, draw, make_config
from vjproof import engines
from vjproof.engines import torch_engine
from vjproof.engines.torch_chain import tables
from vjproof.engines.torch_chain.threads import spread
from vjproof.engines.torch_engine import TorchEngine
from vjproof.errors import VjproofError

CONFIG = make_config(SHAPES[1], depth=3)


def gradient(config, images, d_logits, params, dtype="float64", prepared=None):
    engine = TorchEngine()
    prepared = prepared or engine.prepare(config, params, dtype)
    kind = engines.storage(dtype)
    return engine.logits_and_gradient(config, prepared, images.astype(kind), d_logits.astype(kind))[1]


def test_tiles_change_no_result(monkeypatch):
    params, images, d_logits = draw(CONFIG, 9)
    whole = gradient(CONFIG, images, d_logits, params)
    for name, value in (("TILE", 1), ("TILE", 9), ("MEMORY", 1)):
        monkeypatch.setattr(torch_engine, name, value)
        assert_close(gradient(CONFIG, images, d_logits, params), whole, 1e-13)


@pytest.mark.parametrize("pooling", [("cls", 1, 1), ("mean", 1, 1)])
def test_weights_that_are_computed_again_change_no_result(monkeypatch, pooling):
    config = make_config(SHAPES[1], depth=3, pooling=pooling)
    params, images, d_logits = draw(config, 5)
    kept = gradient(config, images, d_logits, params)
    monkeypatch.setattr(torch_engine, "KEEP", 0)
    again = gradient(config, images, d_logits, params)
    assert again.tobytes() == kept.tobytes()
    engine = TorchEngine()
    rows = engine.jacobian(config, engine.prepare(config, params, "float64"), images, np.stack([d_logits] * 5, 1))
    assert_close(rows[:, 3], kept, 1e-13)


@pytest.mark.parametrize("keep", [0, 2**28])
def test_one_head_at_a_time_changes_no_result(monkeypatch, keep):
    params, images, d_logits = draw(CONFIG, 5)
    together = gradient(CONFIG, images, d_logits, params)
    monkeypatch.setattr(torch_engine, "KEEP", keep)
    monkeypatch.setattr(tables, "CACHE", 0)
    assert_close(gradient(CONFIG, images, d_logits, params), together, 1e-13)
    engine = TorchEngine()
    rows = engine.jacobian(CONFIG, engine.prepare(CONFIG, params, "float64"), images, np.stack([d_logits] * 5, 1))
    assert_close(rows[:, 3], together, 1e-13)


@pytest.mark.parametrize("dtype", engines.DTYPES)
def test_two_runs_are_bitwise_equal_and_memory_that_was_used_leaves_no_trace(dtype):
    params, images, d_logits = draw(CONFIG, 5)
    prepared = TorchEngine().prepare(CONFIG, params, dtype)
    first = gradient(CONFIG, images, d_logits, params, dtype, prepared)
    other = gradient(CONFIG, 1e3 * images, -d_logits, params, dtype, prepared)
    again = gradient(CONFIG, images, d_logits, params, dtype, prepared)
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_a_non_finite_image_does_not_touch_the_others():
    params, images, d_logits = draw(CONFIG, 4)
    clean = gradient(CONFIG, images, d_logits, params)
    broken = images.copy()
    broken[1] = np.inf
    prepared = TorchEngine().prepare(CONFIG, params, "float64")
    got = gradient(CONFIG, broken, d_logits, params, prepared=prepared)
    assert np.isnan(got[1]).any()
    assert_close(got[[0, 2, 3]], clean[[0, 2, 3]], 1e-13)
    assert gradient(CONFIG, images, d_logits, params, prepared=prepared).tobytes() == clean.tobytes()


def test_the_place_in_a_batch_changes_rounding_at_most():
    params, images, d_logits = draw(CONFIG, 7)
    together = gradient(CONFIG, images, d_logits, params, "float32")
    for place in range(7):
        alone = gradient(CONFIG, images[place : place + 1], d_logits[place : place + 1], params, "float32")
        assert_close(together[place : place + 1], alone, 1e-5)


def test_callers_settings_stay():
    params, images, d_logits = draw(CONFIG, 5)
    before = torch.get_num_threads(), torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    gradient(CONFIG, images, d_logits, params)
    assert (torch.get_num_threads(), torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == before
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert seen == [before[0]]


def test_each_worker_uses_its_share_of_the_cores():
    cores = torch.get_num_threads()

    def threads_used(_):
        torch.ones(300, 300) @ torch.ones(300, 300)  # what a thread may use is settled at its first operation
        return torch.get_num_threads()

    assert spread(threads_used, range(8), 2) == [max(1, cores // 2)] * 8
    assert spread(threads_used, range(2), 1) == [cores] * 2


def test_no_image_gives_no_gradient():
    params, images, d_logits = draw(CONFIG, 1)
    assert gradient(CONFIG, images[:0], d_logits[:0], params).shape == (0, *CONFIG.image_shape)


def test_without_pytorch_it_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "torch" else object())
    with pytest.raises(VjproofError, match=r"vjproof\[torch\]") as caught:
        engines.choose("torch", CONFIG, 1)
    assert "\n" not in str(caught.value)


def test_read_only_images_are_welcome():
    params, images, d_logits = draw(CONFIG, 2)
    images.setflags(write=False)
    assert np.isfinite(gradient(CONFIG, images, d_logits, params)).all()
