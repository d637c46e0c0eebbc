"""Which picture files a command works on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from vjproof.errors import VjproofError, excerpt

SUFFIXES = {
    ".avif", ".bmp", ".gif", ".jp2", ".jpe", ".jpeg", ".jpg", ".mpo",
    ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp",
}  # fmt: skip


def find_images(paths: Iterable[str | Path], *, recursive: bool = False) -> list[Path]:
    """Return the files among `paths` as given, each folder replaced by its pictures, sorted by name.

    A folder is searched by suffix, hidden files left out, its own folders only when `recursive`.
    A file named twice is kept once. Raises VjproofError for a path that is not there and a folder without pictures.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        try:
            found.update(dict.fromkeys(_in_folder(path, recursive) if path.is_dir() else [_present(path)]))
        except (OSError, ValueError) as problem:
            raise VjproofError(excerpt(path), expected="a readable path", got=excerpt(problem)) from None
    return list(found)


def _present(path: Path) -> Path:
    if not path.exists():
        raise VjproofError(str(path), expected="a picture or a folder of pictures", got="nothing there")
    return path


def _in_folder(folder: Path, recursive: bool) -> list[Path]:
    """Return the pictures of `folder`, sorted."""
    entries = folder.rglob("*") if recursive else folder.iterdir()
    pictures = sorted(
        entry
        for entry in entries
        if entry.suffix.lower() in SUFFIXES and not entry.name.startswith(".") and not entry.is_dir()
    )
    if not pictures:
        raise VjproofError(
            str(folder), expected="a folder with pictures", got="none",
            remedy="name files, or search its folders too",
        )  # fmt: skip
    return pictures
