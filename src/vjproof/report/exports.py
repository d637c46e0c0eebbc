"""What `export` says: the files and what they take, or one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vjproof.report.terminal import say, say_json

ERF = {
    "operation": "erf as an operation", "composite": "erf as a composite", "expanded": "erf expanded to a polynomial",
    "1 - Erf": "erfc as 1 - Erf", "none": "",
}  # fmt: skip


def print_export(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the manifest of one export."""
    if as_json:
        say_json(record)
        return
    model, config = record["model"], record["model"]["config"]
    say(f"{record['folder']}: {model['name']}, {model['parameters']:,} parameters")
    for program in record["programs"]:
        takes = ", ".join(
            f"{a['name']} {_shape(a['shape'])}" for a in program["arguments"] if a["name"] in ("images", "d_logits")
        )
        weights = "" if record["weights"] == "inside" else f", {record['weights']}"
        result = program["result"]
        say(f"  {program['program']}({takes}{weights}) gives {result['name']} {_shape(result['shape'])}, float32")
        for form, name in program["files"].items():
            note = ERF[program["error_function"][form]]
            say(f"    {name:<24} {record['files'][name]['bytes']:>12,} bytes  {form}{f', {note}' if note else ''}")
    if record["weights"] != "inside":
        say(f"    {record['weights']:<24} {record['files'][record['weights']]['bytes']:>12,} bytes")
    say(f"  choices   eps {config['eps']:g}, GELU {config['gelu']}; pre-processing is in manifest.json")
    for line in model["assumed"]:
        say(f"  assumed   {line}")
    if any(program["batch"] == "symbolic" and "artifact" in program["files"] for program in record["programs"]):
        say("  note      IREE takes a fixed batch only: --batch 1")
    say("  versions  " + ", ".join(f"{name} {number}" for name, number in record["versions"].items()))


def _shape(shape: list[Any]) -> str:
    return f"[{', '.join('B' if size == 'symbolic' else str(size) for size in shape)}]"
