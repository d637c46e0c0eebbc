"""The certificate of an enclosure: a JSON document beside the file of the numbers, and how it is checked.

    {"kind": "enclosure", "version": 1, "model", "image", "target": words, "config": sizes and choices of the network,
     "enclosure": {"file", "bits", "bits_lost", "radius", "seconds"}, "top_class": {"index", "label"} or null,
     "gradients": [{"engine", "dtype", bounds, "seconds", "sha256"}],
     "sha256": {"weights", "image", "target", "program", "enclosure"}}

A check computes the digests and the bounds again from the stored numbers, and records the program again from the code
that is installed. It does not compute the enclosure again: that needs the weights, and is what `certify` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any

from vjproof.certification.bounds import bound_errors, certain_top, floats_of, text_down, text_up
from vjproof.certification.certification import Certification
from vjproof.certification.enclosure_file import Stored, read_stored, sha256_of, stored_bytes
from vjproof.enclosure.network import network_program
from vjproof.enclosure.precision import MOST_BITS
from vjproof.errors import VjproofError
from vjproof.files import Writer
from vjproof.kernel.certificate import digest
from vjproof.program.recorder import program_data
from vjproof.vit.config import Config
from vjproof.vit.params import Array
from vjproof.weights.json_file import Fields

KIND, VERSION = "enclosure", 1
SIDES = {
    "height": 1 << 14,
    "width": 1 << 14,
    "patch": 1 << 14,
    "hidden": 1 << 16,
    "heads": 1 << 12,
    "mlp": 1 << 18,
    "depth": 128,
    "classes": 1 << 20,
}  # of others at most 64
UPWARDS = ("absolute", "relative", "worst_ulp", "median_ulp")


def certificate(
    names: Mapping[str, Any],
    config: Config,
    weights_sha256: str,
    labels: Sequence[str],
    image: Array,
    d_logits: Array,
    certifications: Sequence[Certification],
    seconds: float,
) -> tuple[dict[str, Any], bytes]:
    """Return the document, without a file's name, and the bytes of that file; `names` tells model, image and target.

    All `certifications` are of one enclosure, at image (C, H, W) and d_logits (K,), computed in `seconds`.
    """
    import hashlib

    enclosed, top = certifications[0].enclosure, certifications[0].top_class
    gradients = [floats_of(made.gradient, config.image_shape, made.dtype) for made in certifications]
    stored = stored_bytes(enclosed, image, d_logits, gradients)
    return {
        "kind": KIND, "version": VERSION, **names, "config": asdict(config),
        "enclosure": {
            "file": None, "bits": enclosed.bits, "bits_lost": enclosed.bits_lost, "radius": enclosed.radius,
            "seconds": seconds,
        },
        "top_class": None if top is None else {"index": top, "label": labels[top]},
        "gradients": [
            {"engine": made.engine, "dtype": made.dtype, **made.bounds.record(), "seconds": made.seconds,
             "sha256": sha256_of(gradient)}
            for made, gradient in zip(certifications, gradients, strict=True)
        ],
        "sha256": {
            "weights": weights_sha256, "image": sha256_of(image), "target": sha256_of(d_logits),
            "program": enclosed.program_sha256, "enclosure": hashlib.sha256(stored).hexdigest(),
        },
    }, stored  # fmt: skip


def check_certificate(document: Mapping[str, Any], folder: Path) -> list[str]:
    """Return the lines of what a certificate bounds, its file in `folder`; VjproofError where it does not stand."""
    fields = Fields("certificate", document)
    if fields.text("kind") != KIND or fields.integer("version") != VERSION:
        raise VjproofError("certificate", expected=f"kind {KIND}, version {VERSION}", got="another one")
    config, digests, about = _config(fields), fields.needed("sha256"), fields.needed("enclosure")
    program = digest(program_data(network_program(config)))
    _equal("the program's digest", program, digests.text("program"), "recorded from other code than the installed one")
    stored = read_stored(
        folder / _bare(about.text("file")), config, about.integer("bits", high=MOST_BITS) or 0, program
    )
    _equal("the enclosure's digest", stored.sha256, digests.text("enclosure"))
    _equal("the image's digest", sha256_of(stored.image), digests.text("image"))
    _equal("the target's digest", sha256_of(stored.d_logits), digests.text("target"))
    _at_least("radius", about.number("radius"), stored.enclosure.radius)
    _equal("bits_lost", about.integer("bits_lost", low=0), stored.enclosure.bits_lost)
    top = certain_top(stored.enclosure)
    given = fields.section("top_class")
    _equal("top_class", given and given.integer("index", low=0), top)
    lines = [
        f"gradient of {_word(fields, 'target')} at {_word(fields, 'image')}, weights {_word(digests, 'weights')[:12]}",
        *_bounds(document.get("gradients"), stored),
    ]
    if top is not None:
        lines.append(f"class {top} has the highest exact logit")
    return lines


def _bounds(given: Any, stored: Stored) -> list[str]:
    """Derive the bounds of each gradient again, and return them in words."""
    if not isinstance(given, list) or len(given) != len(stored.gradients) or not given:
        raise VjproofError("gradients", expected=f"{len(stored.gradients)} of them, as stored", got="others")
    lines = []
    for index, (entry, gradient) in enumerate(zip(given, stored.gradients, strict=True)):
        where = f"gradients {index}"
        if not isinstance(entry, dict):
            raise VjproofError(where, expected="an object", got="none")
        fields = Fields(where, entry)
        _equal(f"{where}: digest", sha256_of(gradient), fields.text("sha256"))
        derived = bound_errors(gradient, stored.enclosure, fields.text("dtype") or "")
        for name in UPWARDS:
            if (bound := getattr(derived, name)) is not None or fields.number(name) is not None:
                _at_least(f"{where}: {name}", fields.number(name), bound)
        signs = fields.number("signs")
        if signs is None or signs > derived.signs:
            raise VjproofError(f"{where}: signs", expected=f"at most {derived.signs!r}", got=repr(signs))
        relative = "no relative bound" if derived.relative is None else f"{text_up(derived.relative)} of the norm"
        lines.append(
            f"{_word(fields, 'engine')}, {_word(fields, 'dtype')}: largest error at most {text_up(derived.absolute)},"
            f" {relative}, {text_down(100 * derived.signs)} % of the signs certain"
        )
    return lines


def _config(fields: Fields) -> Config:
    """Return the network's sizes and choices, bounded: the program is recorded from them."""
    given, choices = fields.needed("config"), dict[str, Any]()
    known = {field.name: field.type for field in dataclass_fields(Config)}
    if set(given.values) != set(known):
        raise VjproofError(given.where, expected=", ".join(known), got="other fields")
    for name, kind in known.items():
        if kind == "int":
            choices[name] = given.integer(name, low=0, high=SIDES.get(name, 64))
        else:
            choices[name] = {"float": given.number, "str": given.text, "bool": given.flag}[str(kind)](name)
        if choices[name] is None:
            raise given.wrong(name, "a value")
    return Config(**choices)


def _word(fields: Fields, name: str) -> str:
    return (fields.text(name) or "?")[:200]


def _bare(name: str | None) -> str:
    """Return a file's name that leads to no other folder."""
    if not name or name != Path(name).name or "\\" in name or name.startswith("."):
        raise VjproofError("enclosure: file", expected="the name of a file beside the certificate", got="none such")
    return name


def _equal(what: str, computed: Any, stated: Any, remedy: str = "") -> None:
    if computed != stated:
        raise VjproofError(what, expected=str(computed)[:70], got=str(stated)[:70], remedy=remedy)


def _at_least(what: str, stated: float | None, derived: float | None) -> None:
    if stated is None or derived is None or stated < derived:
        raise VjproofError(what, expected=f"at least {derived!r}", got=repr(stated))


def certificate_writers(document: dict[str, Any], stored: bytes, path: Path) -> dict[Path, Writer]:
    """Return writers of the document at `path`, and of its numbers beside it, whose name the document gets."""
    numbers = path.with_suffix(".safetensors")
    if numbers == path:
        raise VjproofError(str(path), expected="a name for the JSON document", got="one for the numbers beside it")
    document["enclosure"]["file"] = numbers.name
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    return {numbers: lambda stream: stream.write(stored), path: lambda stream: stream.write(text.encode())}


def words(document: Mapping[str, Any]) -> str:
    """Return what is certain of a document's first gradient, in one line."""
    (first, *_), top = document["gradients"], document["top_class"]
    signs = f"{text_down(100 * first['signs'])} % of the signs certain"
    best = f", the top class ({top['label']}) is certain" if top else ""
    return f"Enclosed: largest error at most {text_up(first['absolute'])}, {signs}{best}"
