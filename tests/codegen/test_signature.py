"""Signatures: what each part means, and what is refused."""

from __future__ import annotations

from codegen.spec.model import Text, Type
from codegen.spec.signature import parse_signature
from tests.asked import each


def signature(source: str):
    return parse_signature(Text(source, "spec", tuple((1, i + 1) for i in range(len(source) + 1))))


def test_types_names_defaults_and_outputs():
    parsed = signature("topk(x, Array[] ws, int[2]? k=(1, 2), *, str mode='a, b') -> values, Index indices")
    assert [(a.name, str(a.type), a.default, a.keyword_only) for a in parsed.arguments] == [
        ("x", "Array", None, False),
        ("ws", "Array[]", None, False),
        ("k", "int[2]?", "(1, 2)", False),
        ("mode", "str", "'a, b'", True),
    ]
    assert [(o.name, o.differentiable) for o in parsed.outputs] == [("values", True), ("indices", False)]
    assert [a.name for a in parsed.arrays] == ["x", "ws"]
    assert parsed.argument("ws").type == Type("Array", is_list=True)


def test_what_is_hidden():
    parsed = signature("_dropout(x) -> y, _mask")
    assert parsed.name == "_dropout"
    assert [(o.name, o.hidden, o.differentiable) for o in parsed.outputs] == [("y", False, True), ("_mask", True, False)]
    assert [o.name for o in parsed.visible] == ["y"]


def test_a_list_given_item_by_item():
    parsed = signature("einsum(str subscripts, Array[] *operands, bool optimize=False) -> y")
    assert [(a.name, str(a.type), a.variadic, a.keyword_only) for a in parsed.arguments] == [
        ("subscripts", "str", False, False),
        ("operands", "Array[]", True, False),
        ("optimize", "bool", False, True),
    ]
    assert str(parsed.argument("operands").location) == "spec:1:33"


def test_no_arguments():
    assert signature("now() -> int seconds").arguments == ()


def test_locations():
    assert str(signature("f(x, int axis=0) -> y").argument("axis").location) == "spec:1:10"


REFUSED = {
    "one array given item by item": (
        """\
- op: f(Array *xs) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:9: error: f: op: 'Array *xs' is not `type name`
- op: f(Array *xs) -> y
        ^""",
    ),
    "two of them": (
        """\
- op: f(Array[] *xs, Array[] *zs) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:22: error: f: op: a second '*'
- op: f(Array[] *xs, Array[] *zs) -> y
                     ^""",
    ),
    "an overload": (
        """\
- op: f.axis(x) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:7: error: f: op: a signature is `name(arguments) -> outputs`
- op: f.axis(x) -> y
      ^""",
    ),
    "two underscores": (
        """\
- op: __f(x) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:7: error: __f: op: a signature is `name(arguments) -> outputs`
- op: __f(x) -> y
      ^""",
    ),
    "a hidden argument": (
        """\
- op: f(x, _n) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:12: error: f: op: '_n': an underscore hides an output, not an argument
- op: f(x, _n) -> y
           ^""",
    ),
    "a hidden output alone": (
        """\
- op: f(x) -> _y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:15: error: f: op: '_y' is hidden: the first output is one that is returned
- op: f(x) -> _y
              ^""",
    ),
    "a hidden output in between": (
        """\
- op: f(x) -> y, _m, z
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:22: error: f: op: 'z' is returned, so it belongs before the hidden outputs
- op: f(x) -> y, _m, z
                     ^""",
    ),
    "a hidden list": (
        """\
- op: f(x) -> y, Array[] _m
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:26: error: f: op: '_m' is a list, which cannot be hidden
- op: f(x) -> y, Array[] _m
                         ^""",
    ),
    "a hidden output of two underscores": (
        """\
- op: f(x) -> y, __m
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:18: error: f: op: '__m' starts with two underscores
- op: f(x) -> y, __m
                 ^""",
    ),
    "no parentheses": (
        """\
- op: f -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:7: error: f: op: a signature is `name(arguments) -> outputs`
- op: f -> y
      ^""",
    ),
    "never closed": (
        """\
- op: f(x -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:8: error: f: op: '(' is never closed
- op: f(x -> y
       ^""",
    ),
    "no outputs": (
        """\
- op: f(x)
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:11: error: f: op: the signature has no '-> outputs'
- op: f(x)
          ^""",
    ),
    "empty outputs": (
        """\
- op: f(x) ->
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:14: error: f: op: the signature names no output
- op: f(x) ->
             ^""",
    ),
    "unknown type": (
        """\
- op: f(x, itn axis) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:12: error: f: op: unknown type 'itn'; did you mean 'int'?
- op: f(x, itn axis) -> y
           ^""",
    ),
    "repeated argument": (
        """\
- op: f(x, x) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:12: error: f: op: 'x' is named twice
- op: f(x, x) -> y
           ^""",
    ),
    "output named like an input": (
        """\
- op: f(x) -> x
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:15: error: f: op: 'x' is named twice
- op: f(x) -> x
              ^""",
    ),
    "required after default": (
        """\
- op: f(x, int axis=0, int n) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:28: error: f: op: 'n' has no default but follows one that has
- op: f(x, int axis=0, int n) -> y
                           ^""",
    ),
    "default is no literal": (
        """\
- op: f(x, float p=inf) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:20: error: f: op: the default inf is not a literal
- op: f(x, float p=inf) -> y
                   ^""",
    ),
    "default of another type": (
        """\
- op: f(x, int axis=0.5) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:21: error: f: op: the default 0.5 is not of type int
- op: f(x, int axis=0.5) -> y
                    ^""",
    ),
    "None without question mark": (
        """\
- op: f(x, int axis=None) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:21: error: f: op: the default None is not of type int; write int?
- op: f(x, int axis=None) -> y
                    ^""",
    ),
    "reserved name": (
        """\
- op: f(x, grad) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:12: error: f: op: 'grad' is reserved for formulas
- op: f(x, grad) -> y
           ^""",
    ),
    "tangent-like name": (
        """\
- op: f(x, a_t) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:12: error: f: op: 'a_t' is reserved for formulas
- op: f(x, a_t) -> y
           ^""",
    ),
    "two stars": (
        """\
- op: f(x, *, int n, *, int m) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:22: error: f: op: a second '*'
- op: f(x, *, int n, *, int m) -> y
                     ^""",
    ),
    "keyword": (
        """\
- op: f(x, int lambda) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:16: error: f: op: 'lambda' is not a name
- op: f(x, int lambda) -> y
               ^""",
    ),
    "too many words": (
        """\
- op: f(x, int axis n) -> y
  doc: F.
  forward: np.sin(x)
  nondifferentiable: true
""",
        """\
derivatives.yaml:12:12: error: f: op: 'int axis n' is not `type name`
- op: f(x, int axis n) -> y
           ^""",
    ),
}


@each("name", REFUSED)
def test_refused(small, name):
    entry, message = REFUSED[name]
    assert small.refusal("read", entry) == message


CONST = """\
- op: f(x) -> y, Const steps
  doc: F.
  dtype: real
  shape: x -> x, x
  forward: (np.abs(x), np.sign(x))
  vjp:
    x: times(grad_y, steps)
  jvp:
    y: times(x_t, steps)
  samples: one

- op: times(a, b) -> y
  doc: A product.
  shape: a, b -> broadcast(a, b)
  forward: np.multiply(a, b)
  dy/da: b
  dy/db: a
  samples: two
"""


def test_a_const_is_an_output_without_a_gradient(small):
    small.check(CONST)
    op = small.analyze(CONST).ops["f"]
    assert [output.differentiable for output in op.signature.outputs] == [True, False]
    assert list(op.derived.jvp) == ["y"] and [saved.name for saved in op.derived.saved] == ["steps"]
    assert small.refusal("read", CONST.replace("f(x)", "f(x, Const w)")) == """\
derivatives.yaml:12:18: error: f: op: 'w' is an argument, and Const is for outputs: integers are an Index, other numbers an Array
- op: f(x, Const w) -> y, Const steps
                 ^"""


def test_an_index_holds_integers(small):
    entry = "- op: f(x) -> Index y\n  doc: F.\n  dtype: real -> x\n  forward: np.sign(x)\n  nondifferentiable: true\n  samples: one\n"
    assert small.refusal("read", entry) == """\
derivatives.yaml:14:18: error: f: dtype: y is an Index, of integers: an array without a gradient is a Const
  dtype: real -> x
                 ^"""
    small.check(entry.replace("Index", "Const").replace("real -> x", "real"))
