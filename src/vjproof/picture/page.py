"""The page: a title, three panels with their colour bars, and a line of choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vjproof.picture.colours import diverging
from vjproof.picture.maps import Scale, channel_sum, choose_scale, magnitude, overlay_colours, signed_colours
from vjproof.picture.text import FAINT, INK, wrap, write
from vjproof.vit.params import Array

SIDE = 448  # pixels that a small picture's longer side is magnified to
CELL = 400  # narrowest place for a panel's heading and colour bar
MARGIN, GAP, BAR = 32, 28, 14
PAPER, FRAME = (255, 255, 255), (196, 199, 205)
TITLE, BODY, SMALL = 22, 16, 13


@dataclass(frozen=True)
class Caption:
    """The page's words: a title, lines below it, notes that matter, and the choices at the foot."""

    title: str
    lines: Sequence[str]
    notes: Sequence[str] = ()
    footer: str = ""


@dataclass(frozen=True)
class Panel:
    """One heading, its sRGB pixels (H, W, 3), and what stands below: a bar of colours and its tick labels."""

    heading: str
    pixels: Array
    legend: str
    bar: Array | None = None
    ticks: tuple[str, ...] = ()


def draw_page(photograph: Array, gradient: Array, caption: Caption, scale: float | None = None) -> Array:
    """Return a Pillow image of three panels: photograph, gradient's magnitude over it, signed gradient.

    `photograph` (H, W, 1 or 3) in [0, 1], `gradient` (C, H, W) finite. `scale` fixes the value of the strongest
    colour for both maps; by default each has a robust one, named below it. Raises VjproofError for a bad scale.
    """
    panels = _panels(photograph, gradient, scale)
    height, width = photograph.shape[:2]
    factor = max(1, round(SIDE / max(height, width)))
    cell, tall = max(CELL, width * factor), height * factor
    page_width = 2 * MARGIN + 3 * cell + 2 * GAP
    notes = [line for note in caption.notes for line in wrap(f"Note: {note}", BODY, page_width - 2 * MARGIN, 2)]
    top = MARGIN + 30 + 24 * (len(caption.lines) + len(notes)) + 38
    foot = wrap(caption.footer, SMALL, page_width - 2 * MARGIN, 2)
    page, canvas = _blank(page_width, top + tall + 100 + 20 * len(foot))
    _write_head(canvas, caption, notes, page_width - 2 * MARGIN)
    for number, panel in enumerate(panels):
        _draw_panel(page, canvas, panel, (MARGIN + number * (cell + GAP), top), cell, factor)
    for number, line in enumerate(reversed(foot)):
        at = MARGIN, page.height - 24 - 20 * number
        write(canvas, at, line, size=SMALL, width=page_width - 2 * MARGIN, colour=FAINT)
    return page


def _panels(photograph: Array, gradient: Array, fixed: float | None) -> tuple[Panel, Panel, Panel]:
    """Return the three panels; a map of zeros gets no bar."""
    import numpy as np

    size, total = magnitude(gradient), channel_sum(gradient)
    strong, signed = choose_scale(size, fixed), choose_scale(total, fixed)
    ramp = np.linspace(0.0, 1.0, 256)[None]
    half_grey = np.full((1, 256, 1), 0.5)
    height, width = size.shape
    return (
        Panel("What the network sees", np.broadcast_to(photograph, (height, width, 3)), f"{width} x {height} pixels"),
        Panel(
            "Gradient magnitude", overlay_colours(photograph, size, strong.limit),
            _legend("L2 norm over channels", strong, size),
            overlay_colours(half_grey, ramp, 1.0), ("0", f"{strong.limit / 2:.2g}", f"{strong.limit:.3g}"),
        ),
        Panel(
            "Signed gradient", signed_colours(total, signed.limit), _legend("sum over channels", signed, total),
            diverging(2 * ramp - 1), (f"-{signed.limit:.3g}", "0", f"+{signed.limit:.3g}"),
        ),
    )  # fmt: skip


def _legend(what: str, scale: Scale, values: Array) -> str:
    if not scale.limit:
        return f"{what}: zero everywhere"
    return f"{what}; full colour at the {scale.origin}, largest {abs(values).max():.3g}"


def _blank(width: int, height: int) -> tuple[Array, Array]:
    from PIL import Image, ImageDraw

    page = Image.new("RGB", (width, height), PAPER)
    return page, ImageDraw.Draw(page)


def _write_head(canvas: Array, caption: Caption, notes: Sequence[str], width: int) -> None:
    write(canvas, (MARGIN, MARGIN + 18), caption.title, size=TITLE, width=width)
    baseline = MARGIN + 18
    for line in [*caption.lines, *notes]:
        baseline += 26 if baseline == MARGIN + 18 else 24
        write(
            canvas, (MARGIN, baseline), line, size=BODY, width=width, colour=FAINT if line in caption.lines[1:] else INK
        )


def _draw_panel(page: Array, canvas: Array, panel: Panel, corner: tuple[int, int], cell: int, factor: int) -> None:
    """Draw one panel with its heading above `corner` (x, y) and its legend below, in a column `cell` wide."""
    left, top = corner
    pixels = _bitmap(panel.pixels, factor)
    across, down = pixels.size
    write(canvas, (left, top - 12), panel.heading, size=BODY + 1, width=cell)
    page.paste(pixels, (left, top))
    canvas.rectangle((left - 1, top - 1, left + across, top + down), outline=FRAME)
    under = top + down + 14
    if panel.bar is None or panel.legend.endswith("zero everywhere"):
        write(canvas, (left, under + 12), panel.legend, size=SMALL, width=cell, colour=FAINT)
        return
    length = min(cell, max(across, CELL))
    page.paste(_bitmap(panel.bar, 1).resize((length, BAR)), (left, under))
    canvas.rectangle((left - 1, under - 1, left + length, under + BAR), outline=FRAME)
    for place, tick in enumerate(panel.ticks):
        x, anchor = left + place * length // 2, ("ls", "ms", "rs")[place]
        write(canvas, (x, under + BAR + 17), tick, size=SMALL, width=length // 3, anchor=anchor)
    write(canvas, (left, under + BAR + 38), panel.legend, size=SMALL, width=cell, colour=FAINT)


def _bitmap(pixels: Array, factor: int) -> Array:
    """Return sRGB `pixels` (H, W, 3) in [0, 1] as a Pillow image, each pixel `factor` x `factor`."""
    import numpy as np
    from PIL import Image

    levels = np.rint(np.clip(pixels, 0.0, 1.0) * 255).astype(np.uint8)
    return Image.fromarray(levels.repeat(factor, axis=0).repeat(factor, axis=1))
