"""Result files that are whole or absent: written beside their place, then renamed into it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from vjproof.errors import VjproofError, excerpt
from vjproof.explain.explanation import Explanation
from vjproof.files import Writer, write_together


def name_outputs(images: Sequence[Path], out: Path) -> list[Path]:
    """Return `out`/stem for each image, without a suffix; a stem that is taken gets -2, -3 and so on.

    Stems that differ only in case count as equal. Raises VjproofError when a result would replace an image.
    """
    inputs = {image.resolve() for image in images}
    taken: set[str] = set()
    last: dict[str, int] = {}
    names = []
    for image in images:
        stem, number = image.stem, last.get(image.stem, 1)
        while stem.casefold() in taken:
            number += 1
            stem = f"{image.stem}-{number}"
        last[image.stem] = number
        taken.add(stem.casefold())
        names.append(out / stem)
        if {file.resolve() for file in result_files(names[-1])} & inputs:
            raise VjproofError(
                str(out), expected="a folder in which no image would be replaced", got=f"{stem}.png among the images",
                remedy="choose another one with -o",
            )  # fmt: skip
    return names


def result_files(name: Path) -> tuple[Path, Path]:
    """Return the picture's and the arrays' file for a name of `name_outputs`."""
    return name.with_name(name.name + ".png"), name.with_name(name.name + ".npz")


def npz_writer(explanation: Explanation) -> Writer:
    """Return a writer of the arrays `gradient`, `image`, `logits`, and of `record`, a JSON string."""

    def write(file: IO[bytes]) -> None:
        import numpy as np

        np.savez(
            file, gradient=explanation.gradient, image=explanation.x, logits=explanation.logits,
            record=np.array(json.dumps(explanation.record())),
        )  # fmt: skip

    return write


def write_atomically(writers: Mapping[Path, Writer]) -> None:
    """Write each file by its writer, all of them completely before the first takes its place.

    Folders are created. After an error or an interrupt none is half-written. Raises VjproofError when the disk
    refuses.
    """
    try:
        for path in writers:
            path.parent.mkdir(parents=True, exist_ok=True)
        write_together(writers)
    except OSError as problem:
        raise VjproofError(
            excerpt(problem.filename or next(iter(writers))), expected="a place to write results to",
            got=excerpt(problem.strerror or problem), remedy="choose another folder with -o",
        ) from None  # fmt: skip
