"""Write the bundled test pictures: of each class, the first test image that the built-in model classifies correctly."""

from __future__ import annotations

import argparse
from pathlib import Path

import fashion_data
import numpy as np
from measure_fashion import probabilities
from PIL import Image

import vjproof

FOLDER = Path(vjproof.__file__).parent / "data" / "images"
FIRST = 1000


def file_name(label: str) -> str:
    """Return the picture's file name for a class, as `ankle-boot.png` for "Ankle boot"."""
    return label.lower().replace("/", "-").replace(" ", "-") + ".png"


def main() -> None:
    """Choose and write one PNG per class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=fashion_data.FOLDER)
    arguments = parser.parse_args()
    test = fashion_data.read_split(arguments.data, "t10k")
    images, labels = test.images[:FIRST], test.labels[:FIRST]
    model = vjproof.load("fashion")
    right = probabilities(model, images).argmax(axis=1) == labels
    FOLDER.mkdir(parents=True, exist_ok=True)
    for index, label in enumerate(model.labels):
        chosen = int(np.flatnonzero(right & (labels == index))[0])
        Image.fromarray(images[chosen]).save(FOLDER / file_name(label), optimize=True)
        print(f"{file_name(label)}: test image {chosen}")


if __name__ == "__main__":
    main()
