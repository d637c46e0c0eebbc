"""Lines that are safe to print, and the progress bar."""

import io
import json

import pytest

from vjproof.report import terminal


def test_printable_text_is_kept_and_control_characters_are_spelled_out() -> None:
    assert terminal.printable("Ankle boot · 猫") == "Ankle boot · 猫"
    assert terminal.printable("a\x1b[2J\r\n\u202eb\udcff") == "a\\x1b[2J\\r\\n\\u202eb\\udcff"


def test_a_terminal_without_unicode_gets_escapes_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr("sys.stdout", stream)
    terminal.say("eps · 1")
    stream.flush()
    assert raw.getvalue() == b"eps \\xb7 1\n"


def test_short_work_shows_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.progress() as advance:
        advance(1, 2)
    said = capsys.readouterr()
    assert said.out == said.err == ""


def test_long_work_shows_a_bar_on_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    with terminal.progress() as advance:
        for done in range(3):
            advance(done, 2)
    said = capsys.readouterr()
    assert said.out == ""
    assert "explaining" in said.err


def test_the_bar_goes_away_after_an_error() -> None:
    with pytest.raises(ValueError, match="boom"), terminal.progress():
        raise ValueError("boom")


MODEL = {
    "name": "toy", "parameters": 1234567, "bytes": 1000, "sha256": "ab" * 32, "image": [1, 28, 28],
    "classes": ["Bag", "Sandal"], "metadata": {"accuracy": "0.91"},
    "config": {"patch": 4, "depth": 2, "hidden": 8, "heads": 2},
}  # fmt: skip


def test_models_are_listed_for_people_and_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_models([MODEL], as_json=False)
    said = capsys.readouterr().out
    for part in ("toy", "28 x 28, grey", "1,234,567", "0.91", "Bag, Sandal", "abab"):
        assert part in said
    terminal.print_models([MODEL], as_json=True)
    assert json.loads(capsys.readouterr().out) == {"models": [MODEL]}


def test_a_number_that_json_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        terminal.say_json({"value": float("nan")})
