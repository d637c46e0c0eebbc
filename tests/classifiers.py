"""A small random network as a `Classifier`, for tests that need no weights file."""

from types import SimpleNamespace

from vjproof.classifier import Classifier
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.config import Config
from vjproof.vit.params import map_tensors, random_params

LABELS = ("T-shirt/top", "Trouser", "Ankle boot", "Bag")


def small_classifier(*, channels=1, size=(8, 12), zero_head=False, gain=1.0, labels=LABELS, resize=None):
    config = Config(
        channels=channels, height=size[0], width=size[1], patch=4, hidden=6, heads=2, mlp=10, depth=2,
        classes=len(labels), eps=1e-6, gelu="erf",
    )  # fmt: skip
    params = map_tensors(lambda tensor: tensor.astype("float32"), random_params(config, 1))
    params = params._replace(w_head=params.w_head * (0 if zero_head else gain))
    preprocessing = Preprocessing(
        size=size, channels=channels, resize=resize or size, resample="bilinear", mean=(0.3, 0.4, 0.5)[:channels],
        std=(0.2, 0.25, 0.5)[:channels],
    )  # fmt: skip
    notes = SimpleNamespace(recognised=("sizes from the tensors",), assumed=("eps 1e-06, timm's default",), ignored=())
    return Classifier(
        "small",
        SimpleNamespace(
            config=config, params=params, labels=labels, preprocessing=preprocessing, notes=notes, sha256="0" * 64
        ),
    )
