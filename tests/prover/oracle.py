"""Whether two programs are the same function, by numbers alone: random points at several sizes, float64."""

import numpy as np

from tests.kernel.evaluate import axis_size
from vjproof.program.interpreter import run

TOLERANCE = 1e-9
# sizes of the symbolic axes in order of their names: distinct, distinct another way, some of them 1, all equal
SIZES = (
    (2, 3, 4, 5, 2, 3, 4, 2, 3, 5, 2),
    (3, 2, 2, 3, 4, 2, 3, 5, 2, 3, 2),
    (2, 1, 3, 2, 1, 2, 2, 3, 1, 2, 2),
    (2,) * 11,
)


SAME, OTHER, NOWHERE = "same function", "other function", "nowhere defined"


def compare(first, second, positive=(), points=2):
    """Return SAME where two programs over the same inputs agree to 1e-9 at every point, else OTHER.

    NOWHERE: the second program has no finite value at any of the points, so a claim about it says nothing.
    """
    agree, defined = True, False
    names = sorted(name for name, size in first.atoms.items() if size is None)
    for sizes in SIZES:
        numbers = {**first.atoms, **dict(zip(names, sizes, strict=False))}
        for seed in range(points):
            pairs = zip(outputs(first, numbers, seed, positive), outputs(second, numbers, seed, positive), strict=True)
            for a, b in pairs:
                finite = np.isfinite(b).all()
                defined = defined or bool(finite)
                agree = agree and a.shape == b.shape and bool(finite) and near(a, b)
            if defined and not agree:
                return OTHER
    return SAME if agree else NOWHERE


def near(a, b):
    """Say whether two finite arrays agree to 1e-9, relative to the largest entry or absolutely."""
    return bool(np.max(np.abs(a - b)) <= TOLERANCE * max(1.0, np.max(np.abs(a))))


def outputs(program, sizes, seed, positive):
    """Return the outputs at one random point; an input's numbers depend on its name and its shape alone."""
    inputs = {}
    for name in program.inputs:
        shape = [axis_size(axis, sizes) for axis in program.shape(name)]
        random = np.random.default_rng([seed, *name.encode()])
        if name in positive:
            inputs[name] = random.uniform(0.05, 0.4, shape)
        else:
            inputs[name] = random.standard_normal(shape) * 0.7
    with np.errstate(all="ignore"):
        return run(program, inputs, sizes, unknown(program))


def unknown(program):
    """Return a function of each opaque symbol, and its reverse: tanh u + 0.3 u^2, u linear; neither odd nor even."""
    calls = [op for kind in ("call_back", "call") for op in program.operations.values() if op.kind == kind]
    calls = {operation.attributes["symbol"]: operation for operation in calls}  # a call, where there is one
    return {symbol: mixing(program, operation) for symbol, operation in calls.items()}


def mixing(program, operation):
    lead = operation.attributes["lead"]
    source = program.shape(operation.arguments[0])[lead:]
    called = operation.kind == "call"
    target = operation.shape[lead:] if called else program.shape(operation.arguments[1])[lead:]

    def flat(x, core):
        return x.reshape((*x.shape[: x.ndim - len(core)], -1))

    def weight(m, n):
        return np.sin(1.7 * np.arange(1, m * n + 1)).reshape(m, n) / np.sqrt(m)

    def f(x):
        rows = flat(x, source)
        size = target_size(x)
        u = rows @ weight(rows.shape[-1], size)
        return (np.tanh(u) + 0.3 * u * u).reshape((*rows.shape[:-1], *out_shape(x)))

    def f_back(x, d_y):
        rows, d = flat(x, source), flat(d_y, target)
        w = weight(rows.shape[-1], d.shape[-1])
        u = rows @ w
        return ((d * (1 - np.tanh(u) ** 2 + 0.6 * u)) @ w.T).reshape(x.shape)

    def out_shape(x):
        core = x.shape[x.ndim - len(source) :]
        if source == target:
            return core
        return (1, *core[1:])  # a tower that returns the first row alone

    def target_size(x):
        return int(np.prod(out_shape(x)))

    return f, f_back
