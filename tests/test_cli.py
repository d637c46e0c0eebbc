"""The command line: what it writes, prints and returns."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.classifiers import small_classifier
from vjproof import classifier
from vjproof.cli import run
from vjproof.commands.options import parse_size
from vjproof.errors import VjproofError
from vjproof.pipeline import explain as pipeline

PIXELS = np.random.default_rng(5).integers(0, 256, (20, 30, 3), dtype=np.uint8)


@pytest.fixture(autouse=True)
def _small_network_in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    networks = {"fashion": small_classifier(channels=3), "deaf": small_classifier(channels=3, zero_head=True)}
    real = classifier.load
    monkeypatch.setattr(classifier, "load", lambda name, **choices: networks.get(name) or real(name, **choices))
    monkeypatch.chdir(tmp_path)
    for index in range(3):
        Image.fromarray(np.roll(PIXELS, index)).save(f"p{index}.png")
    Path("folder").mkdir()


def written() -> list[str]:
    return sorted(
        str(path) for path in Path().rglob("*") if path.suffix != ".png" or "out" in str(path) if path.is_file()
    )


def saved_gradient(stem: str) -> np.ndarray:
    with np.load(f"vjproof-out/{stem}.npz", allow_pickle=False) as arrays:
        return arrays["gradient"]


def test_one_image_gives_a_picture_and_its_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "p0.png", "--dtype", "float64"]) == 0
    assert written() == ["vjproof-out/p0.npz", "vjproof-out/p0.png"]
    said = capsys.readouterr()
    for part in (
        "target",
        "Bag",
        "%",
        "eps 1e-06",
        "GELU erf",
        "float64",
        "resize",
        "mean",
        "assumed",
        "vjproof-out/p0.png",
    ):
        assert part in said.out
    assert said.err == ""
    with np.load("vjproof-out/p0.npz", allow_pickle=False) as arrays:
        assert arrays["gradient"].dtype == np.float64
        assert arrays["gradient"].shape == arrays["image"].shape == (3, 8, 12)
        record = json.loads(str(arrays["record"]))
        top = int(arrays["logits"].argmax())
        direct = classifier.load("fashion").input_gradient(arrays["image"][None], top, dtype="float64")[0]
        np.testing.assert_array_equal(arrays["gradient"], direct)
    assert record["top"][0]["index"] == top
    with Image.open("vjproof-out/p0.png") as page:
        assert page.size[0] > 1000


def test_json_is_one_document_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["explain", "p0.png", "p1.png", "--json", "-o", "out", "--target", "bag", "--target", "margin:0-Bag"]) == 0
    )
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert said.err == ""
    assert [result["picture"] for result in document["results"]] == [str(Path("out/p0.png")), str(Path("out/p1.png"))]
    assert "minus" in document["results"][1]["target"]
    assert document["skipped"] == []
    assert document["loading"]["assumed"]


def test_a_folder_is_done_except_for_what_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    for index in range(20):  # more than one batch
        Image.fromarray(np.roll(PIXELS, index)).save(f"folder/{index:02}.png")
    whole = Path("folder/00.png").read_bytes()
    Path("folder/05.png").write_bytes(whole[:200])
    Path("folder/zero.png").write_bytes(b"")
    assert run(["explain", "folder", "-o", "out"]) == 1
    said = capsys.readouterr()
    assert len(written()) == 2 * 19
    assert [line.split(":")[1].strip() for line in said.err.splitlines()] == [
        "skipped folder/05.png",
        "skipped folder/zero.png",
    ]


BAD = {
    "no image": (["explain"], "Missing argument"),
    "absent image": (["explain", "absent.png"], "nothing there"),
    "empty folder": (["explain", "folder"], "folder with pictures"),
    "no picture": (["explain", "text.png"], "another kind"),
    "index": (["explain", "p0.png", "--target", "4"], "from 0 to 3"),
    "name": (["explain", "p0.png", "--target", "boots"], "Ankle boot"),
    "targets": (["explain", "p0.png", "p1.png", "p2.png", "--target", "0", "--target", "1"], "3 for 3 images"),
    "engine": (["explain", "p0.png", "--engine", "abacus"], "abacus"),
    "dtype": (["explain", "p0.png", "--dtype", "float8"], "float8"),
    "scale": (["explain", "p0.png", "--scale", "0"], "scale"),
    "top": (["explain", "p0.png", "--top", "0"], "--top"),
    "eps": (["explain", "p0.png", "--eps", "small"], "--eps"),
    "size": (["explain", "p0.png", "--image-size", "8x8x8"], "HEIGHTxWIDTH"),
    "model": (["explain", "p0.png", "--model", "absent.safetensors"], "absent.safetensors"),
    "option": (["explain", "p0.png", "--colour"], "--colour"),
    "command": (["explode"], "explode"),
    "replaced": (["explain", "p0.png", "-o", "."], "replaced"),
    "place": (["explain", "p0.png", "-o", "p1.png"], "place to write"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_status_2_and_nothing_written(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, message = BAD[case]
    Path("text.png").write_text("no picture")
    before = sorted(Path().rglob("*"))
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("vjproof: ")
    assert said.err.count("\n") == 1
    assert message in said.err
    assert sorted(Path().rglob("*")) == before


def test_control_characters_of_names_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Image.fromarray(PIXELS).save("red\x1b[31m[bold].png", "PNG")
    assert run(["explain", "red\x1b[31m[bold].png"]) == 0
    assert run(["explain", "absent\x1b[31m.png"]) == 2
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "red\\x1b[31m[bold].png" in said.out


def test_an_interrupt_is_one_line_and_leaves_whole_files_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = pipeline.npz_writer

    def interrupted(explanation: object) -> object:
        if explanation.image == "p1.png":
            raise KeyboardInterrupt
        return real(explanation)

    monkeypatch.setattr(pipeline, "npz_writer", interrupted)
    assert run(["explain", "p0.png", "p1.png", "p2.png"]) == 130
    assert capsys.readouterr().err.strip() == "vjproof: interrupted"
    assert written() == ["vjproof-out/p0.npz", "vjproof-out/p0.png"]


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    command = f"{sys.executable} -c 'from vjproof.cli import main; main()' --help"
    ran = subprocess.run(f"{command} | true", shell=True, capture_output=True, text=True, check=False)
    assert ran.stderr == ""


def test_a_head_that_ignores_the_image_is_explained_not_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "p0.png", "--model", "deaf"]) == 0
    assert "does not depend on this image" in capsys.readouterr().out
    assert not saved_gradient("p0").any()


def test_the_map_lies_in_the_turned_frame() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(PIXELS).save("turned.png", exif=exif)
    Image.fromarray(PIXELS).rotate(-90, expand=True).save("upright.png")
    assert run(["explain", "turned.png", "upright.png", "p0.png"]) == 0
    turned, upright, unturned = map(saved_gradient, ("turned", "upright", "p0"))
    np.testing.assert_allclose(turned, upright, atol=1e-6)
    assert abs(turned - unturned).max() > 1e-3


def test_two_runs_draw_equal_bytes_and_save_equal_arrays() -> None:
    for out in ("one", "two"):
        assert run(["explain", "p0.png", "-o", out]) == 0
    assert Path("one/p0.png").read_bytes() == Path("two/p0.png").read_bytes()
    with np.load("one/p0.npz") as first, np.load("two/p0.npz") as second:
        assert all(first[name].tobytes() == second[name].tobytes() for name in first.files)


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == run(["--help"]) == run(["explain", "--help"]) == 0
    assert "explain" in capsys.readouterr().out
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("vjproof ")


def test_sizes_are_sides_or_height_by_width() -> None:
    assert parse_size("224") == (224, 224)
    assert parse_size("32x48") == (32, 48)
    assert parse_size(None) is None
    for text in ("", "x", "4x", "-4", "4.5", "999999", "²"):
        with pytest.raises(VjproofError):
            parse_size(text)
