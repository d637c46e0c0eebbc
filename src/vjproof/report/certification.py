"""What `certify` says: the proved bounds, or one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vjproof.report.terminal import say, say_json


def print_certification(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the certificate of one gradient."""
    if as_json:
        say_json(record)
        return
    top = record["top_class"]
    say(f"{record['image']}: gradient of {record['target']}")
    say(f"  computed by     {record['engine']}, {record['dtype']}")
    say(f"  largest error   at most {record['absolute']:.3e}")
    relative = record["relative"]
    say(f"  relative error  {'no bound' if relative is None else f'at most {relative:.3e} of the norm'}")
    say(f"  ulp             about {record['worst_ulp']:.4g}, median {record['median_ulp']:.4g}")
    say(f"  signs           {record['signs']:.2%} certain")
    say(f"  top class       {'open' if top is None else '{index} ({label}), certain'.format(**top)}")
    say(f"  precision       {record['bits']} bits, {record['bits_lost']} lost, radius {record['radius']:.1e}")
    say(f"  time            {record['seconds']:.1f} s")
