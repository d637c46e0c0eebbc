"""Lines of text that fit their place, in the font that Pillow brings along."""

from __future__ import annotations

from functools import cache
from unicodedata import normalize

from vjproof.vit.params import Array

INK, FAINT = (28, 30, 34), (104, 108, 116)


@cache
def font(size: int) -> Array:
    """Return Pillow's bundled scalable font at `size` pixels."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def drawable(text: str) -> str:
    """Return `text` in characters that the font has: accents are dropped, others become question marks."""
    return "".join(character if _has(character) else _plain(character) for character in text)


def _plain(character: str) -> str:
    return "".join(part for part in normalize("NFKD", character) if _has(part)) or "?"


@cache
def _has(character: str) -> bool:
    if not character.isprintable():
        return False
    shape, missing = font(32).getmask(character), font(32).getmask("\uffff")
    return character == " " or shape.size != missing.size or bytes(shape) != bytes(missing)


def fit(text: str, size: int, width: int) -> str:
    """Return `text`, its middle replaced by three dots if it is wider than `width` pixels at font `size`."""
    shown = drawable(text[:500] if len(text) <= 500 else f"{text[:250]}...{text[-250:]}")
    if font(size).getlength(shown) <= width:
        return shown
    keep = len(shown)
    while keep > 4 and font(size).getlength(_shortened(shown, keep)) > width:
        keep -= 1
    return _shortened(shown, keep)


def _shortened(text: str, keep: int) -> str:
    head = (keep + 1) // 2
    return f"{text[:head].rstrip()}...{text[len(text) - (keep - head) :].lstrip()}"


def write(canvas: Array, at: tuple[int, int], text: str, *, size: int, width: int, colour: Array = INK,
          anchor: str = "ls") -> None:  # fmt: skip
    """Draw one line of `text` on `canvas` (an ImageDraw), cut to `width`, its baseline at `at` (x, y)."""
    canvas.text(at, fit(text, size, width), font=font(size), fill=colour, anchor=anchor)


def wrap(text: str, size: int, width: int, lines: int) -> list[str]:
    """Return `text` broken at spaces into at most `lines` lines of `width` pixels, the last one cut."""
    broken: list[str] = []
    for word in drawable(text).split():
        joined = f"{broken[-1]} {word}" if broken else word
        if broken and (font(size).getlength(joined) <= width or len(broken) == lines):
            broken[-1] = joined
        else:
            broken.append(word)
    return [fit(line, size, width) for line in broken]
