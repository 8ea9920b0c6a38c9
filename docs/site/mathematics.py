"""Formulas of the spec as MathML, which browsers typeset without a script.

`line` takes a line of `codegen.write.docstring_maths`, such as `dy/dx = 1 / cosh(x)`.  A formula is Python; functions keep their
names, except those that mathematics writes by a sign: a root, a power, a fraction, a modulus, a conjugate.
"""

from __future__ import annotations

import ast
import html
import re

BINARY = {ast.Add: "+", ast.Sub: "−", ast.Mult: "⋅", ast.MatMult: "@", ast.BitAnd: "∧", ast.BitOr: "∨", ast.BitXor: "⊕",
          ast.Mod: "mod", ast.FloorDiv: "div", ast.LShift: "≪", ast.RShift: "≫"}  # fmt: skip
COMPARED = {
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.Lt: "&lt;",
    ast.LtE: "≤",
    ast.Gt: "&gt;",
    ast.GtE: "≥",
    ast.In: "∈",
    ast.NotIn: "∉",
    ast.Is: "=",
    ast.IsNot: "≠",
}
SHORT = 30  # characters of a formula that a phone shows in one line
RANK = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.MatMult: 2, ast.Mod: 2, ast.FloorDiv: 2}
GREEK = {
    "pi": "π",
    "PI": "π",
    "inf": "∞",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "lambd": "λ",
    "mu": "μ",
    "sigma": "σ",
    "rho": "ρ",
    "eps": "ε",
    "nan": "NaN",
}


def element(tag: str, *children: str, **attributes: str) -> str:
    said = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{tag}{said}>{''.join(children)}</{tag}>"


def operator(sign: str) -> str:
    return element("mo", sign)


def row(*children: str) -> str:
    return element("mrow", *children)


def fenced(inner: str, opening: str = "(", closing: str = ")") -> str:
    return row(operator(opening), inner, operator(closing))


def name(text: str) -> str:
    """A name: a tangent has a dot, a cotangent a bar, `x_1` an index."""
    if text.endswith("_t") and len(text) > 2:
        below = text[:-2]
        return element("mi", f"{below}\u0307") if len(below) == 1 else element("mover", name(below), operator("˙"), accent="true")
    if text.startswith("grad"):
        below = text.removeprefix("grad").removeprefix("_")
        bar = element("mover", element("mi", "g"), operator("¯"), accent="true")
        return element("msub", bar, name(below)) if below else bar
    if text in GREEK:
        return element("mi", GREEK[text])
    if match := re.fullmatch(r"([a-z])_?(\d)", text):
        return element("msub", element("mi", match[1]), element("mn", match[2]))
    return element("mi", html.escape(text)) if len(text) == 1 else element("mi", html.escape(text), mathvariant="normal")


def listed(nodes: list[ast.expr]) -> str:
    parts: list[str] = []
    for node in nodes:
        parts += [operator(","), render(node)] if parts else [render(node)]
    return row(*parts)


def call(node: ast.Call) -> str:
    function = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    given = node.args
    if len(given) == 1 and not node.keywords:
        inner = render(given[0])
        match function:
            case "sqrt":
                return element("msqrt", inner)
            case "square":
                return element("msup", atom(given[0]), element("mn", "2"))
            case "reciprocal":
                return element("mfrac", element("mn", "1"), inner)
            case "abs" | "absolute":
                return fenced(inner, "|", "|")
            case "conj":
                return element("mover", inner, operator("‾"))
            case "exp":
                return element("msup", element("mi", "e"), inner)
    keywords = [row(name(keyword.arg or "**"), operator("="), render(keyword.value)) for keyword in node.keywords]
    inner = listed(given)
    for keyword in keywords:
        inner = row(inner, operator(","), keyword) if given or keyword is not keywords[0] else keyword
    return row(element("mi", html.escape(function), mathvariant="normal"), operator("&#x2061;"), fenced(inner))


def derivative(above: str, below: str) -> str:
    return element("mfrac", *(row(element("mi", "∂"), name(part)) for part in (above, below)))


def rank(node: ast.expr) -> int:
    """How strongly a formula binds: 1 a sum, 2 a product, 3 a sign, 9 what needs no brackets."""
    if isinstance(node, ast.BinOp):
        return RANK.get(type(node.op), 9 if isinstance(node.op, ast.Div) else 4)
    if isinstance(node, ast.UnaryOp):
        return 3
    return 0 if isinstance(node, (ast.IfExp, ast.Compare, ast.BoolOp, ast.Lambda)) else 9


def within(node: ast.expr, least: int) -> str:
    return render(node) if rank(node) >= least else fenced(render(node))


def atom(node: ast.expr) -> str:
    return within(node, 9) if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)) else fenced(render(node))


def render(node: ast.expr) -> str:
    """MathML of an expression."""
    match node:
        case ast.BinOp(ast.Name(above), ast.Div(), ast.Name(below)) if above[0] == below[0] == "d" and above[1:] and below[1:]:
            return derivative(above[1:], below[1:])
        case ast.BinOp(left, ast.Div(), right):
            return element("mfrac", render(left), render(right))
        case ast.BinOp(left, ast.Pow(), right):
            return element("msup", atom(left), render(right))
        case ast.BinOp(left, op, right):
            bound = RANK.get(type(op), 5)
            return row(within(left, bound), operator(BINARY[type(op)]), within(right, bound + 1))
        case ast.UnaryOp(op, operand):
            sign = {ast.USub: "−", ast.UAdd: "+", ast.Not: "¬", ast.Invert: "∼"}[type(op)]
            return row(operator(sign), within(operand, 2))
        case ast.Compare(left, ops, others):
            parts = [within(left, 1)]
            for op, other in zip(ops, others):
                parts += [operator(COMPARED[type(op)]), within(other, 1)]
            return row(*parts)
        case ast.BoolOp(op, values):
            parts = [within(values[0], 1)]
            for value in values[1:]:
                parts += [operator("∧" if isinstance(op, ast.And) else "∨"), within(value, 1)]
            return row(*parts)
        case ast.IfExp():
            return cases(node)
        case ast.Call():
            return call(node)
        case ast.Name(text):
            return name(text)
        case ast.Constant(value):
            return (
                element("mn", html.escape(repr(value)))
                if isinstance(value, (int, float, complex)) and not isinstance(value, bool)
                else element("mtext", html.escape(repr(value)))
            )
        case ast.Attribute(value, attribute):
            return row(atom(value), element("mtext", f".{attribute}"))
        case ast.Subscript(value, index):
            return row(atom(value), fenced(render(index), "[", "]"))
        case ast.Slice(lower, upper, step):
            parts = [render(part) if part else "" for part in (lower, upper)]
            return row(parts[0], operator(":"), parts[1], *((operator(":"), render(step)) if step else ()))
        case ast.Tuple(items):
            return fenced(listed(items))
        case ast.List(items):
            return fenced(listed(items), "[", "]")
        case ast.Starred(value):
            return row(operator("*"), render(value))
    return element("mtext", html.escape(ast.unparse(node)))


def cases(node: ast.expr) -> str:
    """A choice: a row for each case."""
    rows = []
    while isinstance(node, ast.IfExp):
        rows.append(choice(render(node.body), element("mtext", "if&#xa0;"), render(node.test)))
        node = node.orelse
    rows.append(choice(render(node), element("mtext", "otherwise")))
    return row(operator("{"), element("mtable", *rows))


def choice(value: str, *condition: str) -> str:
    return element("mtr", *(element("mtd", cell, style="text-align: left") for cell in (value, row(*condition))))


def line(text: str) -> str:
    """A line of an entry's mathematics as a block of MathML; a line of words stays one."""
    word, rest = ("where ", text[6:]) if text.startswith("where ") else ("", text)
    left, sign, right = rest.partition(" = ")
    try:
        value = render(ast.parse(right if sign else rest.partition(": ")[2], mode="eval").body)
    except SyntaxError:
        return html.escape(text)
    if not sign:
        return f"{html.escape(rest.partition(': ')[0])}: {block(value)}"
    if ratio := re.fullmatch(r"d(\w+)/d(\w+)", left):
        shown = derivative(*ratio.groups())
    else:
        shown = listed([ast.Name(one) for one in left.split(", ")])
    return f"{word}{block(row(shown, operator('='), value))}"


def block(inner: str) -> str:
    """A formula; a long one can be reached by the keyboard, since it scrolls on a phone."""
    long = {"tabindex": "0"} if len(re.sub("<[^>]*>", "", inner)) > SHORT else {}
    return element("math", inner, xmlns="http://www.w3.org/1998/Math/MathML", display="inline", displaystyle="true", **long)
