"""Reading pictures of every kind, and refusing what is none."""

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vjproof.errors import VjproofError
from vjproof.images.photograph import MAX_PIXELS, read_image, read_photograph

GENERATOR = np.random.default_rng(0)
COLOUR = GENERATOR.integers(0, 256, (5, 7, 3), dtype=np.uint8)
GREY = COLOUR[..., 0]


def saved(tmp_path: Path, pixels: np.ndarray | Image.Image, name: str, **options: object) -> Path:
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(tmp_path / name, **options)
    return tmp_path / name


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, depth: int, colour: int, rows: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.tif", "a.bmp", "a.ppm"])
def test_colour_is_read_exactly(tmp_path: Path, name: str) -> None:
    options = {"lossless": True} if name == "a.webp" else {}
    np.testing.assert_array_equal(read_image(saved(tmp_path, COLOUR, name, **options)), COLOUR / 255)


def test_jpeg_is_read_nearly(tmp_path: Path) -> None:
    smooth = np.linspace(0, 255, 32 * 32 * 3).reshape(32, 32, 3).astype(np.uint8)
    read = read_image(saved(tmp_path, smooth, "a.jpg", quality=98))
    assert read.shape == (32, 32, 3)
    assert abs(read - smooth / 255).max() < 0.05


@pytest.mark.parametrize("mode", ["L", "1", "LA"])
def test_grey_keeps_one_channel(tmp_path: Path, mode: str) -> None:
    image = Image.fromarray(GREY).convert(mode)
    read = read_image(saved(tmp_path, image, "a.png"))
    np.testing.assert_array_equal(read[..., 0], np.asarray(image.convert("L")) / 255)
    assert read.shape == (5, 7, 1)


def test_a_palette_gives_its_colours(tmp_path: Path) -> None:
    image = Image.fromarray(COLOUR).quantize(8)
    expected = np.asarray(image.convert("RGB")) / 255
    np.testing.assert_array_equal(read_image(saved(tmp_path, image, "a.png")), expected)
    np.testing.assert_array_equal(read_image(saved(tmp_path, image, "a.gif")), expected)


def test_alpha_is_composited_over_white_and_said_so(tmp_path: Path) -> None:
    alpha = np.zeros((5, 7), np.uint8)
    alpha[0] = 255
    photograph = read_photograph(saved(tmp_path, np.dstack([COLOUR, alpha]), "a.png"))
    np.testing.assert_array_equal(photograph.pixels[0], COLOUR[0])
    assert (photograph.pixels[1:] == 255).all()
    assert photograph.notes == ("transparent parts were composited over white",)


def test_opaque_alpha_changes_nothing_and_says_nothing(tmp_path: Path) -> None:
    photograph = read_photograph(saved(tmp_path, np.dstack([COLOUR, np.full((5, 7), 255, np.uint8)]), "a.png"))
    np.testing.assert_array_equal(photograph.pixels, COLOUR)
    assert photograph.notes == ()


def test_a_transparent_palette_entry_is_white(tmp_path: Path) -> None:
    image = Image.fromarray(COLOUR).quantize(4)
    clear = np.asarray(image) == 2
    photograph = read_photograph(saved(tmp_path, image, "a.png", transparency=2))
    assert clear.any()
    assert (photograph.pixels[clear] == 255).all()
    assert photograph.notes


def test_cmyk_becomes_rgb(tmp_path: Path) -> None:
    inks = np.zeros((4, 4, 4), np.uint8)
    inks[..., 0] = 255
    photograph = read_photograph(saved(tmp_path, Image.fromarray(inks, "CMYK"), "a.tif"))
    assert (photograph.pixels == [0, 255, 255]).all()
    assert "CMYK" in photograph.notes[0]


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_sixteen_bit_grey_keeps_sixteen_bits(tmp_path: Path, name: str) -> None:
    deep = np.array([[0, 1, 257], [40000, 65534, 65535]], np.uint16)
    np.testing.assert_array_equal(read_image(saved(tmp_path, deep, name))[..., 0], deep / 65535)


def test_sixteen_bit_colour_is_said_to_lose_bits(tmp_path: Path) -> None:
    row = b"\0" + np.arange(6, dtype=">u2").tobytes()
    (tmp_path / "a.png").write_bytes(png(2, 1, 16, 2, row))
    assert "8 bits" in read_photograph(tmp_path / "a.png").notes[0]


def test_a_floating_tiff_is_read_when_it_lies_in_the_unit_interval(tmp_path: Path) -> None:
    pixels = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(read_image(saved(tmp_path, pixels, "a.tif"))[..., 0], pixels)


@pytest.mark.parametrize(("value", "message"), [(np.nan, "NaN"), (2.0, "0 to 2"), (-1.0, "-1 to 0")])
def test_a_floating_tiff_with_other_values_is_refused(tmp_path: Path, value: float, message: str) -> None:
    pixels = np.zeros((3, 4), np.float32)
    pixels[1, 1] = value
    with pytest.raises(VjproofError, match=message):
        read_image(saved(tmp_path, pixels, "a.tif"))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.webp"])
def test_exif_orientation_is_honoured(tmp_path: Path, orientation: int, name: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if name == "a.webp" else {}
    read = read_image(saved(tmp_path, COLOUR, name, exif=exif, **options)) * 255
    turned = {
        1: COLOUR, 2: COLOUR[:, ::-1], 3: COLOUR[::-1, ::-1], 4: COLOUR[::-1], 5: COLOUR.swapaxes(0, 1),
        6: COLOUR[::-1].swapaxes(0, 1), 7: COLOUR[::-1, ::-1].swapaxes(0, 1), 8: COLOUR[:, ::-1].swapaxes(0, 1),
    }[orientation]  # fmt: skip
    np.testing.assert_allclose(read, turned, atol=1e-9)


BROKEN = {
    "empty.png": (b"", "0 bytes"),
    "text.png": (b"not a picture at all", "another kind"),
    "postscript.png": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "another kind"),
    "truncated.png": (png(64, 64, 8, 2, GENERATOR.bytes(64 * 193))[:3000], "complete picture"),
    "absurd.png": (png(60000, 60000, 8, 2, b""), "pixels"),
    "bomb.png": (png(9000, 9000, 8, 0, b"\0" * 9000), "9000 x 9000"),
    "zero.png": (png(0, 5, 8, 0, b""), "expected"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_picture_is_one_line_that_names_it(tmp_path: Path, name: str) -> None:
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(VjproofError, match=message) as caught:
        read_photograph(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_truncation_is_refused_or_complete(tmp_path: Path) -> None:
    whole = saved(tmp_path, COLOUR, "a.png").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "b.png").write_bytes(whole[:length])
        try:
            pixels = read_photograph(tmp_path / "b.png").pixels
        except VjproofError:
            continue
        np.testing.assert_array_equal(pixels, COLOUR)  # only the end marker was missing


def test_flipped_bytes_never_escape_as_another_error(tmp_path: Path) -> None:
    for name in ("a.jpg", "a.tif", "a.gif", "a.webp"):
        whole = saved(tmp_path, COLOUR, name).read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            (tmp_path / "b").write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
            try:
                pixels = read_photograph(tmp_path / "b").pixels
            except VjproofError:
                continue
            assert pixels.shape[0] * pixels.shape[1] <= MAX_PIXELS


def test_a_pipe_a_folder_and_nothing_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    for path in (tmp_path / "pipe.png", tmp_path, tmp_path / "absent.png", tmp_path / "nul\0.png"):
        with pytest.raises(VjproofError):
            read_photograph(path)
