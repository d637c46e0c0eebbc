"""`vjproof prove` and `vjproof check`: what they write, print and return."""

import json
from pathlib import Path

import pytest

from vjproof.cli import run
from vjproof.kernel.certificate import digests_of
from vjproof.pipeline import prove as pipeline
from vjproof.prover import audit, registry
from vjproof.prover.ties.tie import Tie, vjp

NAMES = ["dense_pullback_eq_vjp", "softmax_pullback_eq_vjp"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The text of the certificate of each of NAMES."""
    folder = tmp_path_factory.mktemp("certificates")
    return {name: registry.prove(name).save(folder)[0].read_text() for name in NAMES}


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def resealed(data: dict) -> str:
    """A certificate with the digests that its claim and this kernel have."""
    data["digests"] = digests_of(data["claim"])
    return json.dumps(data)


def test_prove_prints_a_table_and_writes_certificates(capsys):
    assert run(["prove", *NAMES, "layer_scale_pullback_eq_vjp", "-o", "out/new"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for part in (*NAMES, "d_y W^T is the VJP of x W + b", "proved (2/2 cases)", "none", " s ", "3 of 3 proved"):
        assert part in said.out
    files = sorted(path.name for path in Path("out/new").iterdir())
    assert files == sorted([*(f"{name}.json" for name in NAMES),
                            *(f"layer_scale_pullback_eq_vjp.{form}.json" for form in ("erf", "tanh"))])  # fmt: skip
    assert "4 certificates in out/new" in said.out
    assert run(["check", *map(str, Path("out/new").iterdir())]) == 0
    said = capsys.readouterr()
    assert "4 of 4 certificates stand" in said.out
    assert said.out.count("the installed code is what it speaks of") == 4
    assert "for all sizes >= 1" in said.out


def test_nothing_is_written_unless_asked(capsys):
    assert run(["prove", NAMES[0]]) == 0
    assert list(Path().iterdir()) == []
    assert "1 of 1 proved" in capsys.readouterr().out


def test_json_is_one_document(capsys):
    assert run(["prove", NAMES[1], "--json", "-o", "out"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    (theorem,) = json.loads(said.out)["theorems"]
    assert (theorem["name"], theorem["status"]) == (NAMES[1], "proved")
    assert theorem["equalities"] > 0
    (variant,) = theorem["variants"]
    assert variant["certificate"] == str(Path(f"out/{NAMES[1]}.json"))
    assert set(variant["digests"]) == {"claim", "forward", "second", "kernel"}
    assert run(["check", variant["certificate"], "--json"]) == 0
    (checked,) = json.loads(capsys.readouterr().out)["certificates"]
    assert (checked["status"], checked["theorem"], checked["reason"]) == ("proved", NAMES[1], "")
    assert checked["statement"] == variant["lines"]


def test_list_tells_every_name_and_proves_nothing(capsys, monkeypatch):
    monkeypatch.setattr(registry, "prove_claim", None)
    assert run(["prove", "--list"]) == 0
    assert all(name in capsys.readouterr().out for name in [NAMES[0]])
    assert run(["prove", "--list", "--json"]) == 0
    assert [t["name"] for t in json.loads(capsys.readouterr().out)["theorems"]] == list(registry.theorems())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prove"], "names of theorems, or --all"),
        (["prove", NAMES[0], "--all"], "got both"),
        (["prove", NAMES[0], "nonsense"], "theorem 'nonsense'"),
        (["prove", "dense_pullback"], "did you mean dense_pullback_eq_vjp"),
        (["prove", NAMES[0], "-o", "taken"], "a folder to write certificates to"),
        (["check", "absent.json"], "absent.json: expected a certificate file"),
        (["check", "."], "expected a certificate file"),
        (["check"], "Missing argument"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, capsys):
    Path("taken").write_text("a file")
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["taken"]


def test_a_false_theorem_gives_status_1_and_its_counterexample(capsys, monkeypatch):
    arguments = lambda net: (net.input("x", "B"),)  # noqa: E731
    claim = lambda: vjp(arguments, lambda n, x: x + x, lambda n, d, x: d, lambda n: ("B",))  # noqa: E731
    monkeypatch.setattr(registry, "theorems", lambda: {"half": Tie("half", "Words.", "f", {"": claim})})
    assert run(["prove", "half"]) == 1
    said = capsys.readouterr()
    assert "0 of 1 proved" in said.out
    assert "vjproof: half [] refuted: d_x[" in said.err
    assert run(["prove", "half", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["theorems"][0]["status"] == "refuted"


def test_a_certificate_of_other_code_is_refused(saved, capsys, monkeypatch):
    """The layer changes after it was proved: the kernel still accepts, the comparison does not."""
    from vjproof.layers import dense

    path = write("dense.json", saved[NAMES[0]])
    assert run(["check", path]) == 0
    monkeypatch.setattr(
        dense, "pullback", lambda weight, d_y: (d_y + 0) @ dense.namespace(d_y).matrix_transpose(weight)
    )
    capsys.readouterr()
    assert run(["check", path]) == 1
    assert "recorded from other code than the installed one" in capsys.readouterr().err


def tampered(saved: dict[str, str], change: str) -> str:
    data = json.loads(saved[NAMES[1]])
    if change == "another theorem's name":
        data["notes"]["theorem"] = NAMES[0]
    elif change == "an unknown name":
        data["notes"]["theorem"] = "riemann_hypothesis\n\x1b[31m" * 1000
    elif change == "a name that is no text":
        data["notes"]["variant"] = [["erf"]]
    elif change == "another operation":
        data["claim"]["second"]["lines"][-1][1] = "add"
    elif change == "another program, resealed":
        data["claim"]["second"]["lines"][-1][1] = "add"
        return resealed(data)
    elif change == "another kernel":
        data["digests"]["kernel"] = "0" * 64
    elif change == "a lemma that nothing uses":
        data["lemmas"] = {"tower": {"claim": 7}}
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("another theorem's name", "recorded from other code"),
        ("an unknown name", "no theorem of this version"),
        ("a name that is no text", "no theorem of this version"),
        ("another operation", "digests"),
        ("another program, resealed", "is not shown to be"),
        ("another kernel", "digests"),
        ("a lemma that nothing uses", ""),
    ],
)
def test_a_tampered_certificate_is_refused_in_one_line_and_the_others_are_checked(change, reason, saved, capsys):
    paths = [write("right.json", saved[NAMES[0]]), write("wrong.json", tampered(saved, change))]
    assert run(["check", *paths]) == 1
    said = capsys.readouterr()
    assert "1 of 2 certificates stand" in said.out
    assert said.err.startswith("vjproof: wrong.json: refused, ")
    assert reason in said.err
    assert said.err.count("\n") == 1
    assert len(said.err) < 500


HOSTILE = {
    "empty": "",
    "no JSON": "\x00\xff\x00",
    "a list": "[]",
    "an empty object": "{}",
    "deep": "[" * 100_000,
    "a number too long": '{"claim": ' + "9" * 10_000 + "}",
    "a deep claim": '{"claim": ' + '{"kind": "fold", "base": ' * 500 + "1" + "}" * 501,
    "not a number": '{"claim": NaN, "proof": 1, "digests": {}}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(name, capsys):
    Path("hostile.json").write_bytes(HOSTILE[name].encode("latin-1"))
    assert run(["check", "hostile.json"]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("vjproof: hostile.json: refused, ")
    assert said.err.count("\n") == 1
    assert len(said.err) < 500


def test_a_file_that_is_too_large_is_not_read(capsys, monkeypatch):
    from vjproof.kernel import certificate

    with Path("large.json").open("wb") as file:
        file.truncate(certificate.MAX_BYTES + 1)  # sparse: nothing is stored
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("it was read"))
    assert run(["check", "large.json"]) == 1
    assert "larger than" in capsys.readouterr().err


def test_users_certificates_are_checked_as_they_are(capsys):
    import vjproof

    proof = vjproof.prove_vjp(lambda x: x * x, lambda d, x: 2 * x * d, {"x": ("n",)})
    assert run(["check", write("mine.json", json.dumps(proof.certificate))]) == 0
    said = capsys.readouterr().out
    assert "programs of its own" in said
    assert "not compared with any installed code" in said


def test_audits_tell_progress_and_keep_the_order(saved):
    names = [write(f"{place}.json", saved[NAMES[place % 2]]) for place in range(6)]
    told: list[tuple[int, int]] = []
    records = pipeline.check_certificates(names, workers=1, advance=lambda *count: told.append(count))
    assert [record["path"] for record in records] == names
    assert told[-1] == (6, 6)
    both = pipeline.check_certificates([*names, names[0]], workers=2)
    assert both == records
    assert audit.audit(names[0])
