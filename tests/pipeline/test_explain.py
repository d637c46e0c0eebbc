"""The flow as a library call."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.classifiers import small_classifier
from vjproof.errors import VjproofError
from vjproof.explain.batch import BATCH
from vjproof.pipeline.explain import explain_images


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for index in range(BATCH + 3):
        pixels = np.random.default_rng(index).integers(0, 256, (9, 14, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "in" / f"{index:02}.png")
    return tmp_path


def test_the_results_do_not_depend_on_how_images_fall_into_batches(folder: Path) -> None:
    network = small_classifier(channels=3)
    explain_images([folder / "in"], model=network, out=folder / "all", dtype="float64")
    for stem in ("00", f"{BATCH:02}"):
        explain_images([folder / "in" / f"{stem}.png"], model=network, out=folder / "one", dtype="float64")
        with np.load(folder / "all" / f"{stem}.npz") as together, np.load(folder / "one" / f"{stem}.npz") as alone:
            np.testing.assert_allclose(together["gradient"], alone["gradient"], rtol=1e-11, atol=1e-13)


def test_progress_is_told_after_each_batch(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    explain_images(
        [folder / "in"],
        model=small_classifier(),
        out=folder / "out",
        advance=lambda done, total: told.append((done, total)),
    )
    assert told == [(BATCH, BATCH + 3), (BATCH + 3, BATCH + 3)]


def test_a_target_belongs_to_its_image_even_when_another_image_is_skipped(folder: Path) -> None:
    images = [folder / "in" / f"{index:02}.png" for index in range(3)]
    images[0].write_bytes(b"broken")
    report = explain_images(images, model=small_classifier(), targets=["0", "1", "2"], out=folder / "out")
    assert [result["target"] for result in report.results] == [
        "logit of class 1 (Trouser)",
        "logit of class 2 (Ankle boot)",
    ]
    assert [entry["image"] for entry in report.skipped] == [str(images[0])]


def test_when_no_image_can_be_done_the_first_reason_is_raised_and_nothing_written(folder: Path) -> None:
    images = [folder / "in" / f"{index:02}.png" for index in range(2)]
    for image in images:
        image.write_bytes(b"")
    with pytest.raises(VjproofError, match=r"00\.png.*0 bytes.*1 more"):
        explain_images(images, model=small_classifier(), out=folder / "out")
    assert not (folder / "out").exists()


def test_a_ribbon_that_would_grow_past_all_bounds_is_skipped_by_name(folder: Path) -> None:
    Image.new("L", (1, 500_000)).save(folder / "ribbon.png")
    images = [folder / "ribbon.png", folder / "in" / "00.png"]
    report = explain_images(images, model=small_classifier(resize=12), out=folder / "out")
    assert [Path(result["image"]).name for result in report.results] == ["00.png"]
    assert "ribbon.png: expected a shape that resizes to at most" in report.skipped[0]["reason"]
