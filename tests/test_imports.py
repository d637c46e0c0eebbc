"""What starting up loads, and the names that the package offers."""

import subprocess
import sys

import pytest

import vjproof

HEAVY = {"numpy", "scipy", "jax", "torch", "PIL", "flint", "safetensors", "onnx", "onnxruntime"}


def loaded_after(code: str) -> set[str]:
    """Top-level modules of a new interpreter after `code`, which may print."""
    ending = "\nimport sys\nprint('loaded', *{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code + ending], capture_output=True, text=True, check=True)
    return set(run.stdout.rpartition("loaded")[2].split())


def test_the_package_loads_the_standard_library_only() -> None:
    assert loaded_after("import vjproof") & (HEAVY | {"typer", "rich"}) == set()


def test_a_name_loads_what_it_needs() -> None:
    assert "numpy" in loaded_after("import vjproof, numpy")  # the red control of this probe
    assert loaded_after("import vjproof; vjproof.VjproofError, vjproof.Config") & (HEAVY | {"typer"}) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["explain", "--help"],
        ["--version"],
        ["explain"],
        ["explain", "absent"],
        ["prove", "--help"],
        ["export", "--help"],
        ["check"],
    ],
)
def test_help_and_usage_errors_load_nothing_heavy(arguments: list[str]) -> None:
    assert loaded_after(f"from vjproof.cli import run; run({arguments!r})") & HEAVY == set()


def test_every_public_name_is_there_and_listed() -> None:
    for name in vjproof.__all__:
        assert getattr(vjproof, name) is not None
        assert name in dir(vjproof)
    assert isinstance(vjproof.__version__, str)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        vjproof.nonsense  # noqa: B018
