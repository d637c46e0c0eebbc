"""Files are read up to a bound, whatever they claim, and written whole or not at all."""

from pathlib import Path

import pytest

from vjproof.errors import VjproofError
from vjproof.files import bytes_writer, read_bounded, write_together
from vjproof.stablehlo.source import load


def test_a_file_up_to_the_bound_is_read_and_a_longer_one_refused(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_bounded(file, 5) == b"12345"
    with pytest.raises(VjproofError, match="at most 4 bytes of digits, got more"):
        read_bounded(file, 4, of=" of digits")


@pytest.mark.parametrize("path", ["nowhere", ".", "a\0b"])
def test_what_cannot_be_read_is_told_in_one_line(path):
    with pytest.raises(VjproofError, match="here: expected a book, got") as problem:
        read_bounded(Path(path), 5, where="here", wanted="a book")
    assert "\n" not in str(problem.value)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such file here")
@pytest.mark.parametrize("read", [lambda path: read_bounded(path, 2**20), lambda path: load(path, "module")])
def test_a_file_that_claims_no_size_and_does_not_end_is_refused(read):
    assert Path("/dev/zero").stat().st_size == 0
    with pytest.raises(VjproofError, match=r"at most \d+ bytes"):
        read(Path("/dev/zero"))


def test_files_are_written_all_or_none(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"old")

    def interrupted(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_together({old: bytes_writer(b"changed"), new: interrupted})
    assert old.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [old]
    write_together({old: bytes_writer(b"changed"), new: bytes_writer(b"new")})
    assert (old.read_bytes(), new.read_bytes()) == (b"changed", b"new")
    assert sorted(tmp_path.iterdir()) == [new, old]
