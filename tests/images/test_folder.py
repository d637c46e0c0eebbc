"""Which files a folder gives."""

from pathlib import Path

import pytest

from vjproof.errors import VjproofError
from vjproof.images.folder import find_images


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.JPG", "a.png", "notes.txt", ".hidden.png", "deep/c.webp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    return tmp_path


def test_a_folder_gives_its_pictures_sorted(folder: Path) -> None:
    assert find_images([folder]) == [folder / "a.png", folder / "b.JPG"]


def test_folders_in_it_are_searched_on_request(folder: Path) -> None:
    assert find_images([folder], recursive=True)[-1] == folder / "deep" / "c.webp"


def test_files_keep_their_order_and_come_once(folder: Path) -> None:
    named = [folder / "b.JPG", folder / "notes.txt", folder]
    assert find_images(named) == [folder / "b.JPG", folder / "notes.txt", folder / "a.png"]


def test_nothing_there_and_no_pictures_are_errors(folder: Path) -> None:
    with pytest.raises(VjproofError, match="nothing there"):
        find_images([folder / "absent.png"])
    (folder / "empty").mkdir()
    with pytest.raises(VjproofError, match="folder with pictures"):
        find_images([folder / "empty"])
    with pytest.raises(VjproofError):
        find_images(["nul\0"])
