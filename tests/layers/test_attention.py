"""Attention: each of dQ, dK, dV on its own, token counts, equal tokens, heads, half precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compare import assert_close
from tests.derivatives import complex_step
from vjproof.layers import attention

NAMES = ("query", "key", "value")


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def qkv(heads, m, n, width, seed=0):
    return draw(heads, m, width, seed=seed), draw(heads, n, width, seed=seed + 1), draw(heads, n, width, seed=seed + 2)


def plain_attention(q, k, v):
    """Return sdpa head by head and query by query."""
    out = []
    for q_head, k_head, v_head in zip(q, k, v, strict=True):
        rows = []
        for row in q_head:
            e = np.exp([np.dot(row, key) / np.sqrt(len(row)) for key in k_head])
            rows.append(sum(weight * value for weight, value in zip(e / np.sum(e), v_head, strict=True)))
        out.append(rows)
    return np.array(out)


def reference(q, k, v, d_o):
    """Return (o, d_q, d_k, d_v) by jax.vjp of an einsum."""

    def forward(q, k, v):
        weights = jax.nn.softmax(jnp.einsum("hmd,hnd->hmn", q, k) / np.sqrt(q.shape[-1]))
        return jnp.einsum("hmn,hnd->hmd", weights, v)

    with jax.enable_x64(True):
        o, back = jax.vjp(forward, *map(jnp.asarray, (q, k, v)))
        return tuple(map(np.asarray, (o, *back(jnp.asarray(d_o)))))


def test_forward_equals_the_plain_loop():
    q, k, v = qkv(3, 4, 5, 2)
    assert_close(attention.forward(q, k, v)[0], plain_attention(q, k, v), 1e-14)


@pytest.mark.parametrize("n", [1, 5, 17, 50, 197, 257])
def test_any_token_count_in_every_head(n):
    q, k, v = qkv(3, n, n, 4)
    d_o = draw(3, n, 4, seed=9)
    o, saved = attention.forward(q, k, v)
    for got, want in zip((o, *attention.pullback(saved, d_o)), reference(q, k, v, d_o), strict=True):
        if n == 1 and np.max(np.abs(want)) < 1e-15:  # one token: the weights are 1, d_Q = d_K = 0
            assert np.max(np.abs(got)) < 1e-15
            continue
        for head in range(3):
            assert_close(got[head], want[head], 1e-12)


@given(h=st.integers(1, 3), m=st.integers(1, 5), n=st.integers(1, 5), width=st.integers(1, 4), seed=st.integers(0, 99))
def test_each_cotangent_equals_the_complex_step(h, m, n, width, seed):
    inputs = qkv(h, m, n, width, seed)
    d_o = draw(h, m, width, seed=seed + 9)
    back = attention.pullback(attention.forward(*inputs)[1], d_o)
    for index in range(3):

        def at(x, index=index):
            return attention.forward(*inputs[:index], x, *inputs[index + 1 :])[0]

        want = (d_o.ravel() @ complex_step(at, inputs[index])).reshape(back[index].shape)
        assert np.max(np.abs(back[index] - want)) <= 1e-13 * max(1.0, np.max(np.abs(want)))


@pytest.mark.parametrize("index", range(3), ids=NAMES)
def test_a_transposed_score_cotangent_is_caught(index):
    q, k, v = qkv(2, 5, 5, 3)
    d_o = draw(2, 5, 3, seed=9)
    saved = attention.forward(q, k, v)[1]
    d_s = attention.pullback_scores(saved, d_o)
    wrong = (np.swapaxes(d_s, 1, 2) @ k, d_s @ q, saved.weights @ d_o)[index]
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(wrong, reference(q, k, v, d_o)[1 + index], 1e-10)


def test_equal_tokens_attend_uniformly():
    q = k = v = np.full((2, 5, 3), 1000.0)
    d_o = draw(2, 5, 3)
    o, saved = attention.forward(q, k, v)
    assert_close(saved.weights, np.full((2, 5, 5), 0.2), 1e-15)
    assert_close(o, v, 1e-15)
    d_q, d_k, d_v = attention.pullback(saved, d_o)
    # d_S is a rounding error of d_O V^T, 1000 times an entry of d_O; the products with K and Q add 1000 again.
    assert np.max(np.abs(d_q)) <= 1e-15 * 1000 * 1000 * np.sum(np.abs(d_o))
    assert np.max(np.abs(np.sum(d_k, axis=-2))) <= 1e-15 * 1000 * 1000 * np.sum(np.abs(d_o))
    assert_close(d_v, np.broadcast_to(np.mean(d_o, axis=-2, keepdims=True), d_v.shape), 1e-14)


def test_equal_keys_leave_rows_of_d_key_that_sum_to_zero():
    q, k, v = qkv(2, 5, 5, 3)
    k = np.broadcast_to(k[:, :1], k.shape)
    d_q, d_k, _ = attention.pullback(attention.forward(q, k, v)[1], draw(2, 5, 3, seed=9))
    assert np.max(np.abs(d_q)) <= 1e-14
    assert np.max(np.abs(np.sum(d_k, axis=-2))) <= 1e-14 * np.sum(np.abs(d_k))


def test_half_precision_scores_that_overflow_before_scaling_are_finite():
    q = k = np.full((5, 64), 33.0, np.float16)
    v, d_o = draw(5, 64).astype(np.float16), draw(5, 64, seed=1).astype(np.float16)
    with np.errstate(over="ignore"):
        assert np.isinf(np.sum(q[0] * k[0], dtype=np.float16))
    o, saved = attention.forward(q, k, v)
    for array in (o, *attention.pullback(saved, d_o)):
        assert array.dtype == np.float16
        assert np.all(np.isfinite(array))
    assert_close(o, np.broadcast_to(np.mean(v.astype(float), axis=0), (5, 64)), 5e-3)


@pytest.mark.parametrize("size", [10.0, 100.0])
def test_logits_near_100_and_1e4_in_float32_are_finite(size):
    q, k, v = (np.float32(x) for x in qkv(2, 4, 5, 3))
    q, k = q * np.float32(size), k * np.float32(size)
    o, saved = attention.forward(q, k, v)
    d_o = np.float32(draw(2, 4, 3, seed=9))
    want = attention.forward(*(x.astype(float) for x in (q, k, v)))
    assert_close(o, want[0], 1e-3)
    for got, exact in zip(attention.pullback(saved, d_o), attention.pullback(want[1], d_o), strict=True):
        assert np.all(np.isfinite(got))
        assert np.max(np.abs(got - exact)) <= 1e-2 * size


@pytest.mark.parametrize("library", ["eager", "compiled"])
def test_saturated_rows_compiled_and_eager(library):
    x = 40.0 + draw(4, 6)
    w = np.full((6, 6), 0.1)
    heads = [np.asarray(attention.split_heads(x @ w, 2))] * 3
    d_o = draw(2, 4, 3, seed=9)

    def back(q, k, v, d_o):
        return attention.pullback(attention.forward(q, k, v)[1], d_o)

    with jax.enable_x64(True):
        got = (jax.jit(back) if library == "compiled" else back)(*map(jnp.asarray, (*heads, d_o)))
        for got_array, want in zip(got, back(*heads, d_o), strict=True):
            # All the weight of a row lies on one token: what is left of dQ and dK is rounding of d_O V^T K.
            assert np.max(np.abs(np.asarray(got_array) - want)) <= 1e-11 * np.max(np.abs(heads[0])) ** 2


def test_heads_are_slabs_of_columns():
    x = draw(5, 6)
    parts = attention.split_heads(x, 3)
    for head in range(3):
        assert np.array_equal(parts[head], x[:, 2 * head : 2 * head + 2])
    assert np.array_equal(attention.merge_heads(parts), x)
    interleaved = np.stack([x[:, head::3] for head in range(3)])
    assert not np.array_equal(parts, interleaved)
