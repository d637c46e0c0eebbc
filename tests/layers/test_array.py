"""Layer code stays within the declared subset of the Array API standard, so that it can be recorded."""

import ast
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import torch

import vjproof
from tests.compare import assert_close
from tests.layers.leaves import LEAVES
from tests.nets import POOLINGS, draw, make_config
from tests.subset import Size, SubsetArray, plain
from vjproof.layers import cls
from vjproof.layers.array import SUBSET, erfc, logistic, namespace, zeros
from vjproof.vit import model, spec

SOURCE = Path(vjproof.__file__).parent
FILES = [*sorted((SOURCE / "layers").glob("*.py")), *(SOURCE / "vit" / f"{n}.py" for n in ("block", "model", "spec"))]


def functions_called(source):
    """Return the names taken from a namespace in `source`: xp.name where xp = namespace(..), or namespace(..).name."""

    def is_namespace(node):
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "namespace"

    nodes = list(ast.walk(ast.parse(source)))
    bound = {
        target.id for n in nodes if isinstance(n, ast.Assign) and is_namespace(n.value) for target in n.targets
    }  # fmt: skip
    attributes = [n for n in nodes if isinstance(n, ast.Attribute)]
    return {
        n.attr for n in attributes if is_namespace(n.value) or (isinstance(n.value, ast.Name) and n.value.id in bound)
    } - {"__name__"}


def test_the_source_calls_the_subset_and_no_more():
    called = {file.name: functions_called(file.read_text()) for file in FILES}
    # erfc and logistic convert the arrays of a library that lacks them; no layer does.
    in_array = called.pop("array.py") - {"asarray"}
    assert set().union(in_array, *called.values()) == SUBSET


@pytest.mark.parametrize("line", ["xp = namespace(x)\nxp.einsum('ij->ji', x)", "y = namespace(x).linalg.norm(x)"])
def test_a_call_outside_the_subset_is_seen(line):
    assert not functions_called(line) <= SUBSET


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_layer_imports_an_array_library_at_the_top(file):
    names = [
        name
        for node in ast.parse(file.read_text()).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else [node.module])
    ]
    assert not {name.partition(".")[0] for name in names} & {"numpy", "scipy", "jax", "torch"}


def same(got, want):
    for got_array, want_array in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert_close(plain(got_array), want_array, 1e-13)


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)
def test_layers_run_on_arrays_that_know_the_subset_only(leaf):
    d_y = leaf.value(leaf.params, *leaf.inputs)

    def everything(params, inputs, d_y):
        return leaf.value(params, *inputs), leaf.back(params, inputs, d_y), leaf.push(params, inputs, inputs)

    args = (leaf.params, leaf.inputs, d_y)
    same(everything(*jax.tree.map(SubsetArray, args)), everything(*args))


def symbolic(config):
    """Return a stand-in for `config` whose sizes are symbols; the counts of rows before the patches are numbers."""
    names = ("channels", "height", "width", "patch", "hidden", "heads", "mlp", "classes", "patches")
    sizes = {name: Size(getattr(config, name)) for name in names}
    grid, image_shape = (tuple(Size(n) for n in pair) for pair in (config.grid, config.image_shape))
    choices = {n: getattr(config, n) for n in ("eps", "gelu", "prefix", "readout", "pooling", "depth", "layer_scale")}
    tokens = choices["prefix"] + sizes["patches"]
    return SimpleNamespace(**sizes, **choices, grid=grid, image_shape=image_shape, tokens=tokens)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("depth", [0, 2])
def test_the_model_runs_with_symbolic_sizes(pooling, depth):
    config = make_config(pooling=pooling, depth=depth, layer_scale=True, gelu="tanh")

    def everything(config, params, images, d_logits):
        values, saved = model.forward(config, params, images)
        back = model.pullback(config, params, saved)
        return values, back(d_logits), back.transpose(images)

    args = draw(config, 2)
    same(everything(symbolic(config), *jax.tree.map(SubsetArray, args)), everything(config, *args))


def test_the_spec_runs_with_symbolic_sizes():
    config = make_config(depth=2)
    params, images, d_logits = draw(config, 3)

    def everything(config, batch, params, x, d_logits):
        one = spec.vit_input_grad_k(config, params, x[..., : config.channels * config.height * config.width])
        return spec.vit_input_grad_kb(batch, config, params, x)(d_logits), one(d_logits[..., : config.classes])

    args = (params, images.ravel(), d_logits.ravel())
    same(everything(symbolic(config), Size(3), *jax.tree.map(SubsetArray, args)), everything(config, 3, *args))


@pytest.mark.parametrize(
    "outside",
    [
        lambda x: namespace(x).einsum("ij->ji", x),
        lambda x: x @ x,
        lambda x: x[0],
        lambda x: x.shape[-1] - 1,
        lambda x: range(x.shape[-1]),
        lambda x: x.shape[-1] < 3,
        lambda x: x.shape[-1] // 2,
        lambda x: x.shape[-1] ** 2,
        lambda x: x > 0,
    ],
)
def test_anything_outside_the_subset_fails(outside):
    with pytest.raises((TypeError, AttributeError)):
        outside(SubsetArray(np.ones((3, 3))))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_special_functions_keep_the_dtype(dtype):
    x = np.asarray([-2.0, 0.0, 2.0], dtype)
    for array in (x, torch.from_numpy(x)):
        for function in (erfc, logistic):
            assert function(array).dtype == array.dtype


def test_zeros_stay_on_the_device_of_the_array():
    x = torch.ones((2, 3), device="meta", dtype=torch.float32)
    made = zeros(x, (4, 3))
    assert (made.device, made.dtype) == (x.device, x.dtype)
    assert cls.scatter_rows(x, 2).device == x.device


def test_arrays_of_two_libraries_are_refused():
    with pytest.raises(TypeError):
        namespace(np.ones(2), torch.ones(2))
