"""A term's value by brute force: loops over every summed index, at small sizes; knows nothing of normal forms."""

import itertools
import math

import numpy as np
import scipy.special

from vjproof.kernel.atoms import Variable


def factor_size(factor, sizes):
    """Return the number of elements of a factor: an atomic axis, or a tuple of parts (a union)."""
    return sizes[factor] if isinstance(factor, str) else sum(axis_size(part, sizes) for part in factor)


def axis_size(axis, sizes):
    """Return the number of elements of an axis, a tuple of factors."""
    return math.prod(factor_size(factor, sizes) for factor in axis)


class Evaluator:
    """Values of polynomials: `sizes` of atomic axes, `tensors` (one array axis for each factor), `functions`.

    `functions` maps the name of an opaque atom to f(arrays, indices); each array has one axis for each variable.
    """

    def __init__(self, sizes, tensors, functions=None):
        self.sizes, self.tensors = sizes, tensors
        self.functions = {"max": lambda arrays, indices: np.max(arrays[0]), **(functions or {})}

    def index(self, index, env):
        """Return the number of an index: a variable's value, or the place of an embedded part in its union."""
        if isinstance(index, Variable):
            return env[index.name]
        union, start, stop, inner = index
        before = sum(axis_size(part, self.sizes) for part in union[:start])
        if stop - start > 1:
            return before + self.index(inner[0], env)
        place = 0
        for factor, inside in zip(union[start], inner, strict=True):
            place = place * factor_size(factor, self.sizes) + self.index(inside, env)
        return before + place

    def value(self, polynomial, env):
        """Return the value of a polynomial where its free variables have the values of `env`."""
        return sum(float(coefficient) * self.monomial(m, env) for m, coefficient in polynomial.items())

    def scale(self, polynomial, env):
        """Return the size of the largest summand, which rounding errors are relative to."""
        return max((abs(float(c) * self.monomial(m, env)) for m, c in polynomial.items()), default=0.0)

    def monomial(self, monomial, env):
        """Return the value of a product of powers of atoms."""
        total = 1.0
        for atom, exponent in monomial:
            value = self.atom(atom, env)
            total = total * (value ** int(exponent) if exponent == int(exponent) else value ** float(exponent))
        return total

    def atom(self, atom, env):
        """Return the value of an atom."""
        kind, data = atom.kind, atom.data
        if kind == "entry":
            return self.tensors[data[0]][tuple(self.index(i, env) for i in data[1])]
        if kind == "delta":
            return float(self.index(data[0], env) == self.index(data[1], env))
        if kind == "sum":
            return sum(self.monomial(data[1], {**env, **point}) for point in self.points(data[0]))
        if kind == "exp":
            return np.exp(self.monomial(data[0], env))
        if kind == "erfc":
            return scipy.special.erfc(self.value(dict(data[0]), env))
        if kind == "power":
            return self.value(dict(data[0]), env)
        if kind == "opaque":
            return self.opaque(data, env)
        return {"number": lambda: float(data[0]), "pi": lambda: math.pi, "size": lambda: float(self.sizes[data[0]])}[
            kind
        ]()

    def opaque(self, data, env):
        """Return one entry of a function of arrays."""
        name, indices, variables, polynomials = data
        shape = [factor_size(v.factor, self.sizes) for v in variables]
        arrays = [np.zeros(shape) for _ in polynomials]
        for array, polynomial in zip(arrays, polynomials, strict=True):
            for point in self.points(variables):
                place = tuple(point[v.name] for v in variables)
                array[place] = self.value(dict(polynomial), {**env, **point})
        return self.functions[name](arrays, tuple(self.index(i, env) for i in indices))

    def points(self, variables):
        """Return every assignment of values to variables."""
        ranges = [range(factor_size(v.factor, self.sizes)) for v in variables]
        return [{v.name: at for v, at in zip(variables, place, strict=True)} for place in itertools.product(*ranges)]
