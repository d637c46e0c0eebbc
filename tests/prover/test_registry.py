"""Theorems by name: each can be recorded, is found, and answers with its certificates; docs tell the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import vjproof
from vjproof.errors import VjproofError
from vjproof.kernel.certificate import check, read
from vjproof.kernel.program import Program
from vjproof.kernel.signs import conditions_of
from vjproof.prover import registry
from vjproof.prover.claim import Claim, Fold, Pair, outline
from vjproof.prover.result import NOT_PROVED, PROVED, REFUTED, Result
from vjproof.prover.theorem import Theorem, file_name
from vjproof.prover.ties.tie import Tie, vjp
from vjproof.prover.workers import prove_many

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = [(name, variant) for name, tie in registry.theorems().items() for variant in tie.variants]


def programs(claim: Claim) -> list[tuple[Program, tuple[str, ...]]]:
    """All programs of a claim and its lemmas, each with the inputs that are positive by hypothesis."""
    if isinstance(claim, Fold):
        return [*programs(claim.base), *programs(claim.step)]
    nested = [pair for lemma in claim.lemmas.values() for pair in programs(lemma)]
    return [(claim.forward, claim.positive), (claim.second, claim.positive), *nested]


def doubled(net, x):
    return x + x


def wrong_tie() -> Tie:
    """A theorem that is false: the reverse drops half."""
    arguments = lambda net: (net.input("x", "B"),)  # noqa: E731
    claim = lambda factor: lambda: vjp(arguments, doubled, lambda net, d, x: d * factor, lambda net: ("B",))  # noqa: E731
    return Tie("half_is_lost", "d is the VJP of x + x.", "d_x = d_y", {"half": claim(1), "whole": claim(2)})


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_every_variant_is_recorded_and_has_no_condition_beside_its_hypothesis(name, variant):
    claim = registry.record_variant(name, variant)
    for program, positive in programs(claim):
        assert set(positive) <= {"eps"}
        assert conditions_of(program, positive) == []
    assert outline(claim) == outline(registry.record_variant(name, variant))  # recording says the same twice


def test_names_are_distinct_snake_case_and_complete():
    names = list(registry.theorems())
    assert len(names) > 20
    assert all(name.isidentifier() and name == name.lower() for name in names)
    assert all(tie.words.endswith(".") and tie.formula and tie.hypotheses for tie in registry.theorems().values())
    files = [file_name(name, variant) for name, variant in VARIANTS]
    assert len(set(files)) == len(files)


def test_a_theorem_tells_what_was_found_and_saves_certificates_that_check(tmp_path):
    theorem = vjproof.prove("layer_scale_pullback_eq_vjp")
    assert isinstance(theorem, Theorem)
    assert theorem
    assert theorem.status == PROVED
    assert list(theorem.results) == ["erf", "tanh"]
    assert theorem.equalities > 0
    assert theorem.seconds > 0
    assert theorem.words in str(theorem)
    assert "where eps > 0" in str(theorem)
    files = theorem.save(tmp_path / "new" / "folder")
    assert [path.name for path in files] == [f"layer_scale_pullback_eq_vjp.{form}.json" for form in ("erf", "tanh")]
    for path, (variant, result) in zip(files, theorem.results.items(), strict=True):
        certificate = read(path)
        assert tuple(check(certificate)) == result.statement
        assert certificate["notes"]["theorem"] == theorem.name
        assert certificate["notes"]["variant"] == variant
        parts = {"forward", "second", "base", "step"} & set(certificate["claim"])
        assert set(certificate["digests"]) == {"claim", "kernel"} | parts
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} == {path.name for path in files}


def test_a_wrong_name_gets_the_closest_ones():
    with pytest.raises(VjproofError, match=r"softmax_pullback.*did you mean softmax_pullback_eq_vjp"):
        vjproof.prove("softmax_pullback")
    with pytest.raises(VjproofError, match="--list") as found:
        vjproof.prove("\n" * 100000)
    assert len(str(found.value)) < 300
    with pytest.raises(VjproofError, match=r"variant 'sigmoid'.*erf"):
        registry.record_variant("layer_scale_pullback_eq_vjp", "sigmoid")


def test_a_false_theorem_is_refuted_with_its_input(monkeypatch):
    monkeypatch.setattr(registry, "theorems", lambda: {"half_is_lost": wrong_tie()})
    theorem = registry.prove("half_is_lost")
    assert not theorem
    assert theorem.status == REFUTED
    assert theorem.results["half"].counterexample.confirmed
    assert theorem.results["whole"]
    assert list(theorem.certificates) == ["half_is_lost.whole.json"]
    assert "half: refuted" in str(theorem)
    assert "d_x[" in str(theorem)


def test_code_that_cannot_be_recorded_is_not_proved(monkeypatch):
    broken = Tie("broken", "Words.", "f", {"": lambda: vjp(lambda net: (), doubled, doubled, lambda net: (), wrt=())})
    fails = lambda: (_ for _ in ()).throw(VjproofError("the code", got="a branch"))  # noqa: E731
    monkeypatch.setattr(registry, "theorems", lambda: {"broken": Tie("broken", broken.words, "f", {"": fails})})
    theorem = registry.prove("broken")
    assert theorem.status == NOT_PROVED
    assert "the code: got a branch" in str(theorem)
    assert theorem.certificates == {}


def test_one_thing_not_proved_is_enough():
    results = {"a": Result(PROVED), "b": Result(NOT_PROVED)}
    assert Theorem("n", "w", "f", "none", "", results).status == NOT_PROVED
    assert Theorem("n", "w", "f", "none", "", results | {"c": Result(REFUTED)}).status == REFUTED
    assert not Theorem("n", "w", "f", "none", "", {})


def test_a_lemma_that_fails_is_the_answer():
    from vjproof.prover.claim import prove_claim

    wrong = wrong_tie().variants["half"]()
    right = wrong_tie().variants["whole"]()
    assert isinstance(right, Pair)
    assert prove_claim(Fold("tower", wrong, right)).status == REFUTED
    assert (
        prove_claim(Pair(right.forward, right.second, right.wrt, right.cotangents, lemmas={"t": wrong})).status
        == REFUTED
    )


@pytest.mark.parametrize(
    ("name", "variant", "file"),
    [
        ("a_b", "", "a_b.json"),
        ("a_b", "erf, LayerScale, all rows", "a_b.erf-LayerScale-all-rows.json"),
        ("../a/b", "../x", "___a_b.x.json"),
    ],
)
def test_file_names_hold_no_path(name, variant, file):
    assert file_name(name, variant) == file


def test_nothing_is_left_when_the_folder_cannot_be_written(tmp_path):
    (tmp_path / "taken").write_text("a file")
    theorem = vjproof.prove("dense_pullback_eq_vjp")
    with pytest.raises(VjproofError, match="a folder to write certificates to"):
        theorem.save(tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "a file"


def test_two_processes_find_what_one_finds():
    names = ["dense_pullback_eq_vjp", "layer_scale_pullback_eq_vjp"]
    told = []
    two = prove_many(names, workers=2, advance=lambda done, total: told.append((done, total)))
    one = prove_many(names, workers=1)
    assert [t.name for t in two] == [t.name for t in one] == names
    for here, there in zip(one, two, strict=True):
        assert json.dumps(here.certificates) == json.dumps(there.certificates)
    assert told[-1] == (3, 3)


def test_an_outdated_document_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import generate_docs

    monkeypatch.setattr(generate_docs, "THEOREMS", tmp_path / "theorems.md")
    monkeypatch.setattr(generate_docs, "page", lambda: "another page")
    monkeypatch.setattr(sys, "argv", ["generate_docs.py", "--check"])
    assert generate_docs.main() == 1
    assert "theorems.md is out of date" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["generate_docs.py"])
    monkeypatch.setattr(generate_docs, "TRUST", tmp_path / "trust.md")
    (tmp_path / "trust.md").write_text(f"before\n{generate_docs.START}STALE\n{generate_docs.END}\nafter\n")
    assert generate_docs.main() == 0
    written = (tmp_path / "trust.md").read_text()
    assert written.startswith("before\n")
    assert written.endswith("\nafter\n")
    assert "`kernel/check.py`" in written
    assert "STALE" not in written


def test_documents_are_up_to_date():
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "generate_docs.py", "--check"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
