"""ViT-Tiny/224 at its real sizes, and every depth: the gradients of JAX, and those that this package exports."""

import resource
import subprocess
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from tests.foreign import vit
from tests.foreign.spellings import SPELLINGS, by_vjp
from vjproof import validate
from vjproof.stablehlo.export import export_module
from vjproof.vit.config import Config
from vjproof.vit.params import random_params

MEMORY = 4 * 2**30  # bytes


def proved(spelling, sizes):
    forward = partial(vit.logits, SPELLINGS[spelling])
    return validate(forward, by_vjp(forward), *vit.structs(sizes), wrt="all")


def exported(config, form="text", inside=False):
    params = random_params(config, 0)
    modules = [export_module(config, params, what, batch=1, weights_inside=inside) for what in ("forward", "gradient")]
    return [getattr(module, form) for module in modules]


@pytest.mark.parametrize("gelu", ["erf", "tanh"])
@pytest.mark.parametrize("form", ["text", "artifact"])
def test_the_exported_gradient_of_a_small_network_is_proved(gelu, form):
    config = Config(2, 8, 12, 4, 6, 2, 5, 2, 4, 1e-6, gelu)
    answer = validate(*exported(config, form), wrt=0)
    assert answer, str(answer)
    assert ("approximations" in answer.declared) == (gelu == "erf" and form == "artifact")


def test_weights_inside_are_the_same_arrays_in_both_modules():
    """An exporter folds transposes of weights; they are recognised, and what is proved holds for any weights."""
    answer = validate(*exported(Config(2, 8, 12, 4, 6, 2, 5, 1, 4, 1e-6, "erf"), inside=True), wrt=0)
    assert answer, str(answer)
    assert len(answer.declared["captured"]) > 10


@pytest.mark.parametrize("depth", [0, 2])
def test_a_few_depths_are_proved(depth):
    assert proved("plain", vit.Sizes(depth=depth))


@pytest.mark.slow
def test_every_depth_is_proved_and_the_proof_grows_linearly():
    answers = [proved("plain", vit.Sizes(depth=depth)) for depth in range(1, 13)]
    assert all(answers)
    counts = [answer.equalities for answer in answers]
    steps = [after - before for before, after in pairwise(counts[1:])]
    assert len(set(steps)) == 1, counts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "tanh", "dot_product_attention", "matmul"])
def test_all_parameters_of_vit_tiny_at_its_real_sizes(name):
    answer = proved(name, vit.TINY_224)
    assert answer, str(answer)
    assert sum("sum over j" in line for line in answer.statement) == 201


@pytest.mark.slow
@pytest.mark.parametrize("gelu", ["erf", "tanh"])
@pytest.mark.parametrize("form", ["text", "artifact"])
def test_the_exported_gradient_of_vit_tiny(gelu, form):
    config = Config(3, 224, 224, 16, 192, 3, 768, 12, 1000, 1e-6, gelu)
    answer = validate(*exported(config, form), wrt=0)
    assert answer, str(answer)


@pytest.mark.slow
def test_vit_tiny_needs_less_than_four_gigabytes():
    code = (
        "from tests.validation.test_vit_tiny import proved, vit\n"
        "import resource, sys\n"
        "assert proved('plain', vit.TINY_224)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert int(done.stdout) < MEMORY
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < MEMORY
