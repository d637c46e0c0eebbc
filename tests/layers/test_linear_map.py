"""LinearMap: its algebra against dense matrices, its singular values by SciPy, its refusals."""

import numpy as np
import pytest
from scipy.sparse.linalg import svds

from tests.compare import assert_close
from tests.derivatives import complex_step, matrix
from tests.nets import draw as draw_net
from tests.nets import make_config
from vjproof.errors import VjproofError
from vjproof.layers import layer_norm
from vjproof.layers.linear_map import LinearMap, batch_map_aux, compose, identity
from vjproof.vit import model


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def dense_map(n, m, seed=0):
    """Return v -> v W and its transpose, with W (n, m)."""
    w = draw(n, m, seed=seed)
    return LinearMap((n,), (m,), lambda v: v @ w, lambda v: v @ w.T)


A, B, C = dense_map(3, 5, 0), dense_map(4, 3, 1), dense_map(3, 5, 2)


def dense(linear):
    """Return the matrix of `linear` after checking that its transpose has the transposed matrix."""
    of_map, of_transpose = matrix(linear, linear.domain), matrix(linear.transpose, linear.codomain)
    assert_close(of_transpose, of_map.T, 1e-14)
    return of_map


def test_composition_and_sum_are_those_of_the_matrices():
    assert_close(dense(A @ B), dense(A) @ dense(B), 1e-14)
    assert_close(dense(A + C), dense(A) + dense(C), 1e-14)
    assert_close(dense(compose(A.transpose, C, B)), dense(A).T @ dense(C) @ dense(B), 1e-14)
    assert_close(dense(compose(A)), dense(A), 0)


def test_residual_adds_the_identity():
    square = A.transpose @ A
    assert_close(dense(square.residual()), np.eye(3) + dense(square), 1e-14)
    assert_close(dense(identity((2, 3))), np.eye(6), 0)


def test_per_row_and_batch_map_are_block_diagonal():
    for lifted in (A.per_row(3), A.batch_map(3)):
        assert (lifted.domain, lifted.codomain) == ((3, 3), (3, 5))
        assert_close(dense(lifted), np.kron(np.eye(3), dense(A)), 1e-14)


def norm_back(x):
    """Return layer norm's reverse at x (..., 4)."""
    scale, saved = 1 + draw(4) / 3, layer_norm.normalise(1e-6, x)
    return LinearMap(
        x.shape, x.shape,
        lambda d: layer_norm.pullback(scale, saved, d), lambda t: layer_norm.pushforward(scale, saved, t),
    )  # fmt: skip


def test_batch_map_aux_gives_each_example_its_own_map():
    x = draw(3, 4, seed=5)
    got = dense(batch_map_aux(3, norm_back, x))
    for b in range(3):
        block = slice(4 * b, 4 * b + 4)
        assert_close(got[block, block], dense(norm_back(x[b])), 1e-14)
        got[block, block] = 0
    assert np.array_equal(got, np.zeros((12, 12)))


def test_transpose_twice_is_the_map():
    assert A.transpose.transpose == A
    v, w = draw(3, seed=3), draw(5, seed=4)
    assert_close(np.dot(A(v), w), np.dot(v, A.transpose(w)), 1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_svds_gives_the_largest_singular_values_of_a_networks_jacobian(dtype):
    config = make_config(depth=2, layer_scale=True)
    params, images, _ = draw_net(config, 1)
    images = images[0]
    back = model.pullback(config, params, model.forward(config, params, images)[1])
    operator = back.flat(dtype)
    assert operator.shape == (images.size, config.classes)
    assert operator.dtype == dtype
    singular = np.sort(svds(operator, k=3, return_singular_vectors=False, random_state=0))[::-1]
    jacobian = complex_step(lambda x: model.logits(config, params, x), images)
    want = np.linalg.svd(jacobian, compute_uv=False)[:3]
    assert_close(singular, want, {"float64": 1e-11, "float32": 1e-4}[dtype])


def test_flat_works_on_vectors_and_matrices():
    operator = A.per_row(2).flat()
    v = draw(6)
    assert_close(operator @ v, A(v.reshape(2, 3)[0]).tolist() + A(v.reshape(2, 3)[1]).tolist(), 1e-14)
    assert_close(operator @ np.eye(6), dense(A.per_row(2)), 1e-14)
    assert_close(operator.H @ np.eye(10), dense(A.per_row(2)).T, 1e-14)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: A @ C, "composition of linear maps: expected (3,), got (5,)"),
        (lambda: A + B, "sum of linear maps: expected (3,) -> (5,), got (4,) -> (3,)"),
        (lambda: A.residual(), "sum of linear maps: expected (3,) -> (3,), got (3,) -> (5,)"),
        (lambda: A(np.ones((2, 3))), "linear map: expected an array (3,), got (2, 3)"),
        (lambda: A.transpose(np.ones(3)), "linear map: expected an array (5,), got (3,)"),
        (
            lambda: batch_map_aux(2, lambda x: norm_back(x[0]), np.ones((2, 4))),
            "batch_map_aux: expected maps with a leading axis 2, got (4,) -> (4,)",
        ),
    ],
)
def test_shapes_that_do_not_meet_are_refused_in_one_line(build, message):
    with pytest.raises(VjproofError) as caught:
        build()
    assert str(caught.value) == message
