"""Programs as text: what is written, that it reads back, and one clear line for text that is malformed."""

import pytest

from vjproof.errors import VjproofError
from vjproof.layers import attention
from vjproof.program import text as text_module
from vjproof.program.recorder import Tape, program_data, program_of, record
from vjproof.program.text import format_program, parse_program

EXAMPLE = """\
axes n m c=4
input q [1+n,c]
input k [m,c]
v3 = transpose k order=[1,0]
v4 = dot q v3 batch=[;] contract=[1;0]
v5 = size axis=c exponent=-1/2
v6 = broadcast v5 shape=[1+n,m] places=[]
v7 = mul v4 v6
v8 = slice v7 axis=0 start=1 stop=2
v9 = const value=-1/2*2^1/2*pi^-1/2
v10 = max v8 axes=[1]
v11 = call v8 symbol=tail lead=1 shape=[2]
v12 = call_back v8 v11 symbol=tail lead=1
v13 = concat v8 v12 axis=0
return v13 v9 v10
"""


def test_the_example_reads_back():
    assert format_program(parse_program(EXAMPLE)) == EXAMPLE
    program = parse_program(EXAMPLE)
    assert program.atoms == {"n": None, "m": None, "c": 4}
    assert program.operations["v9"].attributes == {"value": ["-1/2", {"2": "1/2", "pi": "-1/2"}]}
    assert program.outputs == ("v13", "v9", "v10")


def test_blanks_comments_and_empty_lines_change_nothing():
    loose = "\n# scores\n" + EXAMPLE.replace(",", ",  ").replace("[1+n", "[ 1+n").replace("\n", "  \n\n")
    assert format_program(parse_program(loose)) == EXAMPLE


def test_a_recorded_program_reads_back():
    program = record(lambda q, k: attention.forward(q, k, k), {"q": ("B", "1+n", "c"), "k": ("B", "m", "c")})
    assert program_data(parse_program(format_program(program))) == program_data(program)


def changed(old, new):
    assert EXAMPLE.count(old) == 1
    return EXAMPLE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (changed("axes n m c=4\n", ""), 1),
        (changed("axes n m c=4", "axes n n"), 1),
        (changed("axes n m c=4", "axes n m c=0"), None),
        (changed("axes n m c=4", "axes n m c=four"), 1),
        (changed("[1+n,c]", "[1+,c]"), 2),
        (changed("[1+n,c]", "1+n,c"), 2),
        (changed("[1+n,c]", "[1+q,c]"), 2),
        (changed("[1+n,c]", "[1+n, c"), 2),
        (changed("v3 = transpose", "q = transpose"), 4),
        (changed("order=[1,0]", "order=[1,a]"), 4),
        (changed("order=[1,0]", "order=[1,1]"), 4),
        (changed("order=[1,0]", "order=1,0"), 4),
        (changed("order=[1,0]", "order=[1,0] order=[1,0]"), 4),
        (changed("order=[1,0]", "order=[1,0] colour=red"), 4),
        (changed("order=[1,0]", ""), 4),
        (changed("contract=[1;0]", "contract=[1,0]"), 5),
        (changed("dot q v3", "dot q k"), 5),
        (changed("dot q v3", "dot q v4"), 5),
        (changed("exponent=-1/2", "exponent=0"), 6),
        (changed("exponent=-1/2", "exponent=-0.5"), 6),
        (changed("v7 = mul", "v7 mul"), 8),
        (changed("v7 = mul", "7 = mul"), 8),
        (changed("v7 = mul v4 v6", "v7 ="), 8),
        (changed("stop=2", "stop=3"), 9),
        (changed("stop=2", "stop=-1"), 9),
        (changed("2^1/2", "2^1/2*2^1/2"), 10),
        (changed("2^1/2", "4^1/2"), 10),
        (changed("2^1/2", "2^1/2^3"), 10),
        (changed("v10 = max", "v10 = min"), 11),
        (changed("return v13 v9 v10", "return v99"), 15),
        (changed("return v13 v9 v10", "return"), 15),
        (changed("return v13 v9 v10\n", ""), None),
        (EXAMPLE + "v20 = exp v3\n", 16),
        ("", None),
        ("axes\nreturn x", 2),
        ("axes n\ninput x\nreturn x", 2),
    ],
)
def test_malformed_text_is_refused_with_the_line(text, line):
    with pytest.raises(VjproofError, match=f"line {line}: " if line else "program") as refused:
        parse_program(text)
    assert "\n" not in str(refused.value)


def test_hostile_text_stays_small(monkeypatch):
    monkeypatch.setattr(text_module, "LONGEST", 2**18)
    monkeypatch.setattr(text_module, "MOST_FACTORS", 2**14)
    many = "\n".join(f"input x{i} [{','.join(['4096'] * 3)}]" for i in range(3))
    for text, message in (
        ("axes n\n" + "x" * 2**18, "at most 262144 characters"),
        ("axes n\ninput x [" + "n*" * 2**16 + "n]", "at most 65536 characters"),
        (f"axes n\n{many}\nreturn x0", "at most 16384 factors"),
        ("axes n\ninput x [" + "(" * 1000 + "n" + ")" * 1000 + "]\nreturn x", "line 2"),
    ):
        with pytest.raises(VjproofError, match=message):
            parse_program(text)


def test_names_that_text_cannot_carry_are_refused():
    data = {"axes": {"a b": None}, "lines": [["x", "input", [], {"shape": [["a b"]]}]], "outputs": ["x"]}
    with pytest.raises(VjproofError, match="'a b' is not a name"):
        format_program(program_of(data))
    tape = Tape()
    x = tape.input("x", ("n",))
    with pytest.raises(VjproofError, match="'f g' is not a name"):
        format_program(tape.program([tape.call("f g", x, ("n",), 0)]))
