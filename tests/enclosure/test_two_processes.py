"""Two processes give the balls that one gives, share the work, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import vjproof
from tests.nets import GRID, draw
from vjproof.enclosure import partner
from vjproof.enclosure.evaluate import evaluate
from vjproof.enclosure.network import network_program
from vjproof.errors import VjproofError
from vjproof.pipeline.certify import certify_image
from vjproof.program.recorder import record
from vjproof.vit.params import named_tensors

NETS = [net for net in GRID if net[1].prefix]
BITS = 400


def network(config, seed=0):
    params, images, d_logits = draw(config, 1, seed)
    inputs = {"eps": config.eps, "x": images[0], "d": d_logits[0], **dict(named_tensors(params))}
    return network_program(config), inputs


def radii(outputs):
    return np.array([float(ball.rad()) for balls in outputs for ball in balls.flat])


def assert_same(config):
    """Both results hold the same numbers and are about as narrow; returns how often arrays were swapped."""
    program, inputs = network(config)
    swaps = []
    one = evaluate(program, inputs, BITS)
    swap = partner.Link.swap
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partner.Link, "swap", lambda self, values: swaps.append(values.shape) or swap(self, values))
        two = evaluate(program, inputs, BITS, processes=2, worth=1)
    for a, b in zip(one, two, strict=True):
        assert a.shape == b.shape
        assert all(x.overlaps(y) for x, y in zip(a.flat, b.flat, strict=True))
    assert radii(two).max() < 8 * radii(one).max()
    return len(swaps)


@pytest.mark.parametrize("config", [net[1] for net in NETS[::7]], ids=[net[0] for net in NETS[::7]])
def test_two_processes_give_what_one_gives(config):
    assert assert_same(config) > 2 * config.depth


@pytest.mark.slow
@pytest.mark.parametrize("config", [net[1] for net in NETS], ids=[net[0] for net in NETS])
def test_the_same_on_every_kind_of_network(config):
    assert assert_same(config) > config.depth


def test_a_half_that_is_dropped_is_caught(monkeypatch):
    swap = partner.Link.swap
    monkeypatch.setattr(partner.Link, "swap", lambda self, values: swap(self, values) * 0)
    with pytest.raises(AssertionError):
        assert_same(NETS[0][1])


def test_the_failure_of_the_second_process_is_told():
    program = record(lambda w, x, y: (w @ x) / (w @ y) * 2 @ x, {"w": ("n", "n"), "x": ("n", "n"), "y": ("n", "n")})
    x = np.ones((8, 8))
    w = x.copy()
    w[6] = 0  # a division by 0 in the second half
    with pytest.raises(VjproofError, match="bound too wide"):
        evaluate(program, {"w": w, "x": x, "y": x}, 100, processes=2, worth=1)


def test_the_end_of_the_second_process_is_told(monkeypatch):
    monkeypatch.setattr(partner, "START", "import sys; sys.exit(3) # {path} {handle}")
    with pytest.raises(VjproofError, match="the second process: expected an answer"):
        evaluate(*network(NETS[0][1]), BITS, processes=2, worth=1)


def test_an_interrupt_leaves_no_file_and_no_process(tmp_path, monkeypatch):
    started = []

    class Told(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    def interrupt(share):
        if share > 0.3:
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Told)
    picture = Path(vjproof.__file__).parent / "data" / "images" / "bag.png"
    with pytest.raises(KeyboardInterrupt):
        certify_image("fashion", picture, output=tmp_path / "c.json", processes=2, engine=["numpy"], advance=interrupt)
    assert list(tmp_path.iterdir()) == []
    assert len(started) == 1
    assert started[0].poll() is not None


SCRIPT = """
import signal, subprocess
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
from tests.enclosure.test_two_processes import BITS, NETS, network
from vjproof.enclosure.evaluate import evaluate
class Told(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print(self.pid, flush=True)
subprocess.Popen = Told
while True:
    evaluate(*network(NETS[0][1]), BITS, processes=2, worth=1, after=lambda name, share: print(name, flush=True))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_end_of_the_first_process_ends_the_second(how):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)}
    first = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    try:
        second = int(first.stdout.readline())
        for _ in range(20):
            assert first.stdout.readline()
        assert alive(second)
        first.send_signal(how)
        first.wait(timeout=60)
    finally:
        first.kill()
        first.wait()
        first.stdout.close()
    for _ in range(300):
        if not alive(second):
            return
        time.sleep(0.1)
    pytest.fail("the second process is still there")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
