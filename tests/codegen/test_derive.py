"""Derivation: vjp, jvp and saved values that follow from each form."""

from __future__ import annotations

import pytest

from codegen.rules.derive import tangents_in
from codegen.spec.model import Spec
from codegen.write.printer import Spelling
from tests.asked import each


class Rules:
    """What was derived for one entry, as people would write it."""

    def __init__(self, spec: Spec):
        self.op = spec.ops["f"]
        self.derived = self.op.derived
        self._spell = Spelling({name: op.signature for name, op in spec.ops.items()})

    @property
    def vjp(self) -> dict[str, str]:
        return {name: self._spell(rule) for name, rule in self.derived.vjp.items()}

    @property
    def jvp(self) -> dict[str, str]:
        return {name: self._spell(rule) for name, rule in self.derived.jvp.items()}


def derived(small, signature: str, *lines: str, dtype: str = "any") -> Rules:
    entry = "\n".join([f"- op: {signature}", "  doc: F.", f"  dtype: {dtype}", "  forward: np.sin(0)", *lines, ""])
    samples = "  samples:\n  - f(x(3), x(3))\n" if "b" in signature else "  samples: one\n"
    return Rules(small.analyze(entry + samples))


@each(
    ("partial", "vjp", "jvp"),
    [
        ("1", "grad", "x_t"),
        ("-1", "-grad", "-x_t"),
        ("0", "zeros_like(grad)", "zeros_like(x_t)"),
        ("2", "grad * 2", "x_t * 2"),
        ("n", "grad * n", "x_t * n"),
        ("cos(x)", "grad * conj(cos(x))", "x_t * cos(x)"),
        ("-sin(x)", "grad * -conj(sin(x))", "x_t * -sin(x)"),
        ("2 * x", "grad * (2 * conj(x))", "x_t * (2 * x)"),
        ("1 / x", "grad / conj(x)", "x_t / x"),
        ("1 - y*y", "grad * conj(1 - y * y)", "x_t * (1 - y * y)"),
        ("y if n else 1", "grad * conj(y) if n else grad", "x_t * y if n else x_t"),
        ("conj(x)", "grad * x", "x_t * conj(x)"),
        ("(n + 1) * y", "grad * ((n + 1) * conj(y))", "x_t * ((n + 1) * y)"),
        ("y / (2 * x.ndim)", "grad * (conj(y) / (2 * x.ndim))", "x_t * (y / (2 * x.ndim))"),
        ("y * w", "grad * conj(y * w)", "x_t * (y * w)"),
    ],
)
def test_partials(small, partial, vjp, jvp):
    found = derived(small, f"f(x, int n=1{', Scalar w=1' if 'w' in partial else ''}) -> y", f"  dy/dx: {partial}")
    assert found.vjp["x"] == vjp
    assert found.jvp == {"y": jvp}


def test_a_real_op_needs_no_conj(small):
    assert derived(small, "f(x) -> y", "  dy/dx: cos(x)", dtype="real").vjp["x"] == "grad * cos(x)"


def test_partials_of_several_outputs_add_up(small):
    found = derived(small, "f(x) -> q, r", "  dq/dx: 2", "  dr/dx: q")
    assert found.vjp["x"] == "grad_q * 2 + grad_r * conj(q)"
    assert found.jvp == {"q": "x_t * 2", "r": "x_t * q"}


def test_what_a_formula_names_is_saved(small):
    found = derived(small, "f(a, b, int n=1) -> y", "  dy/da: y * b.ndim", "  dy/db: a * n")
    assert [(s.field, s.kind) for s in found.derived.saved_for["a"]] == [("y", "output"), ("b_ndim", "ndim")]
    assert [(s.field, s.kind) for s in found.derived.saved_for["b"]] == [("a", "input"), ("n", "static")]
    assert [s.field for s in found.derived.saved] == ["y", "b_ndim", "a", "n"]


@pytest.mark.parametrize("first, second, read", [
    ("a_t * 2", "b_t", (["a"], ["b"])), ("a_t + v", "v * a", (["a", "b"], ["b"])), ("v", "a_t * b", (["b"], ["a"])),
])  # fmt: skip
def test_the_tangents_that_a_formula_reads(small, first, second, read):
    """By way of lets as well."""
    lets = ("  let:", "    u: b_t * 2", "    v: u / 3") if "v" in first else ()
    found = derived(small, "f(a, b) -> y, z", *lets, "  vjp:", "    a: grad_y", "    b: grad_z", "  jvp:", f"    y: {first}", f"    z: {second}")
    assert tuple(tangents_in(found.op, found.op.jvp[name].expression) for name in "yz") == read


def test_saved_values_of_lets_count(small):
    found = derived(small, "f(x) -> y", "  let:", "    u: cos(y)", "    v: u * 2", "  dy/dx: v / x.size")
    assert [(s.name, s.kind) for s in found.derived.saved_for["x"]] == [("y", "output"), ("x", "shape")]


def test_linear_is_jointly_linear(small):
    found = derived(small, "f(a, b) -> y", "  linear: [a, b]", "  vjp:", "    a: grad", "    b: -grad")
    assert (found.derived.joint_linear, found.jvp) == (("a", "b"), {})


def test_multilinear_has_a_term_for_each_factor(small):
    lines = ("  multilinear: [a, b]", "  vjp:", "    a: grad * b", "    b: grad * a")
    found = derived(small, "f(a, b, *, int n=1) -> y", *lines)
    assert found.jvp == {"y": "f(a_t, b, n=n) + f(a, b_t, n=n)"}
