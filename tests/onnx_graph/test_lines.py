"""What ONNX nodes compute, against the program's own numbers."""

import numpy as np
import onnxruntime
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, checker, helper, numpy_helper

from tests.program.test_random import INPUTS, NAMES, next_step
from vjproof.errors import VjproofError
from vjproof.onnx_graph.graph import Graph
from vjproof.onnx_graph.lines import Lines
from vjproof.program.interpreter import run
from vjproof.program.recorder import Tape, record
from vjproof.program.size import Size


def session(program, batched="t", numbers=None):
    """An onnxruntime session of a program whose inputs keep their names; `numbers` become constants."""
    graph, numbers = Graph(), numbers or {}
    outputs = Lines(program, graph, {name: name for name in program.inputs}, numbers, batched).write()
    names = [f"out{index}" for index in range(len(outputs))]
    nodes = [*graph.nodes, *(helper.make_node("Identity", [o], [n]) for o, n in zip(outputs, names, strict=True))]
    made = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None] * len(program.shape(n)))
         for n in program.inputs if n not in numbers],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None] * len(program.shape(output)))
         for n, output in zip(names, program.outputs, strict=True)],
        [numpy_helper.from_array(array, name) for name, array in graph.constants.items()],
    )  # fmt: skip
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def computed(program, inputs, **choices):
    """Outputs of the graph, in float32."""
    return session(program, **choices).run(None, {name: array.astype(np.float32) for name, array in inputs.items()})


def assert_same(got, wanted):
    """Compare at the scale of the largest value, since differences may cancel."""
    scale = max(1.0, *(float(np.max(np.abs(value))) for value in wanted))
    for ours, theirs in zip(got, wanted, strict=True):
        assert ours.shape == np.shape(theirs)
        assert np.isfinite(ours).all()
        assert np.max(np.abs(ours - theirs)) <= 2e-5 * scale


def composed(data, sizes):
    """A random composition of the subset over the axes of INPUTS, and inputs of these sizes; b may be symbolic."""
    tape = Tape({name: None if name == "b" and data.draw(st.booleans()) else size for name, size in sizes.items()})
    pool = [tape.input(name, shape) for name, shape in INPUTS.items()]
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))

    def count(size):
        return eval(repr(size), dict(sizes))

    inputs = {name: generator.standard_normal([count(size) for size in x.shape])
              for name, x in zip(INPUTS, pool, strict=True)}  # fmt: skip
    for _ in range(data.draw(st.integers(1, 8))):
        step = next_step(data.draw, pool)
        recorded = step.apply(tape.namespace, lambda size: size, *(pool[i] for i in step.at))
        if np.prod([count(size) for size in recorded.shape], initial=1) <= 20_000 and recorded.ndim <= 6:
            pool.append(recorded)
    return tape.program(pool), inputs


def is_writable(program):
    """Whether a graph can say how the program uses its symbolic batch."""
    try:
        session(program)
    except VjproofError as refusal:
        return "another use of the batch" not in str(refusal)
    return True


@settings(max_examples=120)
@given(st.data())
def test_the_graph_of_a_composition_computes_its_program(data):
    sizes = dict(zip(NAMES, data.draw(st.permutations([1, 2, 3, 5])), strict=True))
    program, inputs = composed(data, sizes)
    wanted = run(program, inputs, sizes)
    assume(max(float(np.max(np.abs(value))) for value in wanted) < 1e6)
    if program.atoms["b"] is None and not is_writable(program):
        return
    assert_same(computed(program, inputs), wanted)


def test_a_wrong_line_is_told_apart(monkeypatch):
    program = record(lambda x: x * x, [("b", 3)])
    inputs = {"x0": np.arange(6.0).reshape(2, 3)}
    assert_same(computed(program, inputs, batched="x0"), run(program, inputs))
    monkeypatch.setattr(Lines, "_line", lambda self, op, real=Lines._line: real(self, op._replace(
        kind="add" if op.kind == "mul" else op.kind)))  # fmt: skip
    with pytest.raises(AssertionError):
        assert_same(computed(program, inputs, batched="x0"), run(program, inputs))


def test_one_graph_takes_every_batch():
    def function(x, row):
        xp = x.__array_namespace__()
        return xp.concat([xp.broadcast_to(row, (*x.shape[:1], 1, 3)), x], axis=1)

    program = record(function, [("b", 2, 3), (3,)])
    runner = session(program, batched="x0")
    for batch in (1, 3, 7):
        inputs = {"x0": np.ones((batch, 2, 3), np.float32), "x1": np.arange(3, dtype=np.float32)}
        (got,) = runner.run(None, inputs)
        assert got.shape == (batch, 3, 3)
        np.testing.assert_array_equal(got[:, 0], np.tile(inputs["x1"], (batch, 1)))


def test_numbers_are_worked_out_in_float64_before_they_are_rounded():
    program = record(lambda x, eps: x + (eps * 3 + 1e-9) / Size.of("b*n") ** 1, [("b", "n"), ()], {"b": 3, "n": 5})
    graph = Graph()
    Lines(program, graph, {"x0": "x0"}, {"x1": 0.1}, "x0").write()
    assert [float(number) for number in graph.constants.values()] == [float(np.float32((0.1 * 3 + 1e-9) / 15))]
    assert [node.op_type for node in graph.nodes] == ["Add"]


def test_equal_nodes_and_constants_are_one():
    graph = Graph()
    first = graph.node("Exp", ["x"])
    assert graph.node("Exp", ["x"]) == first != graph.node("Exp", ["y"])
    assert graph.number(2.0) == graph.number(2.0) != graph.integers([2])
    assert len(graph.nodes) == len(graph.constants) == 2


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x: x[: Size.of("b"), :], [("b+c", 2)]),
        (lambda x: x.__array_namespace__().concat([x, x], axis=0)[Size.of("b") :, :], [("b", 2)]),
        (lambda x, y: x * y, [("b", "c"), ("b", "c")]),
    ],
)
def test_other_uses_of_the_batch_are_refused(function, shapes):
    program = record(function, shapes)
    with pytest.raises(VjproofError, match="another use of the batch") as problem:
        session(program, batched="x0")
    assert "\n" not in str(problem.value)
