"""`vjproof bench`: a run that ends half-way goes on, the figures are kept, and the tables are written."""

import json
from pathlib import Path

import pytest

from vjproof.cli import run
from vjproof.errors import VjproofError
from vjproof.pipeline import bench
from vjproof.pipeline.bench import Plan, make_plan, run_bench
from vjproof.report.bench import document

PLAN = Plan(("tiny",), (1, 2), 2, 5, quick=True)
OURS, PEER = "vjproof torch float32", "torch autograd float32"


def figures(plan, part, folder, tell):
    tell("working")
    kind = part.split()[1]
    seconds = {OURS: [0.1, 0.1], PEER: [0.2, 0.2], "vjproof torch bfloat16": [0.05, 0.05]}
    if kind == "batch":
        return {"batch": int(part.split()[2]), "seconds": seconds, "first": dict.fromkeys(seconds, 0.5),
                "failed": {"jax.vjp float32": "it is asleep"}, "load": [0.1, 0.2]}  # fmt: skip
    if kind == "probes":
        memory = {"batch": 32, "loaded": 2**20, "cold": 2.0, "error": 1e-6, "start": 1.0, "first": 1.0}
        return {OURS: {**memory, "peak": 3 * 2**20}, PEER: {**memory, "peak": 6 * 2**20}, "x": {"failed": "no"}}
    if kind == "cotangents":
        return {"count": 5, "seconds": {OURS: [0.1, 0.1], PEER: [0.3, 0.3]}, "failed": {}, "load": [0.1, 0.1]}
    return {"auto": {"cold": 6.0, "warm": [4.0, 4.5]}}


@pytest.fixture(autouse=True)
def _measures_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "_measure", figures)
    monkeypatch.chdir(tmp_path)


def test_tables_tell_figures_goals_and_failures():
    text = document(run_bench(PLAN, "r.json"))
    for words in (
        "## Goals", "float32 / best float32 peer, batch 1 | at most 0.78 | 0.5 | met",
        "bfloat16 / best float32 peer, batch 2 | at most 0.3 | 0.25 | met", "| at most 0.6 | 0.5 | met",
        "at least 3 | 10 | met", "| 6 | met", "jax.vjp float32 failed: it is asleep.", "Load average 0.1 before",
        "Not measured: onnxruntime float32",
    ):  # fmt: skip
        assert words in text


def test_a_missed_goal_is_called_missed(monkeypatch):
    monkeypatch.setattr("vjproof.report.bench.GOALS", {"float32 / best float32 peer": 0.4})
    assert "at most 0.4 | 0.5 | missed" in document(run_bench(PLAN, "r.json"))


def test_a_run_that_was_ended_goes_on(monkeypatch):
    done = []

    def ended(plan, part, folder, tell):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(part)
        return figures(plan, part, folder, tell)

    monkeypatch.setattr(bench, "_measure", ended)
    with pytest.raises(KeyboardInterrupt):
        run_bench(PLAN, "r.json")
    kept = json.loads(Path("r.json").read_text())["parts"]
    assert list(kept) == done == ["tiny probes", "tiny batch 1"]
    later = []

    def goes_on(plan, part, folder, tell):
        later.append(part)
        return figures(plan, part, folder, tell)

    monkeypatch.setattr(bench, "_measure", goes_on)
    heard = []
    record = run_bench(PLAN, "r.json", tell=lambda *words: heard.append(words))
    assert later == ["tiny batch 2", "tiny cotangents", "tiny explain"]
    assert len(record["parts"]) == 5
    assert heard[-1] == ("done", 5, 5)


@pytest.mark.parametrize("content", ["{}", "no json", '{"format": 1, "machine": {}, "plan": {}, "parts": {}}', "[]"])
def test_figures_of_something_else_are_not_mixed_in(content, tmp_path):
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(VjproofError, match="--fresh"):
        run_bench(PLAN, "r.json")
    assert (tmp_path / "r.json").read_text() == content
    assert len(run_bench(PLAN, "r.json", fresh=True)["parts"]) == 5


def test_a_plan_is_what_was_asked():
    assert make_plan(["small"], [4], 3) == Plan(("small",), (4,), 3)
    assert make_plan(quick=True) == Plan(("tiny",), (1, 8), 5, 20, quick=True)
    with pytest.raises(VjproofError, match="tiny or small"):
        make_plan(["huge"])
    with pytest.raises(VjproofError, match="batch"):
        make_plan(batches=[0])


def test_the_command_prints_and_writes(capsys, tmp_path):
    assert run(["bench", "--quick", "-o", "b.md"]) == 0
    said = capsys.readouterr()
    assert said.out == (tmp_path / "b.md").read_text()
    assert "of 5: tiny probes" in said.err
    assert run(["bench", "--quick", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"]["quick"] is True
    assert run(["bench", "--model", "huge"]) == run(["bench", "--batch", "0"]) == 2
    assert run(["bench", "--quick", "-o", "absent/b.md"]) == 2
