"""The network of MATH.md in mpmath's complex numbers, for complex steps: neither our layers nor our balls.

f(x + i h v) = f(x) + i h <grad f, v> + O(h^2), so Im f / h is the directional derivative to about h^2.
"""

import mpmath

DIGITS = 90
STEP = mpmath.mpf(10) ** -35


def directional(config, params, image, d_logits, direction):
    """Return (<d_logits, logits>, its derivative along `direction` (C, H, W)) as mpmath numbers."""
    with mpmath.workdps(DIGITS):
        moved = [
            [
                [mpmath.mpc(float(x), STEP * float(v)) for x, v in zip(*row, strict=True)]
                for row in zip(*plane, strict=True)
            ]
            for plane in zip(image, direction, strict=True)
        ]
        value = dot([mpmath.mpf(float(d)) for d in d_logits], logits(config, params, moved))
        return value.real, value.imag / STEP


def logits(config, params, image):
    """Return the logits of an image given as nested lists."""
    rows = embed(config, params, image)
    for index, block in enumerate(params.blocks):
        rows = encoder(config, block, rows)
        assert index < config.depth
    count = config.prefix
    if config.pooling == "cls":
        rows = rows[: config.readout]
    if config.pooling == "mean":
        rows = [mean_row(rows[count:])]
    rows = [layer_norm(config, params.norm_scale, params.norm_bias, row) for row in rows]
    if config.pooling == "norm-mean":
        rows = [mean_row(rows[count:])]
    return dense([x for row in rows for x in row], params.w_head, params.b_head)


def embed(config, params, image):
    """Return the tokens: prefix rows, then a row per patch, with positions."""
    size, down, across = config.patch, *config.grid
    rows = [floats(row) for row in params.prefix]
    for i in range(down):
        for j in range(across):
            patch = [
                image[c][size * i + a][size * j + b]
                for c in range(config.channels) for a in range(size) for b in range(size)
            ]  # fmt: skip
            rows.append(
                [
                    dot(floats(w.ravel()), patch) + float(b)
                    for w, b in zip(params.patch_weight, params.patch_bias, strict=True)
                ]
            )
    return [plus(row, floats(position)) for row, position in zip(rows, params.position, strict=True)]


def encoder(config, block, rows):
    """Return the rows after one pre-norm block."""
    normed = [layer_norm(config, block.norm1_scale, block.norm1_bias, row) for row in rows]
    query, key, value = (
        [dense(row, w, b) for row in normed]
        for w, b in ((block.w_q, block.b_q), (block.w_k, block.b_k), (block.w_v, block.b_v))
    )
    width = config.hidden // config.heads
    joined = [[] for _ in rows]
    for head in range(config.heads):
        at = slice(head * width, (head + 1) * width)
        for own, out in zip(query, joined, strict=True):
            scores = [dot(own[at], other[at]) / mpmath.sqrt(width) for other in key]
            weights = [mpmath.exp(score - scores[0]) for score in scores]
            total = mpmath.fsum(weights)
            out += [dot(weights, [row[c] for row in value]) / total for c in range(at.start, at.stop)]
    rows = [
        plus(row, scaled(block.scale1, dense(out, block.w_o, block.b_o))) for row, out in zip(rows, joined, strict=True)
    ]
    after = []
    for row in rows:
        hidden = dense(layer_norm(config, block.norm2_scale, block.norm2_bias, row), block.w_1, block.b_1)
        branch = dense([gelu(config.gelu, x) for x in hidden], block.w_2, block.b_2)
        after.append(plus(row, scaled(block.scale2, branch)))
    return after


def gelu(form, x):
    """Return GELU of one number."""
    if form == "erf":
        return x / 2 * (1 + mpmath.erf(x / mpmath.sqrt(2)))
    u = mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(44715) / 10**6 * x**3)
    return x / 2 * (1 + mpmath.tanh(u))


def layer_norm(config, scale, bias, row):
    """Return the normalised row."""
    middle = mpmath.fsum(row) / len(row)
    variance = mpmath.fsum((x - middle) ** 2 for x in row) / len(row)
    root = mpmath.sqrt(variance + mpmath.mpf(config.eps))
    return [g * (x - middle) / root + b for g, x, b in zip(floats(scale), row, floats(bias), strict=True)]


def dense(row, weight, bias):
    """Return row W + b."""
    return [dot(row, floats(column)) + float(b) for column, b in zip(weight.T, bias, strict=True)]


def dot(left, right):
    """Return the sum of products."""
    return mpmath.fdot(left, right)


def plus(left, right):
    """Return the sum of two rows."""
    return [x + y for x, y in zip(left, right, strict=True)]


def scaled(scale, row):
    """Return a branch after LayerScale, or as it is."""
    return row if scale is None else [s * x for s, x in zip(floats(scale), row, strict=True)]


def mean_row(rows):
    """Return the mean of the rows."""
    return [mpmath.fsum(column) / len(rows) for column in zip(*rows, strict=True)]


def floats(values):
    """Return exact mpmath numbers of an array of floats."""
    return [mpmath.mpf(float(v)) for v in values]
