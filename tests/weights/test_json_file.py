"""JSON of untrusted configuration files."""

import pytest

from vjproof.errors import VjproofError
from vjproof.weights.json_file import JSON_LIMIT, Fields, parse, printable, read_json, shown


def test_an_object_is_read(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"a": 1, "b": null}')
    fields = read_json(path)
    assert fields.where == "config.json"
    assert fields.integer("a") == 1
    assert fields.integer("b") is None
    assert fields.integer("c") is None


@pytest.mark.parametrize("text", ["[]", "3", '"x"', "", "{", '{"a":1,"a":2}', "[" * 50_000, '{"a":' * 50_000])
def test_anything_else_is_refused(text):
    with pytest.raises(VjproofError, match="expected a JSON object"):
        parse(text.encode(), "config.json")


def test_a_large_file_is_refused(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(b" " * JSON_LIMIT + b"{}")
    with pytest.raises(VjproofError, match="bytes of JSON, got more"):
        read_json(path)
    path.write_bytes(b" " * (JSON_LIMIT - 2) + b"{}")
    assert read_json(path).values == {}


WRONG = [
    ("integer", True), ("integer", 1.0), ("integer", "3"), ("integer", 0), ("integer", 1 << 70), ("integer", [3]),
    ("number", "1e-6"), ("number", float("inf")), ("number", 10**400), ("number", True),
    ("numbers", 3.0), ("numbers", [1, "2"]), ("numbers", [float("nan")]), ("numbers", [0] * 65),
    ("text", 3), ("texts", ["a", 1]), ("texts", "a"), ("flag", 1), ("section", []),
    ("size", "8"), ("size", [8]), ("size", [8, 0]), ("size", {"height": 8}), ("size", 1 << 20), ("size", 8.0),
]  # fmt: skip


@pytest.mark.parametrize(("method", "value"), WRONG)
def test_a_wrong_type_is_told_in_one_line(method, value):
    with pytest.raises(VjproofError, match=r"^config.json: x: expected ") as caught:
        getattr(Fields("config.json", {"x": value}), method)("x")
    assert len(str(caught.value)) < 300


RIGHT = [
    ("integer", 3, 3), ("number", 2, 2.0), ("numbers", [1, 2.5], (1.0, 2.5)), ("text", "a", "a"),
    ("texts", ["a\x1b", "b"], ("a", "b")), ("flag", False, False), ("size", 8, (8, 8)), ("size", [8, 12], (8, 12)),
    ("size", {"height": 8, "width": 12}, (8, 12)),
]  # fmt: skip


@pytest.mark.parametrize(("method", "value", "expected"), RIGHT)
def test_a_right_type_is_read(method, value, expected):
    assert getattr(Fields("config.json", {"x": value}), method)("x") == expected


def test_shown_values_and_labels_are_bounded():
    assert shown("a\nb") == r"a\nb"
    assert len(shown("x" * 10_000)) == 80
    assert len(shown(10**5000)) < 80
    assert len(shown({"k" * 500: 1})) <= 80
    assert printable("tabby\x1b[2J, cat" + "x" * 999).startswith("tabby[2J, cat")
    assert len(printable("x" * 999)) == 200
