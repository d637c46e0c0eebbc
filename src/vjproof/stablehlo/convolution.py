"""Convolutions of the patch-embedding kind, and the two that are its reverses, as products over split dimensions.

Along one spatial dimension, out[o] = sum over w of x[i] k[w] where i and w run over the pairs with
i * lhs_dilation = o * stride + w * rhs_dilation - low. Three cases pair the places one to one:
    patches    x is split into (o, w): stride = width of the window, nothing dilated, no padding;
    spread     out is split into (i, w reversed): x dilated by the width of the window, padded by that width - 1;
    places     x is split into (o, w), w slow: the window dilated by the number of results.
"""

from __future__ import annotations

from typing import Any

from vjproof.stablehlo.graph_arithmetic import dot
from vjproof.stablehlo.unfold import Call
from vjproof.stablehlo.values import Value


def convolution(call: Call) -> list[Value]:
    """Return the convolution as a product, where each spatial dimension is one of the three cases."""
    a = call.attributes
    if a.get("feature_group_count", 1) != 1 or a.get("batch_group_count", 1) != 1:
        return call.refuse("groups of features or of the batch")
    numbers, graph = a["dimension_numbers"], call.graph
    spatial = numbers["input_spatial_dimensions"], numbers["kernel_spatial_dimensions"]
    x = graph.transpose(
        call.node(0), [numbers["input_batch_dimension"], numbers["input_feature_dimension"], *spatial[0]]
    )
    kernel = graph.transpose(
        call.node(1),
        [numbers["kernel_output_feature_dimension"], numbers["kernel_input_feature_dimension"], *spatial[1]],
    )
    reversal = a.get("window_reversal") or [False] * len(spatial[0])
    kernel = graph.reverse(kernel, [2 + k for k, turned in enumerate(reversal) if turned])
    outputs = [call.shape[dim] for dim in numbers["output_spatial_dimensions"]]
    cases = [_case(a, k, graph.shape(x)[2 + k], graph.shape(kernel)[2 + k], out) for k, out in enumerate(outputs)]
    if None in cases:
        return call.refuse("windows that overlap or leave gaps")
    kernel = graph.reverse(kernel, [2 + k for k, kind in enumerate(cases) if kind == "spread"])
    result = _product(call, x, kernel, cases, outputs)
    order = [
        numbers["output_batch_dimension"],
        numbers["output_feature_dimension"],
        *numbers["output_spatial_dimensions"],
    ]
    return [graph.transpose(result, sorted(range(len(order)), key=order.__getitem__))]


def _case(a: Any, k: int, size: int, window: int, out: int) -> str | None:
    """Return the case of a spatial dimension, None for none."""
    count = len(a["dimension_numbers"]["input_spatial_dimensions"])
    stride, left, right = (
        (a.get(name) or [1] * count)[k] for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    padding = a.get("padding")
    low, high = (0, 0) if padding is None else (int(padding.values.reshape(-1)[0]),) * 2 if (
        padding.values.ndim == 0
    ) else (int(edge) for edge in padding.values[k])  # fmt: skip
    if (left, right, low, high) == (1, 1, 0, 0) and size == out * window and (stride == window or out == 1):
        return "patches"
    if (
        (stride, right, low, high) == (1, 1, window - 1, window - 1)
        and out == size * window
        and (left == window or size == 1)
    ):
        return "spread"
    if (stride, left, low, high) == (1, 1, 0, 0) and size == out * window and (right == out or window == 1):
        return "places"
    return None


def _product(call: Call, x: int, kernel: int, cases: list[str | None], outputs: list[int]) -> int:
    """Return the result with dimensions batch, feature, spatial ones."""
    graph = call.graph
    shape = graph.shape(x)
    windows = graph.shape(kernel)[2:]
    split: list[int] = []
    summed_x, summed_kernel, kept_x, kept_kernel = [1], [1], [], []  # dimensions of x and of the kernel
    for k, (kind, window, out) in enumerate(zip(cases, windows, outputs, strict=True)):
        at = 2 + len(split)
        if kind == "spread":
            split.append(shape[2 + k])
            kept_x.append(at)
            kept_kernel.append(2 + k)
            continue
        split += [out, window] if kind == "patches" else [window, out]
        kept_x.append(at if kind == "patches" else at + 1)
        summed_x.append(at + 1 if kind == "patches" else at)
        summed_kernel.append(2 + k)
    x = graph.reshape(x, (*shape[:2], *split))
    result = dot(graph, x, kernel, ([], []), (summed_x, summed_kernel))
    # the result has batch, the kept dimensions of x, feature, the windows of spread dimensions
    count = len(cases)
    order, place = [0, 1 + count], 2 + count
    for k, kind in enumerate(cases):
        order.append(1 + k)
        if kind == "spread":
            order.append(place)
            place += 1
    result = graph.transpose(result, order)
    return graph.reshape(result, (*graph.shape(result)[:2], *outputs))
