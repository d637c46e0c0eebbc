"""The input gradient of a Vision Transformer in closed form: proved, enclosed, and run anywhere.

Names load on first use, so that `import vjproof` brings in the standard library only.
"""

from __future__ import annotations

from importlib import import_module

_HOME = {
    "Classifier": "vjproof.classifier",
    "explain_images": "vjproof.pipeline.explain",
    "load": "vjproof.classifier",
    "Certification": "vjproof.certification.certification",
    "Config": "vjproof.vit.config",
    "Explanation": "vjproof.explain.explanation",
    "Preprocessing": "vjproof.images.preprocessing",
    "VjproofError": "vjproof.errors",
    "certify": "vjproof.certification.certification",
    "enclose": "vjproof.certification.certification",
    "enclose_module": "vjproof.certification.module",
    "export": "vjproof.artifacts.writer",
    "denormalise": "vjproof.images.network_input",
    "preprocess": "vjproof.images.network_input",
    "prove": "vjproof.prover.registry",
    "prove_equal": "vjproof.prover.user_functions",
    "prove_vjp": "vjproof.prover.user_functions",
    "read_export": "vjproof.artifacts.reader",
    "read_image": "vjproof.images.photograph",
    "read_stablehlo": "vjproof.stablehlo.read",
    "validate": "vjproof.validation.gradient_claim",
    "validate_custom_vjp": "vjproof.validation.custom_rule",
}

__all__ = [
    "Certification", "Classifier", "Config", "Explanation", "Preprocessing", "VjproofError",
    "certify", "denormalise", "enclose", "enclose_module", "explain_images", "export", "load", "preprocess",
    "prove", "prove_equal", "prove_vjp", "read_export", "read_image", "read_stablehlo",
    "validate", "validate_custom_vjp",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Return a public name from the module that defines it, or the package's version."""
    if name == "__version__":
        from importlib.metadata import version

        return version("vjproof")
    if name not in _HOME:
        raise AttributeError(f"module 'vjproof' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, "__version__"])
