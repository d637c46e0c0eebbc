"""The rules that hold for every file: size, imports, docstrings, and no trace of one machine."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "vjproof"
LONGEST = 300
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|Users|opt|mnt)/\w|file:/{2}")
REGISTRY_HOST = re.compile(r"\b(?:pypi|pythonhosted|npmjs|debian|anaconda|crates|download\.pytorch)\.(?:org|com|io)\b")


def text_files() -> list[Path]:
    """Every file that is committed, or would be, and is text."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    binary = {".png", ".safetensors", ".npz", ".jpg", ".gz"}
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file() and path.suffix not in binary]


def too_long(text: str) -> bool:
    return text.count("\n") > LONGEST


def traces(text: str) -> list[str]:
    return [found.group() for pattern in (MACHINE_PATH, REGISTRY_HOST) for found in pattern.finditer(text)]


def undocumented(source: str) -> list[str]:
    """Names of public functions, classes and methods of a module that have no docstring."""
    missing: list[str] = []

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            overload = any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)
            if ast.get_docstring(node) is None and not overload:
                missing.append(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{node.name}.")

    visit(ast.parse(source).body, "")
    return missing


def broken_contracts(folder: Path) -> str:
    """What the import contracts say of the package in `folder`; empty when it keeps them all."""
    run = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return "" if run.returncode == 0 else run.stdout + run.stderr


def test_no_python_file_is_too_long() -> None:
    files = [path for path in text_files() if path.suffix == ".py"]
    assert files
    assert [path for path in files if too_long(path.read_text())] == []


def test_one_line_over_the_limit_is_too_long() -> None:
    assert not too_long("x\n" * LONGEST)
    assert too_long("x\n" * (LONGEST + 1))


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = {path: traces(path.read_text()) for path in text_files() if path.name != "LICENSE"}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("parts", [("/ho", "me/someone"), ("/ro", "ot/x"), ("fi", "le://x"), ("https://py", "pi.org")])
def test_a_machine_path_or_registry_host_is_found(parts: tuple[str, str]) -> None:
    assert traces(f"see {''.join(parts)}")
    assert not traces("see /usr/share/datasets and docs/home/page")


def test_public_functions_have_docstrings() -> None:
    missing = {path: undocumented(path.read_text()) for path in PACKAGE.rglob("*.py")}
    assert {path: names for path, names in missing.items() if names} == {}


def test_a_missing_docstring_is_found() -> None:
    source = "def f(): ...\ndef _g(): ...\nclass A:\n    '''Doc.'''\n    def m(self): ...\n    def _n(self): ...\n"
    assert undocumented(source) == ["f", "A.m"]


def copied(tmp_path: Path) -> Path:
    shutil.copytree(PACKAGE, tmp_path / "vjproof", ignore=shutil.ignore_patterns("__pycache__", "data"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_keep_the_contracts(tmp_path: Path) -> None:
    assert broken_contracts(copied(tmp_path)) == ""


@pytest.mark.parametrize(
    ("module", "statement", "contract"),
    [
        ("layers/dense.py", "from vjproof.vit import config", "Imports point down"),
        ("undeclared.py", "", "Imports point down"),
        ("vit/model.py", "import jax", "Only engines run jax and torch"),
        ("vit/model.py", "def f():\n    import torch", "Only engines run jax and torch"),
        ("weights/report.py", "import PIL", "Only images and picture read and write pictures"),
        ("kernel/terms.py", "import numpy", "The kernel imports nothing else"),
        ("kernel/terms.py", "from vjproof import errors", "The kernel imports nothing else"),
    ],
)
def test_an_import_against_the_contracts_is_found(tmp_path: Path, module: str, statement: str, contract: str) -> None:
    path = copied(tmp_path) / "vjproof" / module
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    with path.open("a") as stream:
        stream.write(f"\n{statement}\n")
    assert re.search(f"^{contract}.* BROKEN", broken_contracts(tmp_path), re.MULTILINE)
