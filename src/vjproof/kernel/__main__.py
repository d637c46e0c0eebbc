"""`python -m vjproof.kernel check CERT...`: the bare checker."""

import sys

from vjproof.kernel.certificate import check, read
from vjproof.kernel.program import Refused


def main(arguments: list[str]) -> int:
    """Print what each certificate proves; return 0, 1 where one is refused, 2 for bad usage."""
    if len(arguments) < 2 or arguments[0] != "check":
        sys.stderr.write("usage: python -m vjproof.kernel check CERTIFICATE...\n")
        return 2
    status = 0
    for path in arguments[1:]:
        try:
            lines = check(read(path))
        except Refused as refusal:
            status, lines = 1, [f"REFUSED: {refusal}"]
        sys.stdout.write("\n".join([f"{path}:", *(f"  {line}" for line in lines)]) + "\n")
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
