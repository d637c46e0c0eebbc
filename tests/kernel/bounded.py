"""Runs the checker on one certificate in a process of its own, with little memory and little time."""

import json
import subprocess
import sys

MEMORY, SECONDS = 1 << 30, 20
SCRIPT = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from vjproof.kernel.certificate import check
from vjproof.kernel.program import Refused
try:
    print("proved", len(check(json.load(sys.stdin))))
except Refused as refusal:
    print("refused", str(refusal).encode("ascii", "replace").decode())
"""


def outcome(certificate):
    """Return `refused ...` or `proved ...`, or the error that escaped the checker, or `timeout`."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(MEMORY)], input=json.dumps(certificate), capture_output=True,
            text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "timeout"
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]
