"""Workers: what they answer, and that one that fails is left out of the run and named."""

import dataclasses

import pytest

from vjproof.bench import schedule
from vjproof.bench.contestants import by_name
from vjproof.bench.process import Failed, Process

OURS = by_name("vjproof torch float32")
QUIET = dataclasses.replace(OURS)


@pytest.fixture(scope="module")
def process():
    with Process(OURS, "fashion") as running:
        yield running


def test_a_worker_times_and_tells_its_memory(process):
    answer = process.ask("gradient", batch=2)
    assert answer["seconds"] > 0
    assert answer["peak"] >= process.loaded > 2**20
    assert process.ask("rows", count=3)["seconds"] > 0


def test_a_worker_keeps_its_gradient(process, tmp_path):
    import numpy as np

    process.ask("gradient", batch=1, keep=str(tmp_path / "g.npy"))
    assert np.load(tmp_path / "g.npy").shape == (1, 1, 28, 28)


def test_a_wrong_order_is_a_failure_with_a_reason():
    with Process(OURS, "fashion") as running, pytest.raises(Failed, match="no attribute 'dance'"):
        running.ask("dance")


def test_an_unknown_model_is_a_failure_with_a_reason():
    with pytest.raises(Failed, match="nowhere"):
        Process(OURS, "nowhere.safetensors")


def test_no_answer_in_time_is_a_failure():
    with pytest.raises(Failed, match="no answer in 0 s"):
        Process(OURS, "fashion", patience=0.01)


def test_turns_give_each_contestant_a_time_per_round_and_name_the_failed(monkeypatch):
    ghost = dataclasses.replace(OURS, name="nobody")
    products = by_name("products float32")
    told = []
    group = schedule.time_turns("fashion", [OURS, ghost, products], 2, 3, told.append)
    assert {name: len(times) for name, times in group["seconds"].items()} == {OURS.name: 3, products.name: 3}
    assert "KeyError" in group["failed"]["nobody"]
    assert any("round 3 of 3" in text for text in told)
