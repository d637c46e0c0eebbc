"""Correct rewritings: two ways to write one function, in the declared subset; each pair must be proved equal."""

import math

from tests.prover.layer_rewritings import LAYERS
from tests.prover.spellings import (
    HALF,
    ROOT,
    V,
    back_through,
    cubic,
    exp,
    jacobian,
    mean,
    shifted,
    softmax,
    tanh,
    total,
    var,
    xp,
)
from vjproof.layers import gelu
from vjproof.layers.array import erf, erfc, logistic

# name: (shapes, left, right)
ALGEBRA = {
    "sums in another order": (V, lambda x, y, z: (x + y) + z, lambda x, y, z: z + (y + x)),
    "products in another order": (V, lambda x, y, z: (x * y) * z, lambda x, y, z: x * (z * y)),
    "distributed": (V, lambda x, y, z: x * (y + z), lambda x, y, z: x * y + x * z),
    "square of a difference": (V, lambda x, y, z: (x - y) * (x - y), lambda x, y, z: x * x - 2 * x * y + y * y),
    "difference of squares": (V, lambda x, y, z: (x - y) * (x + y), lambda x, y, z: x * x - y * y),
    "minus as a product": (V, lambda x, y, z: x - y, lambda x, y, z: x + (-1.0) * y),
    "signs moved": (V, lambda x, y, z: -(x - y) * z, lambda x, y, z: (y - x) * z),
    "division as a product": (V, lambda x, y, z: x / (1 + exp(y)), lambda x, y, z: x * (1 / (1 + exp(y)))),
    "1 / (Z Z)": (
        V,
        lambda x, y, z: x / (total(exp(y)) * total(exp(y))),
        lambda x, y, z: x / total(exp(y)) / total(exp(y)),
    ),
    "one fraction": (V, lambda x, y, z: x / total(exp(y)) + y / total(exp(y)), lambda x, y, z: (x + y) / total(exp(y))),
    "a scale taken out of a quotient": (
        V,
        lambda x, y, z: (3.0 * x) / (3.0 * total(exp(y))),
        lambda x, y, z: x / total(exp(y)),
    ),
    "scalars merged": (V, lambda x, y, z: 0.5 * (4.0 * (x * 0.25)), lambda x, y, z: 0.5 * x),
    "mean as a sum over the size": (V, lambda x, y, z: mean(x) * y, lambda x, y, z: total(x) / x.shape[-1] * y),
    "mean of a mean": (V, lambda x, y, z: mean(mean(x) + y), lambda x, y, z: mean(x) + mean(y)),
    "centred data have mean 0": (V, lambda x, y, z: y + mean(x - mean(x)), lambda x, y, z: y + 0 * x),
    "a sum of a constant": (V, lambda x, y, z: total(mean(x) + 0 * x) + 0 * x, lambda x, y, z: total(x) + 0 * x),
    "E[x^2] - mu^2": (V, lambda x, y, z: var(x) + 0 * x, lambda x, y, z: mean(x * x) - mean(x) * mean(x) + 0 * x),
    "covariance": (
        V,
        lambda x, y, z: mean((x - mean(x)) * (y - mean(y))) + 0 * x,
        lambda x, y, z: mean(x * y) - mean(x) * mean(y) + 0 * x,
    ),
    "root of a product": (
        V,
        lambda x, y, z: xp(x).sqrt(exp(x) * exp(y)),
        lambda x, y, z: xp(x).sqrt(exp(x)) * xp(x).sqrt(exp(y)),
    ),
    "root as an exponential": (V, lambda x, y, z: xp(x).sqrt(exp(x)), lambda x, y, z: exp(0.5 * x)),
    "exponential of a sum": (V, lambda x, y, z: exp(x + y), lambda x, y, z: exp(x) * exp(y)),
    "exponential of a difference": (V, lambda x, y, z: exp(x - y), lambda x, y, z: exp(x) / exp(y)),
}
FUNCTIONS = {
    "erfc for 1 - erf": (V, lambda x, y, z: erfc(x), lambda x, y, z: 1 - erf(x)),
    "erf is odd": (V, lambda x, y, z: erf(-x), lambda x, y, z: -erf(x)),
    "erfc of the negative": (V, lambda x, y, z: erfc(-x), lambda x, y, z: 2 - erfc(x)),
    "tanh by the logistic": (V, lambda x, y, z: tanh(x), lambda x, y, z: 2 * logistic(2 * x) - 1),
    "tanh by exponentials": (V, lambda x, y, z: tanh(x), lambda x, y, z: (exp(x) - exp(-x)) / (exp(x) + exp(-x))),
    "tanh is odd": (V, lambda x, y, z: tanh(-x), lambda x, y, z: -tanh(x)),
    "logistic by exp(-x)": (V, lambda x, y, z: logistic(x), lambda x, y, z: 1 / (1 + exp(-x))),
    "logistic by exp(x)": (V, lambda x, y, z: logistic(x), lambda x, y, z: exp(x) / (1 + exp(x))),
    "logistic of the negative": (V, lambda x, y, z: logistic(-x), lambda x, y, z: 1 - logistic(x)),
    "slope of tanh: 1 - t^2": (
        V,
        lambda x, y, z: 1 - tanh(x) * tanh(x),
        lambda x, y, z: 4 / ((exp(x) + exp(-x)) * (exp(x) + exp(-x))),
    ),
    "slope of tanh: factors": (V, lambda x, y, z: 1 - tanh(x) * tanh(x), lambda x, y, z: (1 - tanh(x)) * (1 + tanh(x))),
    "slope of tanh: logistic": (
        V,
        lambda x, y, z: 1 - tanh(x) * tanh(x),
        lambda x, y, z: 4 * logistic(2 * x) * (1 - logistic(2 * x)),
    ),
    "slope of the logistic": (
        V,
        lambda x, y, z: logistic(x) * (1 - logistic(x)),
        lambda x, y, z: exp(-x) / ((1 + exp(-x)) * (1 + exp(-x))),
    ),
    "gelu by 1 + erf": (V, lambda x, y, z: gelu.forward("erf", x)[0], lambda x, y, z: 0.5 * x * (1 + erf(x * HALF))),
    "gelu by x / sqrt 2": (
        V,
        lambda x, y, z: gelu.forward("erf", x)[0],
        lambda x, y, z: x * (1 + erf(x / math.sqrt(2.0))) / 2,
    ),
    "gelu by tanh": (V, lambda x, y, z: gelu.forward("tanh", x)[0], lambda x, y, z: 0.5 * x * (1 + tanh(cubic(x)))),
    "slope of gelu by erf": (
        V,
        lambda x, y, z: gelu.forward("erf", x)[1].slope,
        lambda x, y, z: 0.5 * (1 + erf(HALF * x)) + x * exp(-x * x / 2) / math.sqrt(2 * math.pi),
    ),
    "slope of gelu by tanh": (
        V,
        lambda x, y, z: gelu.forward("tanh", x)[1].slope,
        lambda x, y, z: (
            0.5 * (1 + tanh(cubic(x)))
            + 0.5 * x * (1 - tanh(cubic(x)) * tanh(cubic(x))) * ROOT * (1 + 3 * 0.044715 * x * x)
        ),
    ),
    "silu": (V, lambda x, y, z: x * logistic(x), lambda x, y, z: x / (1 + exp(-x))),
    "slope of silu": (
        V,
        lambda x, y, z: logistic(x) + x * logistic(x) * (1 - logistic(x)),
        lambda x, y, z: logistic(x) * (1 + x * (1 - logistic(x))),
    ),
}
SOFTMAX = {
    "shifted by the row's maximum": (V, lambda x, y, z: softmax(x), lambda x, y, z: shifted(x)),
    "shifted by the row's mean": (V, lambda x, y, z: softmax(x), lambda x, y, z: shifted(x, mean)),
    "shifted by a maximum and a mean": (V, lambda x, y, z: shifted(x), lambda x, y, z: shifted(x, mean)),
    "one row's constant added": (V, lambda x, y, z: softmax(x + mean(y)), lambda x, y, z: softmax(x)),
    "normalised once more": (V, lambda x, y, z: softmax(x) / total(softmax(x)), lambda x, y, z: softmax(x)),
    "reciprocal first": (V, lambda x, y, z: softmax(x), lambda x, y, z: exp(x) * (1 / total(exp(x)))),
    "reverse by diag p - p p^T": (V, lambda x, y, z: back_through(softmax(x), y), jacobian),
    "reverse shifted and not": (
        V,
        lambda x, y, z: back_through(shifted(x), y),
        lambda x, y, z: softmax(x) * y - softmax(x) * total(softmax(x) * y),
    ),
    "reverse from exponentials": (
        V,
        lambda x, y, z: back_through(softmax(x), y),
        lambda x, y, z: exp(x) * (y / total(exp(x)) - total(exp(x) * y) / (total(exp(x)) * total(exp(x)))),
    ),
    "rows of probabilities sum to 1": (V, lambda x, y, z: total(softmax(x)) * y, lambda x, y, z: 1.0 * y),
}
REWRITINGS = ALGEBRA | FUNCTIONS | SOFTMAX | LAYERS
