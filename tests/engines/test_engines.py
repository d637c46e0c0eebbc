"""Engines: how one is chosen, and that running one leaves JAX's own settings as they were."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.nets import draw, make_config
from vjproof import engines
from vjproof.engines import jax_engine
from vjproof.engines.jax_engine import JaxEngine
from vjproof.errors import VjproofError
from vjproof.vit.config import Config
from vjproof.vit.params import random_params

TINY = Config(3, 224, 224, 16, 192, 3, 768, 12, 1000, 1e-6, "erf")


def test_auto_loads_a_library_only_where_there_is_work(monkeypatch):
    assert engines.choose("auto", make_config(), 3).name == "numpy"
    assert engines.choose("auto", TINY, 1).name == engines.choose("auto", TINY, 64).name == "torch"
    assert engines.choose("auto", TINY, 1, once=True).name == "numpy"
    assert engines.choose("auto", TINY, 64, once=True).name == "torch"
    monkeypatch.setattr(engines, "installed", lambda library: library != "torch")
    assert engines.choose("auto", TINY, 1).name == "numpy"
    assert engines.choose("auto", TINY, 64).name == "jax"


@pytest.mark.parametrize("name", engines.ENGINES)
def test_a_named_engine_is_that_one(name):
    assert engines.choose(name, TINY, 1).name == name


def test_an_unknown_engine_or_dtype_is_refused():
    with pytest.raises(VjproofError, match="auto or numpy or jax or torch"):
        engines.choose("torch2", TINY, 1)
    with pytest.raises(VjproofError, match="float32 or float64 or bfloat16"):
        engines.check_dtype("int8")


@pytest.mark.parametrize(("given", "name"), [(None, "float32"), ("float64", "float64"), (np.float32, "float32"),
                                             (np.dtype("float64"), "float64")])  # fmt: skip
def test_dtypes_are_named_in_each_usual_way(given, name):
    assert engines.check_dtype(given) == name


def test_float64_on_jax_does_not_leak():
    import jax

    config = make_config()
    engine, params = JaxEngine(), random_params(config, 0)
    before = (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision)
    images = np.zeros((1, *config.image_shape))
    assert engine.logits(config, engine.prepare(config, params, "float64"), images).dtype == np.float64
    assert (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision) == before


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_the_gradient_stands_where_xla_had_the_images_and_the_callers_stay(dtype):
    import jax

    config = make_config()
    params, images, d_logits = draw(config, 3)
    kind = np.dtype(engines.storage(dtype))
    raw = np.empty(images.size * kind.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64  # where JAX could use the caller's memory without a copy
    given = raw[start : start + images.size * kind.itemsize].view(kind).reshape(images.shape)
    given[:] = images
    engine, d_values = JaxEngine(), d_logits.astype(kind)
    prepared = engine.prepare(config, params, dtype)
    first = engine.logits_and_gradient(config, prepared, given, d_values)[1]
    assert given.tobytes() == images.astype(kind).tobytes()
    assert engine.logits_and_gradient(config, prepared, given, d_values)[1].tobytes() == first.tobytes()
    with jax.enable_x64(True):
        compiled = jax_engine._compiled(jax_engine._logits_and_gradient, config, dtype)
        lowered = compiled.lower(prepared[1], given, d_values)
        kept = jax_engine._compiled(jax_engine._logits, config, dtype).lower(prepared[1], given)
    assert lowered.compile().memory_analysis().alias_size_in_bytes == given.nbytes
    assert kept.compile().memory_analysis().alias_size_in_bytes == 0


def test_what_is_compiled_does_not_grow_with_the_depth():
    import jax

    def lines(depth):
        config = make_config(depth=depth)
        params, images, d_logits = draw(config, 1)
        prepared = JaxEngine().prepare(config, params, "float32")[1]
        with jax.enable_x64(True):
            lowered = jax_engine._compiled(jax_engine._logits_and_gradient, config, "float32").lower(
                prepared, images.astype("float32"), d_logits.astype("float32")
            )
        return lowered.as_text().count("\n")

    assert lines(1) < lines(3) == lines(9)


KEPT = """
import {first}vjproof.engines.jax_engine as e, numpy as np
from tests.nets import draw, make_config
config = make_config(); params, images, _ = draw(config, 1); engine = e.JaxEngine()
engine.logits(config, engine.prepare(config, params, "float64"), images)
import jax, os
print(jax.config.jax_compilation_cache_dir, "JAX_COMPILATION_CACHE_DIR" in os.environ)
"""


@pytest.mark.parametrize(("first", "place"), [("", "vjproof/xla False"), ("jax, ", "None False")])
def test_compiled_code_is_kept_unless_the_caller_started_jax(first, place, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", KEPT.format(first=first)], capture_output=True, text=True, check=True,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert ran.stdout.strip().endswith(place)
    assert ran.stderr == ""
