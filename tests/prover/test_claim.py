"""Claims before and after they are proved: a certificate tells the outline that was recorded, lemmas included."""

import copy
import json
import os

import pytest

from vjproof.errors import VjproofError
from vjproof.kernel.certificate import check, digest
from vjproof.prover.claim import Fold, Pair, outline, outline_of, prove_claim
from vjproof.prover.registry import record_variant
from vjproof.prover.result import NOT_PROVED, PROVED
from vjproof.prover.workers import _groups, _mapped

CASES = [
    ("dense_pullback_eq_vjp", ""),
    ("vit_block_back_eq_vit_block_back_v", ""),
    ("vit_tower_back_k_eq_vjp", "erf"),
    ("vit_input_grad_k_eq_vit_forward_kv_vjp", "erf"),
]
KNOWN: dict = {}


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_a_certificate_tells_the_outline_of_its_claim(name, variant):
    claim = record_variant(name, variant)
    result = prove_claim(claim, KNOWN)
    assert result.status == PROVED
    certificate = json.loads(json.dumps(result.certificate))
    assert tuple(check(certificate)) == result.statement
    assert digest(outline_of(certificate)) == digest(outline(claim))


def test_an_outline_tells_programs_lemmas_and_hypotheses_apart():
    claim = record_variant("vit_input_grad_k_eq_vit_forward_kv_vjp", "erf")
    assert isinstance(claim, Pair)
    others = [record_variant("vit_input_grad_k_eq_vit_forward_kv_vjp", "tanh")]
    for name, value in (("lemmas", {}), ("positive", ()), ("wrt", ("w_head",)), ("second", claim.forward)):
        others.append(copy.copy(claim))
        object.__setattr__(others[-1], name, value)
    digests = {digest(outline(each)) for each in (claim, *others)}
    assert len(digests) == 1 + len(others)


def test_what_is_known_is_not_searched_again(monkeypatch):
    claim = record_variant("dense_pullback_eq_vjp", "")
    first = prove_claim(claim, KNOWN)
    monkeypatch.setattr("vjproof.prover.claim.prove_programs", None)
    assert prove_claim(record_variant("dense_pullback_eq_vjp", ""), KNOWN) is first


def test_an_induction_that_does_not_fit_is_not_proved():
    tower = record_variant("vit_tower_back_k_eq_vjp", "erf")
    assert isinstance(tower, Fold)
    other = record_variant("dense_pullback_eq_vjp", "")
    assert isinstance(other, Pair)
    result = prove_claim(Fold("tower", other, tower.step), KNOWN)
    assert result.status == NOT_PROVED
    assert result.reason.startswith("induction: ")
    assert result.certificate is None


def test_variants_that_share_lemmas_share_a_process():
    tasks = [("a", ""), ("b", ""), ("c", "erf, cls"), ("d", "erf, LayerScale"), ("e", "erf, mean")]
    assert _groups(tasks) == [[tasks[2], tasks[4]], [tasks[0]], [tasks[1]], [tasks[3]]]


def test_a_worker_that_dies_is_told_in_one_line():
    with pytest.raises(VjproofError, match="a worker process: expected an answer"):
        list(_mapped(os._exit, [1, 2], workers=2))
