"""Tampered certificates are refused, and by nothing but Refused; digests always fit, so that they save nobody."""

import json

import pytest

from tests.prover import tampering
from tests.prover.chains import chains, proved
from tests.prover.oracle import SAME, compare
from vjproof.kernel.certificate import check, read
from vjproof.kernel.program import Refused, program_from


def refused(certificate):
    """Say whether a certificate is refused; any other exception is an error."""
    try:
        check(certificate)
    except Refused:
        return True
    return False


def harmless(name, certificate):
    """Say, by numbers, whether a claim is still about the same functions: junk may hit what no output needs."""
    pair, claim, right = chains()[name], certificate["claim"], proved(name).certificate["claim"]
    if {**claim, "forward": 0, "second": 0} != {**right, "forward": 0, "second": 0}:
        return False
    programs = [(program_from(claim[side]), getattr(pair, side)) for side in ("forward", "second")]
    return all(compare(own, given, pair.positive) == SAME for given, own in programs)


def accepted(name, tampered):
    """Return the descriptions of the tampered certificates that pass and are not harmless."""
    return [words for words, c in tampered if not refused(c) and not harmless(name, c)]


def test_the_untouched_certificates_pass():
    for name in tampering.SOURCES:
        assert check(tampering.renewed(proved(name).certificate)) == list(proved(name).statement)


@pytest.mark.parametrize("name", tampering.SOURCES)
def test_another_program_is_refused(name):
    tampered = list(tampering.other_programs(name, 3))
    assert len(tampered) >= 4
    assert [words for words, certificate in tampered if not refused(certificate)] == []


@pytest.mark.parametrize("name", tampering.SOURCES)
def test_another_claim_is_refused(name):
    tampered = list(tampering.claims(name))
    assert len(tampered) >= 30
    assert [words for words, certificate in tampered if not refused(certificate)] == []


@pytest.mark.parametrize("name", tampering.SOURCES)
def test_junk_in_a_claim_is_refused(name):
    tampered = list(tampering.junk(name))
    assert len([c for _, c in tampered if refused(c)]) >= 20
    assert accepted(name, tampered) == []


def test_a_changed_induction_is_refused():
    tampered = list(tampering.towers())
    assert len(tampered) >= 14
    assert [words for words, certificate in tampered if not refused(certificate)] == []


@pytest.mark.parametrize("name", tampering.SOURCES)
def test_a_changed_proof_of_a_true_claim_changes_no_statement(name):
    """These do not count as tampered claims: what they claim is true, and some proofs have steps to spare."""
    for certificate in tampering.proofs(name):
        try:
            assert check(certificate) == list(proved(name).statement)
        except Refused:
            continue


@pytest.mark.parametrize("digests", [{}, None, {"claim": "0" * 64}, {"claim": "", "kernel": ""}])
def test_stale_digests_are_refused(digests):
    certificate = proved("softmax_pullback_eq_vjp").certificate
    with pytest.raises(Refused, match=r"digest|malformed"):
        check({**certificate, "digests": digests})


def test_notes_are_not_read_and_other_fields_are_refused():
    certificate = proved("softmax_pullback_eq_vjp").certificate
    assert check({**certificate, "notes": {"anything": [1]}})
    assert refused({**certificate, "extra": 1})


@pytest.mark.parametrize("document", [None, [], "x", 1, {}, {"claim": {}}, {"claim": {}, "proof": {}, "digests": {}}])
def test_what_is_no_certificate_is_refused(document):
    with pytest.raises(Refused):
        check(document)


FILES = {
    "empty": b"", "text": b"x", "cut": b'{"claim": {"kind": "vj',
    "null": b"null", "list": b"[]", "bytes": b"\xff\xfe\x00",
    "deep": b"[" * 200_000, "deep objects": b'{"a":' * 100_000, "infinite": b'{"claim": Infinity}',
    "long integer": b'{"claim": ' + b"9" * 10_000 + b"}",
    "number of a thousand digits": b'{"claim": ' + b"9" * 1000 + b"}",
    "deep inside": b'{"claim": ' + b"[" * 900 + b"]" * 900 + b', "proof": {}, "digests": {}}',
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_garbage_in_a_file_is_refused(name, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_bytes(FILES[name])
    with pytest.raises(Refused):
        check(read(path))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(Refused):
        read(tmp_path / "none.json")


def test_a_certificate_survives_its_file(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(proved("sdpa_pullback_eq_vjp").certificate), encoding="utf-8")
    assert check(read(path)) == list(proved("sdpa_pullback_eq_vjp").statement)


@pytest.mark.slow
@pytest.mark.parametrize("name", tampering.SOURCES)
def test_junk_anywhere_in_a_claim_is_refused(name):
    for step in (1, 2, 3, 5, 11):
        assert accepted(name, tampering.junk(name, step)) == []


def test_there_are_two_hundred_tampered_claims():
    sources = [tampering.other_programs(n, 3) for n in tampering.SOURCES] + [
        tampering.claims(n) for n in tampering.SOURCES
    ]
    sources += [tampering.junk(name) for name in tampering.SOURCES] + [tampering.towers()]
    assert sum(refused(certificate) for source in sources for _, certificate in source) >= 200
