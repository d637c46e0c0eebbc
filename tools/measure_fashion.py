"""Print the accuracy of the built-in model on the 10,000 test images, as `vjproof.load` reads and runs it."""

from __future__ import annotations

import argparse
from pathlib import Path

import fashion_data
import numpy as np

import vjproof
from vjproof.images.preprocessing import Preprocessing

BATCH = 500


def normalised(images: np.ndarray, choices: Preprocessing) -> np.ndarray:
    """Return images (n, 28, 28) of bytes as the network's input (n, 1, 28, 28), float32."""
    return ((images[:, None] / 255 - choices.mean[0]) / choices.std[0]).astype(np.float32)


def probabilities(model: vjproof.Classifier, images: np.ndarray) -> np.ndarray:
    """Return the class probabilities (n, K) of images (n, 28, 28) of bytes."""
    starts = range(0, len(images), BATCH)
    parts = [model.logits(normalised(images[i : i + BATCH], model.preprocessing)) for i in starts]
    logits = np.concatenate(parts).astype(np.float64)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def calibration(shares: np.ndarray, labels: np.ndarray, bins: int = 15) -> float:
    """Return the expected calibration error over equal bins of the highest probability (Guo et al. 2017, eq. 3)."""
    confidence, right = shares.max(axis=1), shares.argmax(axis=1) == labels
    index = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [abs(right[index == i].mean() - confidence[index == i].mean()) * (index == i).mean() for i in set(index)]
    return float(sum(gaps))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=fashion_data.FOLDER)
    parser.add_argument("--model", default="fashion")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        raise SystemExit(
            f"{arguments.data} is not there; on Debian and Ubuntu install dataset-fashion-mnist, or use --data"
        )
    test = fashion_data.read_split(arguments.data, "t10k")
    model = vjproof.load(arguments.model)
    shares = probabilities(model, test.images)
    right = shares.argmax(axis=1) == test.labels
    print(f"accuracy {right.mean():.4f} on {len(right)} test images")
    print(f"mean probability of the top class {shares.max(axis=1).mean():.4f}")
    print(f"expected calibration error {calibration(shares, test.labels):.4f} (15 bins)")
    for index, name in enumerate(model.labels):
        print(f"  {name:12s} {right[test.labels == index].mean():.3f}")


if __name__ == "__main__":
    main()
