"""Certificates changed by someone who recomputes the digests: the claim is then false, or no certificate at all."""

import copy

from tests.kernel import documents as doc
from tests.prover.chains import chains, proved
from tests.prover.mutations import Mutations
from tests.prover.oracle import OTHER, compare
from vjproof.kernel.certificate import digests_of
from vjproof.program.recorder import program_data
from vjproof.prover.claim import prove_claim
from vjproof.prover.ties import blocks

JUNK = (None, "", "x\ny", "\ud800", -1, 10**999, 1.5, float("nan"), True, [], [[]], {}, {"x": 1}, "1/0", "9" * 5000)
SOURCES = ("softmax_pullback_eq_vjp", "layer_norm_pullback_eq_vjp", "sdpa_pullback_eq_vjp",
           "mhsa_back_flat_eq_mhsa_vjp", "patch_embed_pullback_eq_vjp")  # fmt: skip


def renewed(certificate):
    """Return a certificate with the digests that fit it, those of the certificates inside first."""
    claim, lemmas = certificate["claim"], certificate.get("lemmas")
    if isinstance(claim, dict) and claim.get("kind") == "fold":
        claim = {**claim, **{part: renewed(claim[part]) for part in ("base", "step") if part in claim}}
    fresh = {**certificate, "claim": claim, "digests": digests_of(claim if isinstance(claim, dict) else {})}
    return fresh | ({"lemmas": {name: renewed(lemma) for name, lemma in lemmas.items()}} if lemmas else {})


def changed(certificate, change):
    """Return a changed copy, digests renewed."""
    document = copy.deepcopy(certificate)
    change(document)
    return renewed(document)


def other_programs(name, share):
    """Yield certificates of a chain whose second program is another function."""
    pair, certificate = chains()[name], proved(name).certificate
    for kind, words, program in Mutations(pair.second).sample(share):
        if compare(pair.second, program, pair.positive) == OTHER:
            yield (
                f"{name}: {kind} {words}",
                changed(certificate, lambda c, p=program: c["claim"].update(second=program_data(p))),
            )


def claims(name):
    """Yield certificates whose claim is changed elsewhere; each is false or says something else."""
    certificate = proved(name).certificate
    claim = certificate["claim"]
    inputs = [line[0] for line in claim["forward"]["lines"] if line[1] == "input"]
    for other in inputs:
        if other not in claim["wrt"]:
            yield (
                f"wrt {other}",
                changed(certificate, lambda c, o=other: c["claim"].update(wrt=[o, *c["claim"]["wrt"][1:]])),
            )
    for key, values in {
        "wrt": ([], claim["wrt"] * 2, [*claim["wrt"], inputs[0]], ["d_y"], "x", claim["wrt"][0]),
        "cotangents": ([], ["d_y", "d_y"], ["x"], ["eps"], ["d"], "d_y"),
        "positive": (["d_y"], ["v1"], ["none"], "eps", {"eps": 1}, ["eps "]),
        "conditions": (["x != 0 in every entry"], ["forward: x > 0 in every entry"], [""], None),
        "kind": ("equal", "fold", "VJP", None),
    }.items():
        for value in values:
            yield f"{key} = {value}", changed(certificate, lambda c, k=key, v=value: c["claim"].update({k: v}))
    for side in ("forward", "second"):
        for axis in claim["forward"]["axes"]:
            yield (
                f"{side}: {axis} = 1",
                changed(certificate, lambda c, s=side, a=axis: c["claim"][s]["axes"].update({a: 1})),
            )
        yield f"{side}: no outputs", changed(certificate, lambda c, s=side: c["claim"][s].update(outputs=[]))
        yield f"{side}: an input put out", changed(certificate, lambda c, s=side: c["claim"][s].update(outputs=["x"]))
    if len(claim["second"]["outputs"]) > 1:
        yield "outputs reversed", changed(certificate, lambda c: c["claim"]["second"]["outputs"].reverse())
        yield "wrt reversed", changed(certificate, lambda c: c["claim"]["wrt"].reverse())
    yield (
        "without eps > 0",
        changed(certificate, lambda c: c["claim"].update(positive=[]))
        if any(line[1] == "power" for line in claim["forward"]["lines"])
        else changed(certificate, lambda c: c["claim"].pop("positive")),
    )


def junk(name, step=7):
    """Yield certificates with junk in the place of one node of the claim."""
    certificate = proved(name).certificate
    paths = [path for path in nodes(certificate["claim"], ["claim"]) if len(path) > 1]
    for place, path in enumerate(paths[::step]):
        value = JUNK[place % len(JUNK)]
        if at(certificate, path) != value:
            yield f"{path} = {str(value)[:20]!a}", changed(certificate, lambda c, p=path, v=value: put(c, p, v))


def nodes(data, path):
    """Yield the path of every node of nested data."""
    yield path
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield from nodes(value, [*path, key])


def at(data, path):
    for key in path:
        data = data[key]
    return data


def put(data, path, value):
    at(data, path[:-1])[path[-1]] = value


def proofs(name):
    """Yield certificates of a true claim with a changed proof: refused, or the same statement."""
    certificate = proved(name).certificate
    for place, (value, role, target, order) in enumerate(certificate["proof"]["steps"]):
        others = [[value, "value" if role == "adjoint" else "adjoint", target, order], [value, role, "x", order],
                  [value, role, target, order[::-1]], [value, role, target, order[1:]], [value, role, target, None],
                  [target, role, value, order], [value, role, target, [*order, 0]], [value], None]  # fmt: skip
        for other in others:
            yield changed(certificate, lambda c, p=place, o=other: put(c, ["proof", "steps", p], o))
        yield changed(certificate, lambda c, p=place: c["proof"]["steps"].pop(p))
        yield changed(certificate, lambda c, p=place: c["proof"]["steps"].insert(0, c["proof"]["steps"].pop(p)))
    for landmarks in ([], ["x", "x"], ["none"], [1], "x", None):
        yield changed(certificate, lambda c, v=landmarks: c["proof"].update(landmarks=v))


def towers():
    """Yield certificates of the tower, and of a program that calls it, with the induction changed."""
    tower = next(tie for tie in blocks.blocks() if tie.name == "vit_tower_back_k_eq_vjp").variants["erf"]()
    whole = prove_claim(tower).certificate
    step, base = whole["claim"]["step"], whole["claim"]["base"]
    yield "base and step swapped", changed(whole, lambda c: c["claim"].update(base=step, step=base))
    yield "step for base", changed(whole, lambda c: c["claim"].update(base=step))
    yield "another symbol", changed(whole, lambda c: c["claim"].update(symbol="other"))
    yield "the fold inside itself", changed(whole, lambda c: c["claim"].update(base=whole))
    yield "no base", changed(whole, lambda c: c["claim"].pop("base"))
    yield "the step alone", renewed(step)
    for side in ("forward", "second"):
        path = ["claim", "step", "claim", side]
        for axis in ("M", "h"):
            yield f"step: {axis} = 1", changed(whole, lambda c, p=path, a=axis: at(c, p)["axes"].update({a: 1}))
    yield "step for M = 1", changed(whole, lambda c: [at(c, ["claim", "step", "claim", s, "axes"]).update(M=1)
                                                    for s in ("forward", "second")])  # fmt: skip
    user = doc.certificate(doc.vjp(*_calls("tower")), ["y"], lemmas={"tower": whole})
    yield "a call with other axes", user
    yield "a lemma for another symbol", doc.certificate(doc.vjp(*_calls("other")), ["y"], lemmas={"tower": whole})
    yield "a lemma that is no fold", doc.certificate(doc.vjp(*_calls("tower")), ["y"], lemmas={"tower": base})
    yield "no lemma", doc.certificate(doc.vjp(*_calls("tower")), ["y"])


def _calls(symbol):
    x, d = doc.given("x", ["N"]), doc.given("d", ["N"])
    call = doc.value("y", "call", "x", symbol=symbol, lead=0, shape=[["N"]])
    return doc.program(doc.N, [x, call], "y"), doc.program(
        doc.N, [x, d, doc.value("g", "call_back", "x", "d", symbol=symbol, lead=0)], "g"
    )
