"""The safetensors header: one line with the reason for every lie, and no allocation that a lie asks for."""

import io
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from vjproof.errors import VjproofError
from vjproof.weights.header import HEADER_LIMIT, read_header

GOOD = {
    "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
    "b": {"dtype": "U8", "shape": [3], "data_offsets": [16, 19]},
}
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 346293852\n"


def raw(header, data=b"\0" * 19, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def changed(**entry):
    return raw(GOOD | {"a": GOOD["a"] | entry})


def read(data):
    return read_header(io.BytesIO(data), "w.safetensors", len(data))


def test_a_good_header_is_read():
    header = read(raw(GOOD | {"__metadata__": {"k": "v"}}))
    assert header.entries["a"].shape == (2, 2)
    assert header.entries["b"].stop - header.entries["b"].start == 3
    assert header.metadata == {"k": "v"}


def test_files_of_the_library_are_read():
    data = save({"x": np.ones((3, 0), np.float32), "y": np.arange(5.0), "z": np.array(2, np.float16)}, {"m": "t"})
    header = read(data)
    assert {name: entry.shape for name, entry in header.entries.items()} == {"x": (3, 0), "y": (5,), "z": ()}


HOSTILE = {
    "pointer": (LFS, "a Git LFS pointer; fetch the file"),
    "empty": (b"", "got 0 bytes"),
    "seven bytes": (b"1234567", "got 7 bytes"),
    "length beyond the limit": (raw(GOOD, length=1 << 62), f"expected a header of at most {HEADER_LIMIT} bytes"),
    "length beyond the file": (raw(GOOD, length=5000), "got a header of 5000 bytes in a file of"),
    "truncated": (raw(GOOD)[:-1], "the file is truncated"),
    "trailing bytes": (raw(GOOD) + b"!", "bytes after the last tensor"),
    "no JSON": (raw(b"{'a': 1}"), "text that is not JSON"),
    "no UTF-8": (raw(b'{"\xff": 1}'), "text that is not JSON"),
    "no object": (raw(b"[1, 2]"), "got a list"),
    "deep nesting": (raw(b'{"a":' + b"[" * 100_000), "nested too deeply"),
    "huge digits": (raw(b'{"a":' + b"9" * 10_000 + b"}"), "text that is not JSON"),
    "duplicate key": (raw(b'{"a": 1, "a": 2}'), "the key a twice"),
    "duplicate key inside": (raw(b'{"a": {"dtype": "F32", "dtype": "F64"}}'), "the key dtype twice"),
    "entry no object": (raw({"a": 3}), "tensor a: expected an object with dtype, shape and data_offsets"),
    "entry lacks shape": (raw({"a": {"dtype": "F32", "data_offsets": [0, 4]}}), "dtype, shape and data_offsets"),
    "unknown dtype": (changed(dtype="F31"), "got dtype F31"),
    "dtype a list": (changed(dtype=["F32"]), "got dtype"),
    "lying shape": (changed(shape=[2, 3]), "expected 24 bytes for F32 (2, 3), got 16 bytes"),
    "absurd shape": (changed(shape=[1 << 50, 2]), "whole numbers up to 2^40"),
    "absurd product": (changed(shape=[1 << 39] * 8), "got 16 bytes"),
    "absurd rank": (changed(shape=[1] * 9), "at most 8 whole numbers"),
    "negative shape": (changed(shape=[-2, -2]), "whole numbers"),
    "float shape": (changed(shape=[2.0, 2]), "whole numbers"),
    "true as a number": (changed(shape=[True, 4]), "whole numbers"),
    "negative offset": (changed(data_offsets=[-16, 0]), "two whole numbers"),
    "three offsets": (changed(data_offsets=[0, 16, 16]), "two whole numbers"),
    "backwards offsets": (changed(data_offsets=[16, 0]), "expected 16 bytes"),
    "overlap": (changed(data_offsets=[4, 20]), "overlaps the tensor before it|leaves a hole"),
    "same bytes twice": (
        raw({"a": GOOD["a"], "b": GOOD["a"]}, b"\0" * 16), "tensor b that overlaps the tensor before it"
    ),
    "hole": (raw({"b": {"dtype": "U8", "shape": [3], "data_offsets": [16, 19]}}), "tensor b that leaves a hole"),
    "metadata of numbers": (raw(GOOD | {"__metadata__": {"k": 1}}), "an object of strings as __metadata__"),
    "metadata a list": (raw(GOOD | {"__metadata__": []}), "an object of strings as __metadata__"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_lie_is_told_in_one_line_and_allocates_nothing(data, reason):
    tracemalloc.start()
    with pytest.raises(VjproofError) as caught:
        read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    line = str(caught.value)
    assert line.startswith("w.safetensors")
    assert any(part in line for part in reason.split("|")), line
    assert "\n" not in line
    assert len(line) < 500
    assert peak < 2_000_000 + 8 * len(data)


def test_names_are_shown_without_control_characters():
    with pytest.raises(VjproofError) as caught:
        read(raw({"\x1b[31m" + "x" * 1000: {"dtype": "?", "shape": [], "data_offsets": [0, 0]}}))
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500


@given(st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_damaged_bytes_never_raise_anything_else(position, patch):
    data = bytearray(raw(GOOD))
    position %= len(data)
    data[position : position + len(patch)] = patch
    try:
        header = read(bytes(data))
    except VjproofError:
        return
    assert all(8 <= entry.start <= entry.stop <= len(data) for entry in header.entries.values())
