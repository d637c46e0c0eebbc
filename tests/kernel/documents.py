"""Certificates written by hand, as someone who wants the kernel to accept a false claim would write them."""

from vjproof.kernel.certificate import digests_of

N = {"N": None}


def value(name, kind, *arguments, **attributes):
    """Return one line of a program."""
    return [name, kind, list(arguments), attributes]


def given(name, *shape):
    """Return an input line; each axis is a list of factors."""
    return [name, "input", [], {"shape": [list(axis) for axis in shape]}]


def number(name, rational):
    """Return a line that defines a rational number."""
    return value(name, "const", value=[rational, {}])


def program(axes, lines, *outputs):
    """Return a program document."""
    return {"axes": axes, "lines": lines, "outputs": list(outputs)}


def equal(forward, second, positive=(), conditions=(), **more):
    """Return the claim that two programs have the same outputs."""
    return {
        "kind": "equal", "forward": forward, "second": second, **more,
        "positive": positive if isinstance(positive, str) else list(positive), "conditions": list(conditions),
    }  # fmt: skip


def vjp(forward, second, wrt=("x",), cotangents=("d",), positive=(), conditions=()):
    """Return the claim that the second program is the reverse of the first."""
    return {
        "kind": "vjp", "forward": forward, "second": second, "wrt": list(wrt), "cotangents": list(cotangents),
        "positive": list(positive), "conditions": list(conditions),
    }  # fmt: skip


def fold(symbol, base, step):
    """Return the claim of an induction on the depth."""
    return {"kind": "fold", "symbol": symbol, "base": base, "step": step}


def certificate(claim, landmarks=(), steps=(), lemmas=None):
    """Return a certificate with the digests that the kernel wants."""
    proof = {"landmarks": list(landmarks), "steps": [list(step) for step in steps]}
    document = {"claim": claim, "proof": proof, "digests": digests_of(claim)}
    return document | ({"lemmas": lemmas} if lemmas else {})
