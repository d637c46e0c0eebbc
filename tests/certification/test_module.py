"""Modules enclosed as they are written: rounded literals, polynomials in place of erf, choices by inputs."""

import json

import mpmath
import numpy as np
import pytest

import vjproof
from tests.enclosure.soundness import holds
from tests.nets import SHAPES, draw, make_config
from vjproof.certification.module import bound_results, enclose_module
from vjproof.cli import run
from vjproof.enclosure import choices, execution
from vjproof.enclosure.enclosure import enclose_network
from vjproof.errors import VjproofError
from vjproof.vit import model
from vjproof.vit.params import map_tensors, named_tensors, unflatten

X = np.float32([-6, -4, -2.5, -1.25, -0.75, -0.5, -0.0625, 0, 0.03125, 0.5, 1, 1.5, 3, 5])
EXACT = [
    ("x * 2", lambda x: x * 2, lambda v: 2 * v),
    ("literal", lambda x: x * 0.707106769, lambda v: mpmath.mpf(float(np.float32(0.707106769))) * v),
    ("square", lambda x: x * x + 0.1, lambda v: v * v + mpmath.mpf(float(np.float32(0.1)))),
]


def exported(function, *arguments, wide=False):
    """The portable text of a JAX function, as jax.export writes it; erf is expanded in it."""
    import jax

    with jax.enable_x64(wide):
        return str(jax.export.export(jax.jit(function, keep_unused=True))(*arguments).mlir_module())


def ran(function, *arguments, wide=False):
    import jax

    with jax.enable_x64(wide):
        return np.asarray(jax.jit(function)(*arguments), dtype=float)


def functions():
    import jax
    import jax.numpy as jnp

    return {
        "erf": jax.scipy.special.erf,
        "erfc": jax.scipy.special.erfc,
        "gelu": lambda x: jax.nn.gelu(x, approximate=False),
        "slope": jax.grad(lambda x: jnp.sum(jax.nn.gelu(x, approximate=False))),
        "softmax": jax.nn.softmax,
        "guarded": lambda x: jnp.where(x > 0, 1 / x, 0.0),
        "relu slope": jax.grad(lambda x: jnp.sum(jnp.maximum(x, 0.25))),
        "steps": lambda x: jnp.where(x >= 1, 2.0, jnp.where(x < -2.5, x, jnp.where(x != 0, 1.0, 3.0))),
    }


NAMES = ["erf", "erfc", "gelu", "slope", "softmax", "guarded", "steps"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wide", [False, True])
def test_a_module_is_enclosed_near_what_runs(name, wide):
    function, x = functions()[name], X.astype(float) if wide else X
    enclosed = enclose_module(exported(function, x, wide=wide), x)
    (error,) = bound_results(enclosed, [ran(function, x, wide=wide)])
    assert error < (1e-14 if wide else 4e-6)
    assert enclosed.rad[0].max() <= 1e-15


@pytest.mark.parametrize(("name", "function", "true"), EXACT, ids=[case[0] for case in EXACT])
def test_literals_are_their_own_binary_values(name, function, true):
    enclosed = enclose_module(exported(function, X), X)
    with mpmath.workdps(60):
        for ball, v in zip(enclosed.balls[0], X, strict=True):
            assert holds(ball, true(mpmath.mpf(float(v))))
            assert float(ball.rad()) < 1e-30


def test_the_expanded_erfc_is_another_function_and_is_enclosed_as_such():
    import jax

    enclosed = enclose_module(exported(jax.scipy.special.erfc, X), X, bits=200)
    gaps = [abs(mpmath.mpf(float(b.mid())) - mpmath.erfc(float(v))) for b, v in zip(enclosed.balls[0], X, strict=True)]
    assert 1e-10 < max(gaps) < 1e-6
    assert enclosed.rad[0].max() < 1e-15


def test_the_effect_of_each_literal_is_bounded():
    source = exported(lambda x: x * 0.707106769, X)
    (effect,) = enclose_module(source, X, effects=True).effects
    with mpmath.workdps(40):
        true = 6 * abs(mpmath.mpf(float(np.float32(0.707106769))) - mpmath.sqrt(0.5))
    assert true <= effect.absolute <= true * (1 + 1e-12)
    assert "read as 1/2 * 2^(1/2)" in effect.words


def test_an_uncertain_choice_counts_both_sides():
    import jax.numpy as jnp

    def function(x):
        return jnp.where(jnp.exp(x) * jnp.exp(x) > jnp.exp(2 * x), 5.0, 7.0)  # equal over the reals

    enclosed = enclose_module(exported(function, X[:3]), X[:3], bits=100)
    assert all(ball.contains(5) and ball.contains(7) for ball in enclosed.balls[0])


@pytest.mark.parametrize("name", ["erfc", "steps", "guarded"])
def test_a_choice_that_is_turned_round_is_caught(monkeypatch, name):
    turned = {"LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT", "EQ": "NE", "NE": "EQ"}
    monkeypatch.setattr(execution, "compared", lambda direction, ball: choices.compared(turned[direction], ball))
    function = functions()[name]
    with pytest.raises((AssertionError, VjproofError)):
        assert bound_results(enclose_module(exported(function, X), X), [ran(function, X)])[0] < 4e-6


def network_module(config):
    """The gradient module of a small network in float32, and its arguments."""
    params, images, d_logits = draw(config, 1)
    params = map_tensors(lambda tensor: tensor.astype(np.float32), params)
    tensors = dict(named_tensors(params))
    arrays = [images[0].astype(np.float32), d_logits[0].astype(np.float32), *tensors.values()]

    def gradient(image, cotangent, *values):
        return model.logits_and_gradient(
            config, unflatten(config, dict(zip(tensors, values, strict=True))), image, cotangent
        )[1]

    return gradient, arrays, params


@pytest.mark.parametrize("gelu", ["erf", "tanh"])
def test_the_gradient_that_runs_and_the_gradient_that_is_meant_differ_by_the_readings(gelu):
    config = make_config(SHAPES[0], depth=1, gelu=gelu)
    gradient, arrays, params = network_module(config)
    written = enclose_module(exported(gradient, *arrays), *arrays, effects=gelu == "tanh")
    meant = enclose_network(config, params, arrays[0], arrays[1])
    gap = np.abs(written.mid[0] - meant.mid).max()
    assert 1e-12 < gap < 1e-5
    (error,) = bound_results(written, [ran(gradient, *arrays)])
    assert error < 1e-4
    if gelu == "tanh":  # every difference is one of the literals, eps among them
        assert gap <= 1.01 * sum(effect.absolute for effect in written.effects)


def test_arrays_that_do_not_fit_are_refused():
    source = exported(lambda x: x + 1, X)
    for bad, said in (
        ([], "one for each argument"),
        ([X[:2]], "an array"),
        ([np.float64(X) + 1e-12], "numbers that f32 holds"),
    ):
        with pytest.raises(VjproofError, match=said):
            enclose_module(source, *[np.float64(array) for array in bad])
    with pytest.raises(VjproofError, match="a function"):
        enclose_module(source, X, function="none")
    with pytest.raises(VjproofError, match="results: expected 1"):
        bound_results(vjproof.enclose_module(source, X), [])


def test_the_command_tells_results_and_effects(tmp_path, capsys):
    module, x, result = (tmp_path / name for name in ("m.mlir", "x.npy", "y.npy"))
    function = functions()["gelu"]
    module.write_text(exported(function, X))
    np.save(x, X)
    np.save(result, ran(function, X))
    arguments = ["enclose-module", str(module), str(x), "--result", str(result), "--effects"]
    assert run([*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert 0 < record["results"][0]["error"] < 1e-6
    assert all(effect["absolute"] < 1e-6 for effect in record["effects"])
    assert run(arguments) == 0
    assert "as written" in capsys.readouterr().out
    assert run(["enclose-module", str(tmp_path / "none.mlir"), str(x)]) == 2
    assert "expected a readable file" in capsys.readouterr().err
