"""Explain pictures, and list the built-in models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from vjproof import classifier, engines
from vjproof.certification.document import certificate_writers, words
from vjproof.classifier import Classifier
from vjproof.errors import VjproofError
from vjproof.explain.batch import batch_size, explain_batch, read_input
from vjproof.explain.explanation import Explanation
from vjproof.explain.output import name_outputs, npz_writer, result_files, write_atomically
from vjproof.explain.target import Target, parse_targets
from vjproof.images.folder import find_images
from vjproof.images.network_input import denormalise
from vjproof.picture.maps import check_scale
from vjproof.picture.page import Caption, draw_page
from vjproof.pipeline.certify import certify_explanation
from vjproof.vit.params import count


@dataclass(frozen=True)
class Job:
    """One image, its target, and the name of its result files without suffix."""

    image: Path
    target: Target
    name: Path


@dataclass
class Report:
    """What `explain_images` did: a JSON-ready record per image done, image and reason per image skipped.

    `loading` is what the loader recognised, assumed and ignored; `choices` tells the choices that matter in words.
    """

    loading: dict[str, list[str]]
    results: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    choices: str = ""


def explain_images(
    images: Sequence[str | Path],
    *,
    model: str | Path | Classifier = "fashion",
    targets: Sequence[str] = ("top1",),
    out: str | Path = "vjproof-out",
    engine: str = "auto",
    dtype: str | None = None,
    scale: float | None = None,
    top: int = 5,
    recursive: bool = False,
    certify: bool = False,
    advance: Callable[[int, int], None] | None = None,
    **choices: Any,
) -> Report:
    """Explain picture files and folders: for each image `out`/stem.png and `out`/stem.npz, and a record.

    `certify` bounds each gradient's error, says so on the picture, and writes `out`/stem.certificate.json with its
    numbers beside it. `choices` go to `vjproof.load`; `advance` is told (done, in all): images, or with `certify`
    thousandths of the work. An unreadable image is skipped and the rest is done. Raises VjproofError, with nothing
    written, for bad arguments or when no image can be done.
    """
    files = find_images(images, recursive=recursive)
    check_scale(scale)
    network = model if isinstance(model, Classifier) else classifier.load(model, **choices)
    size = batch_size(network.config, engines.check_dtype(dtype))
    engine = engines.choose(engine, network.config, len(files), once=True).name
    targeted = parse_targets(targets, len(files), network.labels)
    jobs = list(map(Job, files, targeted, name_outputs(files, Path(out))))
    report = Report({kind: list(getattr(network.notes, kind)) for kind in ("recognised", "assumed", "ignored")})
    for start in range(0, len(jobs), size):
        batch = jobs[start : start + size]
        told = partial(_tell, advance, start, len(jobs)) if advance and certify else None
        _explain(
            network, batch, report, engine=engine, dtype=dtype, top=top, scale=scale, certify=certify, advance=told
        )
        if advance and not certify:
            advance(start + len(batch), len(jobs))
    if not report.results:
        raise _nothing_done(report)
    return report


def _tell(advance: Callable[[int, int], None], start: int, images: int, index: int, share: float) -> None:
    advance(round(1000 * (start + index + share)), 1000 * images)


def _explain(
    network: Classifier,
    batch: Sequence[Job],
    report: Report,
    *,
    scale: float | None,
    certify: bool,
    advance: Callable[[int, float], None] | None,
    **how: Any,
) -> None:
    """Read, explain, draw and write one batch, and enter each image in the report."""
    jobs, inputs = [], []
    for job in batch:
        try:
            inputs.append(read_input(job.image, network.preprocessing))
            jobs.append(job)
        except VjproofError as problem:
            report.skipped.append({"image": str(job.image), "reason": str(problem)})
    results = explain_batch(network, inputs, [job.target for job in jobs], **how) if jobs else []
    for index, (job, result) in enumerate(zip(jobs, results, strict=True)):
        if isinstance(result, VjproofError):
            report.skipped.append({"image": str(job.image), "reason": str(result)})
        else:
            report.choices = report.choices or result.choices.words()
            certified = None
            if certify:
                told = partial(advance, index) if advance else None
                try:
                    certified = certify_explanation(network, result, job.target, advance=told)
                except VjproofError as problem:
                    report.skipped.append({"image": str(job.image), "reason": f"{job.image}: {problem}"})
                    continue
            report.results.append(_write(network, job, result, scale, certified))


def _write(
    network: Classifier,
    job: Job,
    explanation: Explanation,
    scale: float | None,
    certified: tuple[dict[str, Any], bytes] | None,
) -> dict[str, Any]:
    """Draw and write one explanation, all files or none, and return its record with their places."""
    photograph = denormalise(explanation.x, network.preprocessing)
    page = draw_page(photograph, explanation.gradient, _caption(explanation, certified), scale)
    picture, arrays = result_files(job.name)
    record = {**explanation.record(), "picture": str(picture), "arrays": str(arrays)}
    writers = {picture: lambda file: page.save(file, "PNG"), arrays: npz_writer(explanation)}
    if certified:
        document = job.name.with_name(job.name.name + ".certificate.json")
        writers |= certificate_writers(*certified, document)
        record |= {"certificate": certified[0], "certificate_file": str(document)}
    write_atomically(writers)
    return record


def _caption(explanation: Explanation, certified: tuple[dict[str, Any], bytes] | None) -> Caption:
    top = ", ".join(f"{score.label} {score.probability:.1%}" for score in explanation.top)
    lines = [f"Target: {explanation.target} = {explanation.value:.4g}", f"Classes: {top}"]
    if certified:
        lines.append(words(certified[0]))
    return Caption(Path(explanation.image).name, lines, explanation.notes, explanation.choices.words())


def _nothing_done(report: Report) -> VjproofError:
    """Return the error for a run that left no image explained: the first reason, and how many others there are."""
    others = len(report.skipped) - 1
    return VjproofError(report.skipped[0]["reason"] + (f" (and {others} more images failed)" if others else ""))


def list_models() -> list[dict[str, Any]]:
    """Return a JSON-ready record per built-in model: sizes, classes, accuracy, digest."""
    return [_model_record(name) for name in classifier.BUILT_IN]


def _model_record(name: str) -> dict[str, Any]:
    network, file = classifier.load(name), classifier.built_in_path(name)
    return {
        "name": name, "parameters": count(network.config), "bytes": file.stat().st_size, "sha256": network.sha256,
        "image": list(network.config.image_shape), "classes": list(network.labels),
        "metadata": dict(network.checkpoint.metadata), "config": asdict(network.config),
    }  # fmt: skip
