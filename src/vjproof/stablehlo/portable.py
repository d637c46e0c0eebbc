"""Versioned portable artifacts: StableHLO bytecode that a consumer of a chosen version, or a newer one, can read."""

from __future__ import annotations

import re
from typing import Any

from vjproof.errors import VjproofError, excerpt

FIRST_WITH_COMPOSITES = (0, 19, 0)
Version = tuple[int, int, int]


def versions() -> dict[str, str]:
    """Return the StableHLO versions of this installation: oldest and newest target, and the one chosen by default.

    The default is what was current 12 weeks before the installed library: consumers lag.
    """
    from jaxlib.mlir.dialects import stablehlo

    weeks = stablehlo.StablehloCompatibilityRequirement.WEEK_12
    return {
        "oldest": stablehlo.get_minimum_version(),
        "newest": stablehlo.get_current_version(),
        "default": stablehlo.get_version_from_compatibility_requirement(weeks),
    }


def check_target(version: str | None) -> str:
    """Return the target version, the default one for None; VjproofError where it cannot be written."""
    known = versions()
    if version is None:
        return known["default"]
    wanted = numbers(version)
    oldest, newest = numbers(known["oldest"]), numbers(known["newest"])
    if wanted is None or oldest is None or newest is None or not oldest <= wanted <= newest:
        raise VjproofError(
            "StableHLO target version", expected=f"{known['oldest']} to {known['newest']}, such as {known['default']}",
            got=repr(version)[:40],
        )  # fmt: skip
    return version


def numbers(version: str) -> Version | None:
    """Return the three numbers of a version such as 1.13.7; None where it is none."""
    found = re.fullmatch(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})", version)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


def keeps_composites(version: str) -> bool:
    """Return whether a portable artifact of this version can hold composites."""
    return (numbers(version) or (0, 0, 0)) >= FIRST_WITH_COMPOSITES


def rewrite(artifact: bytes, version: str) -> tuple[str, bytes]:
    """Return (text, portable artifact of `version`) of a portable artifact, without places in source files.

    Those places would name files of this machine. VjproofError where an operation does not exist in `version`.
    """
    import jax  # noqa: F401 - it registers the passes
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir.dialects import stablehlo

    with ir.Context() as context:
        stablehlo.register_dialect(context)
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
        return str(module), _serialised(module, version)


def _serialised(module: Any, version: str) -> bytes:
    from jaxlib.mlir.dialects import stablehlo

    try:
        written: bytes = stablehlo.serialize_portable_artifact(module, version)
    except ValueError as problem:
        raise VjproofError(
            f"StableHLO {version}", expected="a target version that has every operation of the program",
            got=excerpt(problem), remedy=f"choose a newer one, such as {versions()['default']}",
        ) from None  # fmt: skip
    return written
