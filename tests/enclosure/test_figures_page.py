"""The page of measured figures says what was measured, and what was measured meets what is promised."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("enclosure_page", ROOT / "tools" / "enclosure_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_from_the_figures(tool):
    figures = json.loads(tool.FIGURES.read_text())
    assert tool.PAGE.read_text() == tool.page(figures)
    changed = {**figures, tool.REFERENCE: {**figures[tool.REFERENCE], "bits_lost": -1}}
    assert tool.PAGE.read_text() != tool.page(changed)


def test_what_was_measured_is_narrow_and_small(tool):
    for one in json.loads(tool.FIGURES.read_text()).values():
        assert one["radius"] <= 1e-30
        if "Tiny" in one["name"]:
            assert one["gigabytes"] < 4


def test_work_grows_with_the_network(tool):
    tiny, small, base = map(tool.work, (tool.TINY, tool.SMALL, tool.BASE))
    assert 2 < small / tiny < 4
    assert 2 < base / small < 4
