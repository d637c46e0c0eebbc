"""Which scalar is differentiated: a logit, or the margin between two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from vjproof.errors import VjproofError, excerpt
from vjproof.vit.params import Array

FORMS = "top1, a class index, a class name, or margin:A-B"


@dataclass(frozen=True)
class Target:
    """The logit `plus` (None: the highest one), less the logit `minus` where there is one."""

    plus: int | None
    minus: int | None = None

    def chosen(self, logits: Array) -> int:
        """Return the index of the positive class for one image's `logits` (K,); the first of equals."""
        return int(logits.argmax()) if self.plus is None else self.plus

    def value(self, logits: Array) -> float:
        """Return the scalar that is differentiated, for one image's `logits` (K,)."""
        less = 0.0 if self.minus is None else float(logits[self.minus])
        return float(logits[self.chosen(logits)]) - less

    def words(self, logits: Array, labels: Sequence[str]) -> str:
        """Return the target in words, such as `logit of class 7 (Sneaker), the highest`."""
        plus = self.chosen(logits)
        if self.minus is not None:
            return f"logit of class {plus} ({labels[plus]}) minus logit of class {self.minus} ({labels[self.minus]})"
        return f"logit of class {plus} ({labels[plus]})" + (", the highest" if self.plus is None else "")


def cotangents(targets: Sequence[Target], logits: Array) -> Array:
    """Return the float64 cotangents (B, K) of `targets` (B of them) at `logits` (B, K): e_plus - e_minus."""
    import numpy as np

    d_logits = np.zeros(logits.shape)
    for row, (target, scores) in enumerate(zip(targets, logits, strict=True)):
        d_logits[row, target.chosen(scores)] += 1.0
        if target.minus is not None:
            d_logits[row, target.minus] -= 1.0
    return d_logits


def parse_targets(texts: Sequence[str], images: int, labels: Sequence[str]) -> list[Target]:
    """Return one target per image; a single text serves all of them.

    Raises VjproofError when the number of texts is neither 1 nor `images`, and for what `parse_target` refuses.
    """
    if len(texts) not in (1, images):
        raise VjproofError(
            "target", expected="1 target" + (f", or {images} for {images} images" if images > 1 else " for 1 image"),
            got=f"{len(texts)} targets",
            remedy="repeat --target once for each image",
        )  # fmt: skip
    targets = [parse_target(text, labels) for text in texts]
    return targets * images if len(targets) == 1 else targets


def parse_target(text: str, labels: Sequence[str]) -> Target:
    """Return the target that `text` names: top1, a class index, a class name, or margin:A-B of two of these.

    Names are matched exactly, then without regard to case. Raises VjproofError, with the closest names, for an
    unknown or ambiguous class, an index out of range, and a margin of a class with itself.
    """
    if text == "top1":
        return Target(None)
    if not text.startswith("margin:"):
        return Target(_class_index(text, labels))
    plus, minus = _margin_sides(text.removeprefix("margin:"), labels)
    if plus == minus:
        raise VjproofError(f"target {excerpt(text)}", expected="two different classes", got=f"class {plus} twice")
    return Target(plus, minus)


def _margin_sides(text: str, labels: Sequence[str]) -> tuple[int, int]:
    """Return the two classes of `A-B`; names may hold hyphens, so every hyphen is tried as the sign."""
    cuts = [(text[:at], text[at + 1 :]) for at, sign in enumerate(text) if sign == "-" and 0 < at < len(text) - 1]
    if not cuts:
        raise VjproofError(f"target margin:{excerpt(text)}", expected="margin:A-B with two classes", got="no A-B")
    pairs = [(_indices(a, labels), _indices(b, labels)) for a, b in cuts]
    known = {(a[0], b[0]) for a, b in pairs if len(a) == len(b) == 1}
    if len(known) == 1:
        return known.pop()
    if known:
        raise VjproofError(
            f"target margin:{excerpt(text)}", expected="one way to read A-B", got=f"{len(known)} ways",
            remedy="use class indices",
        )  # fmt: skip
    best = max(range(len(cuts)), key=lambda i: (bool(pairs[i][0]) + bool(pairs[i][1]), -i))
    return _class_index(cuts[best][0], labels), _class_index(cuts[best][1], labels)


def _indices(text: str, labels: Sequence[str]) -> list[int]:
    """Return the classes that `text` may mean: an index in range, else exact names, else names in any case."""
    index = [int(text)] if re.fullmatch(r"[0-9]{1,9}", text) and int(text) < len(labels) else []
    exact = [i for i, label in enumerate(labels) if label == text]
    if index or exact:
        return sorted({*index, *exact})
    return [i for i, label in enumerate(labels) if label.casefold() == text.casefold()]


def _class_index(text: str, labels: Sequence[str]) -> int:
    """Return the one class that `text` means."""
    found = _indices(text, labels)
    if len(found) == 1:
        return found[0]
    where = f"target {excerpt(text)!r}"
    if found:
        several = ", ".join(f"{i} ({labels[i]})" for i in found[:5])
        raise VjproofError(where, expected="one class", got=f"{len(found)} of them: {several}", remedy="use an index")
    if re.fullmatch(r"[+-]?[0-9]+", text):
        raise VjproofError(where, expected=f"a class index from 0 to {len(labels) - 1}", got=excerpt(text))
    near = _nearest(text, labels)
    raise VjproofError(
        where, expected=FORMS, got="no such class",
        remedy=f"the closest names: {', '.join(near)}" if near else "see the names with vjproof models",
    )  # fmt: skip


def _nearest(text: str, labels: Sequence[str], limit: int = 3) -> list[str]:
    """Return up to `limit` labels that contain `text` or resemble it."""
    folded = {label.casefold(): label for label in labels}
    inside = [folded[key] for key in folded if text.strip() and text.casefold().strip() in key]
    alike = [folded[key] for key in get_close_matches(text.casefold()[:200], folded, n=limit, cutoff=0.4)]
    return [excerpt(label, 40) for label in dict.fromkeys([*inside, *alike])][:limit]
