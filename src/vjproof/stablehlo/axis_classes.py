"""Classes of equal dimensions, each atomic, a product of classes or a disjoint union of classes.

Two dimensions are put into one class only because an operation makes them the same axis, never for equal size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from vjproof.kernel.program import Axis, union

UNIT = 0
PRODUCT, UNION = "product", "union"


class Conflict(Exception):  # noqa: N818 - turned into a VjproofError with the operation's place
    """Two splits of one dimension that do not fit together."""


class AxisClasses:
    """Union-find over dimensions with structure; class 0 is the unit axis. `changed` says that something was learnt."""

    def __init__(self) -> None:
        self._parent, self._size = [UNIT], [1]
        self._form: list[tuple[str, list[int]] | None] = [None]
        self._axes: dict[int, Axis] = {}
        self.changed = False

    def new(self, size: int, form: tuple[str, list[int]] | None = None) -> int:
        """Return a class of its own for a dimension of `size` elements."""
        if size == 1:
            return UNIT
        self._parent.append(len(self._parent))
        self._size.append(size)
        self._form.append(form)
        return len(self._parent) - 1

    def find(self, one: int) -> int:
        """Return the representative of a class."""
        root = one
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[one] != root:
            self._parent[one], one = root, self._parent[one]
        return root

    def size(self, one: int) -> int:
        """Return the number of elements."""
        return self._size[self.find(one)]

    def factors(self, one: int) -> list[int]:
        """Return the classes whose product a class is, none of them a product."""
        root = self.find(one)
        form = self._form[root]
        if form is None or form[0] == UNION:
            return [] if root == UNIT else [root]
        return [factor for part in form[1] for factor in self.factors(part)]

    def parts(self, one: int) -> list[int]:
        """Return the classes whose disjoint union a class is, none of them a union."""
        root = self.find(one)
        form = self._form[root]
        return [p for part in form[1] for p in self.parts(part)] if form and form[0] == UNION else [root]

    def product(self, factors: Sequence[int]) -> int:
        """Return the class of a product."""
        flat = [factor for one in factors for factor in self.factors(one)]
        if len(flat) < 2:
            return flat[0] if flat else UNIT
        return self.new(prod(map(self.size, flat)), (PRODUCT, flat))

    def union(self, parts: Sequence[int]) -> int:
        """Return the class of a disjoint union."""
        flat = [part for one in parts for part in self.parts(one)]
        return flat[0] if len(flat) == 1 else self.new(sum(map(self.size, flat)), (UNION, flat))

    def _shape(self, root: int, kind: str, members: list[int]) -> None:
        self._form[root] = (kind, members)
        self.changed = True

    def unify(self, one: int, other: int) -> None:
        """Make two classes one; Conflict where their splits do not fit together."""
        a, b = self.find(one), self.find(other)
        if a == b:
            return
        if self._size[a] != self._size[b]:
            raise Conflict(f"{self._size[a]} and {self._size[b]} elements are the same axis")
        first, second = self._form[a], self._form[b]
        if first is None or second is None:
            a, b = (a, b) if first is None else (b, a)
            self._parent[a] = b
            self.changed = True
            return
        if first[0] == UNION and second[0] == PRODUCT:
            a, b, first, second = b, a, second, first
        members = list(second[1])
        if second[0] == PRODUCT:
            groups = self.split(a, [self.size(member) for member in members])
        else:
            ends = [sum(map(self.size, members[:k])) for k in range(len(members) + 1)]
            groups = [self.section(a, start, stop) for start, stop in pairwise(ends)]
        self._parent[self.find(b)] = self.find(a)
        for group, member in zip(groups, members, strict=True):
            self.unify(group, member)

    def split(self, one: int, sizes: Sequence[int]) -> list[int]:
        """Return classes of these sizes whose product a class is, splitting it where it is not split yet."""
        pending, groups = self.factors(one), []
        for size in reversed(sizes):
            group: list[int] = []
            while size > 1:
                last = pending.pop()
                count = self.size(last)
                if size % count == 0:
                    group.insert(0, last)
                    size //= count
                elif count % size == 0:
                    outer, inner = self._halve(last, size)
                    pending += self.factors(outer)
                    group = [*self.factors(inner), *group]
                    size = 1
                else:
                    raise Conflict(
                        f"an axis of {self.size(one)} elements is split in two ways that do not fit together"
                    )
            groups.append(self.product(group))
        return groups[::-1]

    def _halve(self, one: int, inner: int) -> tuple[int, int]:
        """Split an atomic class or a union in two: rows, and `inner` elements in each row."""
        root = self.find(one)
        count = self._size[root]
        if self._form[root] is None:
            halves = self.new(count // inner), self.new(inner)
        else:
            rows, columns = [], self.new(inner)
            for part in self.parts(root):
                if self.size(part) % inner:
                    raise Conflict(f"an axis of {count} elements is split into rows of {inner}, and cut within a row")
                row, column = self.split(part, [self.size(part) // inner, inner])
                rows.append(row)
                self.unify(columns, column)
            halves = self.union(rows), columns
        self._shape(root, PRODUCT, [*self.factors(halves[0]), *self.factors(halves[1])])
        return halves

    def cut(self, one: int, at: int) -> None:
        """Make a class a disjoint union with a boundary after `at` elements."""
        root = self.find(one)
        if not 0 < at < self._size[root]:
            return
        form = self._form[root]
        if form is None:
            self._shape(root, UNION, [self.new(at), self.new(self._size[root] - at)])
        elif form[0] == PRODUCT:
            lead, *rest = self.factors(root)
            row = prod(map(self.size, rest))
            if at % row:
                raise Conflict(
                    f"an axis of {self._size[root]} elements is split into rows of {row}, and cut within a row"
                )
            self.cut(lead, at // row)
        else:
            for part in self.parts(root):
                if at < self.size(part):
                    self.cut(part, at)
                    return
                at -= self.size(part)

    def section(self, one: int, start: int, stop: int) -> int:
        """Return the class of the elements start to stop - 1, cutting where nothing is cut yet."""
        root = self.find(one)
        if (start, stop) == (0, self._size[root]):
            return root
        self.cut(root, start)
        self.cut(root, stop)
        form = self._form[self.find(root)]
        if form is not None and form[0] == PRODUCT:
            lead, *rest = self.factors(root)
            row = prod(map(self.size, rest))
            return self.product([self.section(lead, start // row, stop // row), *rest])
        taken, at = [], 0
        for part in self.parts(root):
            low, high = max(start - at, 0), min(stop - at, self.size(part))
            if low < high:
                taken.append(self.section(part, low, high))
            at += self.size(part)
        return self.union(taken)

    def axis(self, one: int, names: dict[int, str]) -> Axis:
        """Return a class as an axis of a program; `names` gets a name for each atomic class that is met."""
        root = self.find(one)
        if root == UNIT:
            return ()
        form = self._form[root]
        if form is None:
            return (names.setdefault(root, f"n{self._size[root]}_{len(names)}"),)
        members = [self.axis(member, names) for member in form[1]]
        return union(members) if form[0] == UNION else tuple(factor for member in members for factor in member)
