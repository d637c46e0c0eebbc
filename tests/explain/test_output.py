"""Result files: whole or absent, never one in place of another."""

from pathlib import Path

import numpy as np
import pytest

from vjproof.errors import VjproofError
from vjproof.explain.output import name_outputs, result_files, write_atomically


def test_images_of_one_stem_get_names_of_their_own() -> None:
    images = [Path(name) for name in ("x/a.png", "a.jpg", "A.png", "a-2.png", "y/a.png", "b.png")]
    names = [name.name for name in name_outputs(images, Path("out"))]
    assert names[0] == "a"
    assert names[-1] == "b"
    assert len({name.casefold() for name in names}) == len(images)


def test_dots_in_a_stem_are_kept() -> None:
    (name,) = name_outputs([Path("v1.2.final.jpeg")], Path("out"))
    assert result_files(name) == (Path("out/v1.2.final.png"), Path("out/v1.2.final.npz"))


def test_a_result_never_replaces_an_image(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"photograph")
    with pytest.raises(VjproofError, match="no image would be replaced"):
        name_outputs([tmp_path / "a.png"], tmp_path / "." / "sub" / "..")
    assert name_outputs([tmp_path / "a.jpg"], tmp_path)


class Stop(KeyboardInterrupt):
    """Ctrl-C in the middle of writing."""


@pytest.mark.parametrize("kind", [Stop, ValueError])
def test_nothing_half_written_remains_after_an_interrupt_or_error(tmp_path: Path, kind: type[BaseException]) -> None:
    def fail(file: object) -> None:
        file.write(b"half")
        raise kind

    (tmp_path / "a.png").write_bytes(b"old")
    with pytest.raises(kind):
        write_atomically({tmp_path / "a.png": lambda file: file.write(b"new"), tmp_path / "a.npz": fail})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.png": b"old"}


def test_all_files_take_their_place(tmp_path: Path) -> None:
    new = tmp_path / "deep" / "out"
    write_atomically({new / "a": lambda file: file.write(b"1"), new / "b": lambda file: np.save(file, np.arange(3))})
    assert sorted(path.name for path in new.iterdir()) == ["a", "b"]
    np.testing.assert_array_equal(np.load(new / "b", allow_pickle=False), [0, 1, 2])


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(VjproofError, match="place to write"):
        write_atomically({tmp_path / "file" / "a.png": lambda file: None})
    with pytest.raises(VjproofError, match="too long"):
        write_atomically({tmp_path / ("x" * 300): lambda file: file.write(b"1")})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
