"""Random expressions, built twice: as terms of the kernel, and as numbers by brute force on the expression."""

import itertools
from fractions import Fraction

import numpy as np
import scipy.special
from hypothesis import strategies as st

from tests.kernel.evaluate import Evaluator, axis_size, factor_size
from vjproof.kernel.terms import ONE, Algebra, embed

UNION = (("a",), ())  # a + 1
WIDE = ((), ("a",), ("b", "c"))  # 1 + a + b * c
TENSORS = {"S": (), "T": ("a",), "U": ("a", "b"), "V": (UNION,), "W": (WIDE, "a"), "R": ("c",)}
FREE = ("a", "a", "b", "c", UNION, WIDE)
SIZES = ({"a": 2, "b": 3, "c": 2}, {"a": 1, "b": 2, "c": 1}, {"a": 2, "b": 2, "c": 2})


def numbers(sizes, seed=0):
    """Return random entries of every tensor."""
    random = np.random.default_rng(seed)
    return {name: random.uniform(-0.8, 0.8, [factor_size(f, sizes) for f in t]) for name, t in TENSORS.items()}


class Trees:
    """Draws expressions: nested tuples over variables, which are numbered and have a factor each."""

    def __init__(self, draw):
        self.draw, self.factors = draw, list(FREE)

    def choose(self, choices):
        return self.draw(st.sampled_from(choices))

    def index(self, factor, scope):
        """Draw an index over a factor: a variable in scope, or a part of the union."""
        bare = [("var", n) for n in scope if self.factors[n] == factor]
        if isinstance(factor, str):
            return self.choose(bare)
        start = self.draw(st.integers(0, len(factor) - 1))
        parts = factor[start]
        return self.choose([*bare, ("part", factor, start, start + 1, tuple(self.index(f, scope) for f in parts))])

    def tree(self, depth, scope, exponentials=1):
        """Draw an expression over the variables in scope."""
        leaves = ["entry", "entry", "entry", "delta", "const", "size", "root", "pi"]
        kinds = ["entry", "add", "mul", "mul", "sum", "sum", "power", "square", *(["exp", "erfc"] * exponentials)]
        kind = self.choose(kinds if depth > 0 else leaves)
        if kind == "entry":
            name = self.choose(sorted(TENSORS))
            return kind, name, tuple(self.index(f, scope) for f in TENSORS[name])
        if kind == "delta":
            factor = self.choose(["a", "b", UNION, WIDE])
            return kind, self.index(factor, scope), self.index(factor, scope)
        if kind == "const":
            return kind, self.choose([Fraction(-1, 2), Fraction(1, 3), Fraction(5, 4), Fraction(1)])
        if kind == "size":
            return kind, self.choose([("a",), ("a", "b"), (UNION,), (UNION, "c")]), self.choose(["1", "-1", "-1/2"])
        if kind == "root":
            return kind, self.choose([12, Fraction(2, 45)]), self.choose(["1/2", "-1/3", "-1"])
        if kind == "pi":
            return kind, self.choose(["1", "-1/2"])
        if kind in ("add", "mul"):
            return kind, self.tree(depth - 1, scope, exponentials), self.tree(depth - 1, scope, exponentials)
        if kind == "sum":
            self.factors.append(self.choose(["a", "b", "c", UNION]))
            new = len(self.factors) - 1
            return kind, new, self.tree(depth - 1, [*scope, new], exponentials)
        if kind == "power":  # of a sum that is positive everywhere
            return kind, self.tree(depth - 1, scope, 0), self.choose(["-1", "-2", "1/2", "-1/2", "-3/2"])
        if kind == "square":
            return kind, self.tree(depth - 1, scope, exponentials), self.choose([2, 3])
        return kind, self.tree(depth - 1, scope, 0)


@st.composite
def trees(draw, depth=3):
    """Draw (expression, factors of its variables); variables 0 to len(FREE) - 1 are free."""
    made = Trees(draw)
    return made.tree(depth, list(range(len(FREE)))), tuple(made.factors)


class Terms:
    """An algebra with one variable for each variable of the expressions."""

    def __init__(self, factors, budget=60_000):
        self.algebra = Algebra({"a": None, "b": None, "c": None}, budget)
        self.variables = [self.algebra.fresh(factor) for factor in factors]

    def index(self, index):
        if index[0] == "var":
            return self.variables[index[1]]
        return embed(index[1], index[2], index[3], tuple(map(self.index, index[4])))

    def term(self, tree):
        """Return the kernel's term of an expression."""
        algebra, kind = self.algebra, tree[0]
        if kind == "entry":
            return algebra.entry(tree[1], tuple(map(self.index, tree[2])))
        if kind == "delta":
            return algebra.delta(self.index(tree[1]), self.index(tree[2]))
        if kind == "const":
            return {ONE: tree[1]}
        if kind == "size":
            return algebra.size(tree[1], Fraction(tree[2]))
        if kind == "root":
            return algebra.number(tree[1], Fraction(tree[2]))
        if kind == "pi":
            return algebra.term("pi", exponent=Fraction(tree[1]))
        if kind == "add":
            return algebra.add(self.term(tree[1]), self.term(tree[2]))
        if kind == "mul":
            return algebra.multiply(self.term(tree[1]), self.term(tree[2]))
        if kind == "sum":
            return algebra.sum([self.variables[tree[1]]], self.term(tree[2]))
        if kind == "square":
            return algebra.power(self.term(tree[1]), Fraction(tree[2]))
        inner = self.term(tree[1])
        if kind == "power":
            positive = algebra.add({ONE: Fraction(1)}, algebra.multiply(inner, inner))
            return algebra.power(positive, Fraction(tree[2]))
        return algebra.exp(inner) if kind == "exp" else algebra.erfc(inner)


class Values:
    """Numbers of expressions, straight from their meaning."""

    def __init__(self, factors, sizes, tensors):
        self.factors, self.sizes, self.tensors = factors, sizes, tensors

    def index(self, index, env):
        if index[0] == "var":
            return env[index[1]]
        _, union, start, _, inner = index
        shape = [factor_size(f, self.sizes) for f in union[start]]
        inside = np.ravel_multi_index([self.index(i, env) for i in inner], shape) if shape else 0
        return sum(axis_size(part, self.sizes) for part in union[:start]) + int(inside)

    def value(self, tree, env):
        """Return the value of an expression at the values `env` of its variables."""
        kind = tree[0]
        if kind == "entry":
            return self.tensors[tree[1]][tuple(self.index(i, env) for i in tree[2])]
        if kind == "delta":
            return float(self.index(tree[1], env) == self.index(tree[2], env))
        if kind == "const":
            return float(tree[1])
        if kind == "size":
            return axis_size(tree[1], self.sizes) ** float(Fraction(tree[2]))
        if kind == "root":
            return float(tree[1]) ** float(Fraction(tree[2]))
        if kind == "pi":
            return np.pi ** float(Fraction(tree[1]))
        if kind == "sum":
            count = factor_size(self.factors[tree[1]], self.sizes)
            return sum(self.value(tree[2], {**env, tree[1]: at}) for at in range(count))
        inner = self.value(tree[1], env)
        if kind in ("add", "mul"):
            other = self.value(tree[2], env)
            return inner + other if kind == "add" else inner * other
        if kind == "square":
            return inner ** tree[2]
        if kind == "power":
            return (1 + inner * inner) ** float(Fraction(tree[2]))
        return np.exp(inner) if kind == "exp" else scipy.special.erfc(inner)


def environments(sizes):
    """Return some assignments of values to the free variables: the corners, and a few between."""
    ranges = [range(factor_size(factor, sizes)) for factor in FREE]
    points = list(itertools.product(*ranges))
    return [dict(enumerate(point)) for point in points[:: max(1, len(points) // 8)]]


def evaluator(sizes, tensors):
    """Return the brute-force evaluator of terms for these numbers."""
    return Evaluator(sizes, tensors)
