"""The table of StableHLO operations that are read: how each is read, in words and by which function."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from vjproof.stablehlo import choices, contraction, control, convolution, elementwise, indexing, movement
from vjproof.stablehlo.elementwise import divide_whole, of_binary, of_floats, of_power, of_unary, remainder_whole
from vjproof.stablehlo.graph_arithmetic import maximum, minimum
from vjproof.stablehlo.unfold import Handler


class Entry(NamedTuple):
    """How an operation is read: the handler, and words for the documentation."""

    handler: Handler
    words: str


def _known(function: np.ufunc) -> Handler:
    return lambda call: elementwise.integers(call, function)


SUBSET: dict[str, Entry] = {
    "stablehlo.abs": Entry(of_floats(elementwise.absolute, np.abs), "max(x, -x)"),
    "stablehlo.add": Entry(of_binary("add", np.add), "add"),
    "stablehlo.and": Entry(_known(np.bitwise_and), "known integers and truth values only"),
    "stablehlo.broadcast_in_dim": Entry(movement.broadcast_in_dim, "broadcast"),
    "stablehlo.case": Entry(control.case, "the branch of a known index"),
    "stablehlo.clamp": Entry(elementwise.clamp, "min(max(low, x), high)"),
    "stablehlo.compare": Entry(choices.compare, "known numbers; of others where a choice by it can be settled"),
    "stablehlo.composite": Entry(control.composite, "its decomposition"),
    "stablehlo.concatenate": Entry(movement.concatenate, "concat"),
    "stablehlo.constant": Entry(
        movement.constant,
        "the constant that a literal is nearest to, which is declared; an array of many numbers is an input",
    ),
    "stablehlo.convert": Entry(elementwise.convert, "the identity between floats, declared; known numbers"),
    "stablehlo.convolution": Entry(convolution.convolution, "a product, where windows neither overlap nor leave gaps"),
    "stablehlo.divide": Entry(of_binary("div", divide_whole), "div"),
    "stablehlo.dot_general": Entry(contraction.dot_general, "dot"),
    "stablehlo.dynamic_slice": Entry(indexing.dynamic_slice, "slices at known places"),
    "stablehlo.dynamic_update_slice": Entry(indexing.dynamic_update_slice, "slices and concat at known places"),
    "stablehlo.exponential": Entry(of_unary("exp"), "exp"),
    "stablehlo.exponential_minus_one": Entry(of_floats(elementwise.exponential_minus_one), "exp(x) - 1"),
    "stablehlo.gather": Entry(indexing.gather, "slices and concat at known places, along each dimension by itself"),
    "stablehlo.get_dimension_size": Entry(movement.get_dimension_size, "a known number"),
    "stablehlo.if": Entry(control.case, "the branch of a known truth value"),
    "stablehlo.iota": Entry(movement.iota, "known numbers"),
    "stablehlo.logistic": Entry(of_unary("logistic"), "logistic"),
    "stablehlo.maximum": Entry(
        of_floats(lambda call: maximum(call.graph, *call.nodes()), np.maximum),
        "max over the two joined; max(-inf, x) is x",
    ),
    "stablehlo.minimum": Entry(
        of_floats(lambda call: minimum(call.graph, *call.nodes()), np.minimum),
        "-max(-x, -y); min(inf, x) is x",
    ),
    "stablehlo.multiply": Entry(of_binary("mul", np.multiply), "mul"),
    "stablehlo.negate": Entry(of_unary("neg", np.negative), "neg"),
    "stablehlo.not": Entry(_known(np.invert), "known integers and truth values only"),
    "stablehlo.optimization_barrier": Entry(movement.unchanged, "the identity"),
    "stablehlo.or": Entry(_known(np.bitwise_or), "known integers and truth values only"),
    "stablehlo.pad": Entry(movement.pad, "concat with the padding; between entries too, or negative"),
    "stablehlo.power": Entry(elementwise.power_of, "power, of a known rational exponent"),
    "stablehlo.reduce": Entry(
        contraction.reduce, "sum, max, -max(-x), or a product written out; from the neutral start value"
    ),
    "stablehlo.reduce_precision": Entry(elementwise.convert, "the identity, declared"),
    "stablehlo.remainder": Entry(lambda call: elementwise.integers(call, remainder_whole), "known integers only"),
    "stablehlo.reshape": Entry(movement.reshape, "reshape"),
    "stablehlo.reverse": Entry(movement.reverse, "slices of one element, joined"),
    "stablehlo.rsqrt": Entry(of_power(Fraction(-1, 2)), "power -1/2"),
    "stablehlo.scatter": Entry(indexing.scatter, "added or replaced at known places, each met once"),
    "stablehlo.select": Entry(
        choices.select,
        "the choice of known truth values; by an equality of others, settled as unequal, which is declared",
    ),
    "stablehlo.sign": Entry(_known(np.sign), "known integers only"),
    "stablehlo.slice": Entry(movement.slice_, "slice; with a stride, of split axes"),
    "stablehlo.sqrt": Entry(of_power(Fraction(1, 2)), "power 1/2"),
    "stablehlo.subtract": Entry(of_binary("sub", np.subtract), "sub"),
    "stablehlo.tanh": Entry(of_unary("tanh"), "tanh"),
    "stablehlo.transpose": Entry(movement.transpose, "transpose"),
    "stablehlo.while": Entry(control.while_loop, "its rounds one after another, while the condition is a known number"),
    "stablehlo.xor": Entry(_known(np.bitwise_xor), "known integers and truth values only"),
    "chlo.erf": Entry(of_unary("erf"), "erf"),
    "chlo.erfc": Entry(of_unary("erfc"), "erfc"),
    "chlo.square": Entry(of_floats(elementwise.square), "x x"),
    "func.call": Entry(control.call_function, "what the function returns"),
}
