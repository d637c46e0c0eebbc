"""`vjproof explain` end to end: the built-in model on the bundled pictures."""

import json
from pathlib import Path

import numpy as np
import pytest

import vjproof
from vjproof.cli import run

IMAGES = Path(vjproof.__file__).parent / "data" / "images"


def test_every_bundled_picture_is_explained_as_what_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", str(IMAGES), "--json", "--dtype", "float64", "-o", str(tmp_path / "out")]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert len(results) == len(list(IMAGES.glob("*.png"))) > 0
    model = vjproof.load("fashion")
    for result in results:
        label = result["top"][0]["label"]
        assert label.lower().replace("/", "-").replace(" ", "-") == Path(result["image"]).stem
        with np.load(result["arrays"], allow_pickle=False) as arrays:
            x = vjproof.preprocess(vjproof.read_image(result["image"]), model.preprocessing)
            np.testing.assert_array_equal(arrays["image"], x)
            step = 1e-5 * np.sign(arrays["gradient"])
            rise = np.diff(
                [model.logits((x + s * step)[None], dtype="float64")[0, result["top"][0]["index"]] for s in (-1, 1)]
            )
            assert rise[0] / 2 == pytest.approx(float(abs(arrays["gradient"] * step).sum()), rel=1e-5)


def test_a_margin_is_the_difference_of_two_gradients(tmp_path: Path) -> None:
    shoe = str(IMAGES / "sneaker.png")
    assert run(["explain", shoe, "--target", "margin:Sneaker-Ankle boot", "-o", str(tmp_path)]) == 0
    model = vjproof.load("fashion")
    with np.load(tmp_path / "sneaker.npz", allow_pickle=False) as arrays:
        x = arrays["image"][None]
        plus, minus = (model.input_gradient(x, model.labels.index(name))[0] for name in ("Sneaker", "Ankle boot"))
        np.testing.assert_allclose(arrays["gradient"], plus - minus, atol=1e-5)
        assert abs(plus - arrays["gradient"]).max() > 1e-3


def test_the_built_in_model_is_listed_with_its_accuracy(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["name"] == "fashion"
    assert model["bytes"] < 2_000_000
    assert 200_000 < model["parameters"] < 400_000
    assert float(model["metadata"]["accuracy"].split()[0]) >= 0.90
    assert run(["models"]) == 0
    assert "Ankle boot" in capsys.readouterr().out
