"""Broken and hostile modules: one line, and neither a crash nor much time or memory."""

import random

import pytest

from tests.stablehlo.lowered import arrays, lowered
from vjproof.errors import VjproofError
from vjproof.stablehlo import isolated
from vjproof.stablehlo.isolated import ParserProcess
from vjproof.stablehlo.limits import DEEPEST, MOST_BYTES, require_sane
from vjproof.stablehlo.read import read_stablehlo


def wrap(body: str, result: str = "tensor<3xf32>") -> str:
    return f"module {{ func.func @main(%x: tensor<3xf32>) -> {result} {{\n{body}\n}} }}"


IDENTITY = wrap("return %x : tensor<3xf32>")
BROKEN = {
    "empty": "",
    "words": "not a module",
    "truncated": IDENTITY[:60],
    "no function": "module {}",
    "wrong types": wrap("%0 = stablehlo.add %x, %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>", "tensor<4xf32>"),
    "wrong attribute": wrap('%0 = "stablehlo.transpose"(%x) {permutation = array<i64: 7>} : (tensor<3xf32>) -> '
                            "tensor<3xf32>\nreturn %0 : tensor<3xf32>"),
    "undefined value": wrap("return %y : tensor<3xf32>"),
    "unknown dialect": wrap("%0 = nonsense.op %x : tensor<3xf32>\nreturn %0 : tensor<3xf32>"),
    "zero byte": IDENTITY + "\0",
    "nested brackets": wrap("(" * 1000),
    "recursion": "module { func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                 "%0 = func.call @main(%x) : (tensor<3xf32>) -> tensor<3xf32>\nreturn %0 : tensor<3xf32> } }",
    "endless loop": wrap("%0 = stablehlo.while(%a = %x) : tensor<3xf32> cond {\n"
                         "%t = stablehlo.constant dense<true> : tensor<i1>\nstablehlo.return %t : tensor<i1> } do {\n"
                         "stablehlo.return %a : tensor<3xf32> }\nreturn %0 : tensor<3xf32>"),
    "huge known array": wrap("%0 = stablehlo.iota dim = 0 : tensor<900000000xf32>\nreturn %0 : tensor<900000000xf32>",
                             "tensor<900000000xf32>"),
    "huge constant": wrap("%0 = stablehlo.constant dense<1> : tensor<900000000000xi32>\nreturn %x : tensor<3xf32>"
                          ).replace("return %x", "%1 = stablehlo.convert %0 : (tensor<900000000000xi32>) -> "
                                    "tensor<900000000000xf32>\nreturn %1").replace("-> tensor<3xf32> {",
                                                                                   "-> tensor<900000000000xf32> {"
                                    ).replace("return %1 : tensor<3xf32>", "return %1 : tensor<900000000000xf32>"),
    "dynamic shape": "module { func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> } }",
    "size 0": "module { func.func @main(%x: tensor<0xf32>) -> tensor<0xf32> { return %x : tensor<0xf32> } }",
    "infinite constant": wrap("%0 = stablehlo.constant dense<0x7F800000> : tensor<3xf32>\n"
                              "%1 = stablehlo.add %x, %0 : tensor<3xf32>\nreturn %1 : tensor<3xf32>"),
    "complex numbers": wrap("%0 = stablehlo.complex %x, %x : tensor<3xcomplex<f32>>\n"
                            "%1 = stablehlo.real %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>\n"
                            "return %1 : tensor<3xf32>"),
    "custom call": wrap("%0 = stablehlo.custom_call @evil(%x) : (tensor<3xf32>) -> tensor<3xf32>\n"
                        "return %0 : tensor<3xf32>"),
    "integers": "module { func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> { return %x : tensor<3xi32> } }",
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_modules_are_refused_in_one_line(name):
    with pytest.raises(VjproofError) as caught:
        read_stablehlo(BROKEN[name])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_the_module_around_the_broken_ones_is_read():
    assert read_stablehlo(IDENTITY).run([1.0, 2.0, 3.0])[0].tolist() == [1.0, 2.0, 3.0]


def test_custom_calls_are_refused_by_name():
    with pytest.raises(VjproofError, match=r"stablehlo\.custom_call @evil at line 2"):
        read_stablehlo(BROKEN["custom call"])


def test_what_no_result_needs_may_be_anything():
    dead = wrap("%0 = stablehlo.custom_call @evil(%x) : (tensor<3xf32>) -> tensor<3xf32>\nreturn %x : tensor<3xf32>")
    assert len(read_stablehlo(dead).program.operations) == 1


def test_a_million_operations_are_too_many():
    lines = "%0 = stablehlo.negate %x : tensor<3xf32>\n" + "".join(
        f"%{k} = stablehlo.negate %{k - 1} : tensor<3xf32>\n" for k in range(1, 210_000)
    )
    with pytest.raises(VjproofError, match="at most 200000 operations"):
        read_stablehlo(wrap(lines + "return %x : tensor<3xf32>"))


def test_signs_of_shared_values_are_found_once():
    lines = "%0 = stablehlo.exponential %x : tensor<3xf32>\n" + "".join(
        f"%{k} = stablehlo.add %{k - 1}, %{k - 1} : tensor<3xf32>\n" for k in range(1, 50)
    )
    last = "%z = stablehlo.constant dense<0.0> : tensor<3xf32>\n%m = stablehlo.maximum %49, %z : tensor<3xf32>\n"
    module = read_stablehlo(wrap(lines + last + "return %m : tensor<3xf32>"))
    assert "max" not in {operation.kind for operation in module.program.operations.values()}


def test_brackets_nest_to_a_limit():
    require_sane(b"(" * DEEPEST, "text")
    with pytest.raises(VjproofError, match=r"line 2: .*brackets"):
        require_sane(b"\n" + b"(" * (DEEPEST + 1), "text")
    require_sane(b'"' + b"(" * 1000 + b'"', "text")
    require_sane(b'"' + b'\\"' * 500_000, "a text whose string does not end")
    with pytest.raises(VjproofError, match="bytes"):
        require_sane(b"x" * (MOST_BYTES + 1), "text")


def test_a_parser_that_crashes_or_hangs_is_told_and_replaced(monkeypatch, request):
    parser = ParserProcess()
    request.addfinalizer(parser.close)
    assert set(parser.parse(IDENTITY, "text")) == {"main"}
    parser._process.kill()
    parser._process.wait()
    assert set(parser.parse(IDENTITY, "text")) == {"main"}
    with monkeypatch.context() as patch:
        patch.setattr(isolated, "TIMEOUT", 0.0)
        with pytest.raises(VjproofError, match="not done after"):
            parser.parse(IDENTITY, "text")
    assert set(parser.parse(IDENTITY, "text")) == {"main"}


def refusal(module: str | bytes) -> str:
    """The message that refuses a module, "" where it is read."""
    try:
        read_stablehlo(module)
    except VjproofError as error:
        return str(error)
    return ""


def test_scrambled_modules_are_read_or_refused():
    import jax.numpy as jnp

    def function(x, w):
        return jnp.tanh(x @ w).sum(0)

    text = lowered(function, *arrays((2, 3), (3, 4)))
    generator = random.Random(0)
    refusals = []
    for _ in range(150):
        letters = list(text)
        for _ in range(generator.randint(1, 4)):
            at = generator.randrange(len(letters))
            letters[at : at + generator.randint(0, 3)] = generator.choices("0123456789x<>[]{}(),%= \nabc", k=2)
        refusals.append(refusal("".join(letters)))
    assert len([one for one in refusals if one]) > 50
    assert not [one for one in refusals if "\n" in one]


def test_scrambled_bytecode_is_read_or_refused():
    import jax
    import jax.numpy as jnp
    from jax import export

    shape = jax.ShapeDtypeStruct((2, 3), jnp.float32)
    data = export.export(jax.jit(lambda x: jnp.tanh(x).sum(0)))(shape).mlir_module_serialized
    assert read_stablehlo(data).outputs[0].shape == (3,)
    generator = random.Random(1)
    for _ in range(60):
        scrambled = bytearray(data)
        for _ in range(generator.randint(1, 6)):
            scrambled[generator.randrange(4, len(data))] = generator.randrange(256)
        assert "\n" not in refusal(bytes(scrambled[: generator.randrange(8, len(data) + 1)]))
