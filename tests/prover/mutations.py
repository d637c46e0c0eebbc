"""Systematic wrong versions of a program: each changes one line, and says of which kind the mistake is."""

from fractions import Fraction
from functools import partial

from vjproof.kernel.program import Refused, program_from
from vjproof.program.recorder import program_data

OTHERS = {"add": "sub", "sub": "add", "mul": "div", "div": "mul", "exp": "erf", "erf": "tanh", "erfc": "erf",
          "tanh": "logistic", "logistic": "tanh", "sum": "max", "max": "sum"}  # fmt: skip
FAR = (1, 2, 3, 5, 8, 13)  # how far back another value of the same shape is taken from


class Mutations:
    """The mutants of one program: (kind, what was done, program); built when asked for, where they are well-formed."""

    def __init__(self, program):
        self.program, self.data = program, program_data(program)
        self.lines = self.data["lines"]

    def __iter__(self):
        return self.sample(None)

    def sample(self, share):
        """Yield `share` mutants of each kind, spread over the program (None: all), each program once."""
        seen, kinds = {_live(self.data)}, {}
        for candidate in self._all():
            kinds.setdefault(candidate[0], []).append(candidate)
        for candidates in kinds.values():
            stride = 1 if share is None else max(1, len(candidates) // (2 * share))
            order = [candidate for start in range(stride) for candidate in candidates[start::stride]]
            left = share
            for kind, words, build in order:
                program, live = _built(build)
                if program is not None and live not in seen:
                    seen.add(live)
                    yield kind, words, program
                    left = None if left is None else left - 1
                    if left == 0:
                        break

    def _all(self):
        for place, line in enumerate(self.lines):
            name, kind, arguments, attributes = line
            if kind == "input":
                continue
            yield "sign", f"-{name}", partial(self._negated, place)
            if kind in OTHERS:
                yield (
                    "operation",
                    f"{kind} for {OTHERS[kind]} at {name}",
                    partial(self._changed, place, kind=OTHERS[kind]),
                )
            if kind in ("add", "sub"):
                yield from self._dropped(name, kind, arguments)
            if kind in ("sub", "div", "call_back", "concat") and len(arguments) > 1:
                yield "swapped operands", name, partial(self._changed, place, arguments=arguments[::-1])
            if kind == "dot":
                yield from self._dots(place, name, arguments, attributes)
            if kind in ("sum", "max", "transpose", "broadcast", "slice"):
                yield from self._axes(place, name, kind, attributes)
            if kind in ("power", "size"):
                for exponent in _exponents(attributes["exponent"]):
                    changed = partial(self._changed, place, attributes={**attributes, "exponent": exponent})
                    yield "exponent", f"{name}: {exponent}", changed
            if kind == "const":
                for constant in _constants(attributes["value"]):
                    yield (
                        "constant",
                        f"{name}: {constant}",
                        partial(self._changed, place, attributes={"value": constant}),
                    )
            yield from self._saved(place, name, arguments)
        yield from self._eps()

    def _changed(self, place, kind=None, arguments=None, attributes=None):
        data = _copied(self.data)
        line = data["lines"][place]
        line[1:] = [kind or line[1], line[2] if arguments is None else arguments, attributes or line[3]]
        return data

    def _redirected(self, old, new, data=None):
        """Return the program with every use of `old` after it replaced by `new`."""
        data = _copied(data or self.data)
        for line in data["lines"]:
            if line[0] != new:
                line[2] = [new if argument == old else argument for argument in line[2]]
        data["outputs"] = [new if output == old else output for output in data["outputs"]]
        return data

    def _inserted(self, after, line):
        data = _copied(self.data)
        data["lines"].insert(after + 1, line)
        return data

    def _negated(self, place):
        name = self.lines[place][0]
        return self._redirected(name, "mutant", self._inserted(place, ["mutant", "neg", [name], {}]))

    def _dropped(self, name, kind, arguments):
        both = all(self._depends(argument) for argument in arguments)
        label = "dropped fan-in" if both and kind == "add" else "dropped term"
        for kept in dict.fromkeys(arguments):
            yield label, f"{name} = {kept}", partial(self._redirected, name, kept)

    def _depends(self, name):
        """Say whether a value depends on the cotangent."""
        moved = {"d_y"}
        for line in self.lines:
            if moved & set(line[2]):
                moved.add(line[0])
        return name in moved

    def _dots(self, place, name, arguments, attributes):
        batch, contract = attributes["batch"], attributes["contract"]
        swapped = {"batch": batch[::-1], "contract": contract[::-1]}
        yield "swapped operands", name, partial(self._changed, place, arguments=arguments[::-1], attributes=swapped)
        for side in (0, 1):
            rank = len(self.program.shape(arguments[side]))
            taken = batch[side] + contract[side]
            for free in (axis for axis in range(rank) if axis not in taken):
                sides = [list(contract[0]), list(contract[1])]
                sides[side] = [free, *sides[side][1:]] if sides[side] else sides[side]
                changed = {"batch": batch, "contract": sides}
                yield "transposed weight", f"{name}, side {side}", partial(self._changed, place, attributes=changed)

    def _axes(self, place, name, kind, attributes):
        if kind in ("sum", "max"):
            rank = len(self.program.shape(self.lines[place][2][0]))
            for axis in range(rank):
                if axis not in attributes["axes"]:
                    yield (
                        "wrong axis",
                        name,
                        partial(self._changed, place, attributes={"axes": [axis, *attributes["axes"][1:]]}),
                    )
        elif kind == "slice":
            length = attributes["stop"] - attributes["start"]
            for start in (attributes["start"] - length, attributes["stop"]):
                changed = {**attributes, "start": start, "stop": start + length}
                yield "wrong axis", f"{name} from {start}", partial(self._changed, place, attributes=changed)
        else:
            key = "order" if kind == "transpose" else "places"
            order = attributes[key]
            for i in range(len(order)):
                for j in range(i):
                    swapped = list(order)
                    swapped[i], swapped[j] = order[j], order[i]
                    yield (
                        "wrong axis",
                        f"{name} {swapped}",
                        partial(self._changed, place, attributes={**attributes, key: swapped}),
                    )

    def _saved(self, place, name, arguments):
        """Take another earlier value of the same shape for each operand: a wrong saved activation."""
        shape = self.program.shape
        for at, argument in enumerate(arguments):
            earlier = [
                line[0] for line in self.lines[:place] if shape(line[0]) == shape(argument) and line[0] != argument
            ]
            for far in FAR:
                if far <= len(earlier):
                    changed = [*arguments[:at], earlier[-far], *arguments[at + 1 :]]
                    yield (
                        "wrong saved value",
                        f"{name}: {argument} -> {earlier[-far]}",
                        partial(self._changed, place, None, changed),
                    )

    def _eps(self):
        """Drop eps, double it, and move it outside the root."""
        spread = {line[0] for line in self.lines if "eps" in line[2] and line[1] in ("broadcast", "reshape")} | {"eps"}
        for place, (name, kind, arguments, _) in enumerate(self.lines):
            held = [argument for argument in arguments if argument in spread]
            if kind != "add" or len(held) != 1:
                continue
            rest = next(argument for argument in arguments if argument not in spread)
            yield "eps", f"{name} without eps", partial(self._redirected, name, rest)
            twice = self._inserted(place, ["mutant", "add", [name, held[0]], {}])
            yield "eps", f"{name} with eps twice", partial(self._redirected, name, "mutant", twice)
            for after, (root, kind_, operands, attributes) in enumerate(self.lines):
                if kind_ == "power" and operands == [name]:
                    outside = self._inserted(after, ["mutant", "add", [root, held[0]], {}])
                    outside["lines"][after] = [root, "power", [rest], attributes]
                    yield "eps", f"eps outside the root at {root}", partial(self._redirected, root, "mutant", outside)


def _copied(data):
    return {**data, "lines": [list(line) for line in data["lines"]], "outputs": list(data["outputs"])}


def _built(build):
    """Return (program, its live lines), or (None, "") where the mutant is malformed."""
    data = build()
    try:
        return program_from(data), _live(data)
    except Refused:
        return None, ""


def _exponents(text):
    value = Fraction(text)
    return [str(other) for other in (-value, value * 2, value / 2, value + 1, value - 1) if other]


def _constants(data):
    value, powers = Fraction(data[0]), data[1]
    others = [[str(other), powers] for other in (-value, value * 2, value + 1, value * Fraction(1001, 1000), 0 * value)]
    return [*others, *([[data[0], {}]] if powers else [])]


def _live(data):
    """Return a program's text without the lines that no output needs."""
    needed = set(data["outputs"])
    for name, _, arguments, _ in reversed(data["lines"]):
        if name in needed:
            needed.update(arguments)
    return str([line for line in data["lines"] if line[0] in needed] + [data["outputs"]])
