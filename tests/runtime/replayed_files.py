"""A pytest plugin: the tests of a file with every expression on tensors compiled, and replayed.

    python -m pytest -p tests.runtime.replayed_files tests/runtime/saved/test_view.py

The source is rewritten when it is imported.  An expression of operators, indices and methods becomes a function of its names and
of what is called in it, `(x[1:] * f(w)).sum()` a function of x and f(w), as do `x += 1` and `x[0] = 1`.  Where one of these is a
tensor the function is compiled and called twice with throw-away copies of all tensors, so that the call with the tensors
themselves is a replay.
"""

from __future__ import annotations

import ast
import sys
import types
import warnings
from collections import Counter

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.files.serialization import laid_out
from gradspec.saved.view import replay

LOOKS = {"T", "mT", "real", "imag"}  # attributes that are operators
NEVER = {"backward", "numpy", "item", "tolist", "grad_fn", "register_hook", "retain_grad"}  # these do more than compute
OFTEN = 40  # times that one expression is compiled: a test that goes round a loop a hundred thousand times is the eager one after that
counts: Counter[str] = Counter()
seen: Counter[types.CodeType] = Counter()


class Key:
    """The key between brackets, as an argument."""

    def __getitem__(self, key):
        return key


class Compiled(ast.NodeTransformer):
    """Expressions of operators as calls of `replayed_`."""

    def __init__(self, modules):
        self.modules = modules
        self.leaves = self.receivers = None

    def is_operator(self, node):
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return not isinstance(getattr(node, "op", None), (ast.Not, ast.BitOr)) and not isinstance(node, ast.Constant)
        if isinstance(node, ast.Subscript):
            return isinstance(node.ctx, ast.Load) and not isinstance(node, Bracket)
        if isinstance(node, ast.Attribute):
            return isinstance(node.ctx, ast.Load) and node.attr in LOOKS
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in NEVER:
            starred = any(isinstance(arg, ast.Starred) for arg in node.args) or any(word.arg is None for word in node.keywords)
            value = node.func.value
            return not starred and not (isinstance(value, ast.Name) and value.id in self.modules - {"gs"})
        return False

    def visit(self, node):
        if isinstance(node, (ast.AnnAssign, ast.arguments)) or isinstance(node, ast.ClassDef) and node.bases:
            return node  # annotations; custom Functions, whose methods run inside of a node
        if not self.is_operator(node):
            return self.generic_visit(node)
        outer = self.leaves, self.receivers
        self.leaves, self.receivers = [], []
        body = self.part(node, False)
        leaves, receivers = self.leaves, self.receivers
        self.leaves, self.receivers = outer
        return self.called(node, body, leaves, receivers)

    def part(self, node, receives):
        """An expression inside of the function; what is no operator is a parameter of it."""
        if not self.is_operator(node):
            if isinstance(node, ast.Constant) or isinstance(node, ast.Name) and node.id == "gs":
                return node
            name = f"leaf_{len(self.leaves)}"
            if receives:
                self.receivers.append(len(self.leaves))
            self.leaves.append(self.apart(node))
            return ast.Name(name, ast.Load())
        if isinstance(node, ast.BinOp):
            return ast.BinOp(self.part(node.left, False), node.op, self.part(node.right, False))
        if isinstance(node, ast.UnaryOp):
            return ast.UnaryOp(node.op, self.part(node.operand, False))
        if isinstance(node, ast.Attribute):
            return ast.Attribute(self.part(node.value, True), node.attr, ast.Load())
        if isinstance(node, ast.Subscript):
            value = self.part(node.value, True)
            return ast.Subscript(value, self.part(self.key(node.slice), False), ast.Load())
        value = self.part(node.func.value, True)
        words = [ast.keyword(word.arg, self.part(word.value, False)) for word in node.keywords]
        return ast.Call(ast.Attribute(value, node.func.attr, ast.Load()), [self.part(arg, False) for arg in node.args], words)

    def apart(self, node):
        """An argument of the function, with expressions of its own."""
        outer = self.leaves, self.receivers
        self.leaves = self.receivers = None
        try:
            return self.visit(node)
        finally:
            self.leaves, self.receivers = outer

    def key(self, node):
        return node if isinstance(node, ast.Constant) else Bracket(ast.Name("key_", ast.Load()), node, ast.Load())

    def called(self, node, body, leaves, receivers):
        parameters = ast.arguments([], [ast.arg(f"leaf_{n}") for n in range(len(leaves))], None, [], [], None, [])
        found = ast.Call(ast.Name("replayed_", ast.Load()),
                         [ast.Lambda(parameters, body), ast.Tuple([ast.Constant(n) for n in receivers], ast.Load()), *leaves], [])
        return ast.fix_missing_locations(ast.copy_location(found, node))


class Bracket(ast.Subscript):
    """A key that is taken as an argument: no operator."""


class Statements(ast.NodeTransformer):
    """`x[k] = v` as a call of a method, and `x += v` as an operator of `operator_`."""

    def visit_Assign(self, node):
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Subscript):
            function = ast.Attribute(target.value, "__setitem__", ast.Load())
            call = ast.Call(load(function), [Bracket(ast.Name("key_", ast.Load()), target.slice, ast.Load()), node.value], [])
            return ast.copy_location(ast.Expr(call), node)
        return node

    def visit_AugAssign(self, node):
        names = {ast.Add: "__iadd__", ast.Sub: "__isub__", ast.Mult: "__imul__", ast.Div: "__itruediv__"}
        if isinstance(node.target, ast.Name) and type(node.op) in names:
            call = ast.Call(ast.Name("augmented_", ast.Load()),
                            [ast.Constant(names[type(node.op)]), ast.Name(node.target.id, ast.Load()), node.value], [])
            return ast.copy_location(ast.Assign([node.target], call), node)
        return node


def load(tree):
    for node in ast.walk(tree):
        if hasattr(node, "ctx"):
            node.ctx = ast.Load()
    return tree


def augmented(name, target, value):
    """`target += value` and its kind."""
    if isinstance(target, gs.Tensor):
        return replayed(lambda a, b: getattr(a, name)(b), (0,), target, value)
    method = getattr(target, name, None)
    return method(value) if method is not None else getattr(target, name.replace("__i", "__", 1))(value)


class View(gs.autograd.Function):
    """A tensor with a history, in the memory of another."""

    @staticmethod
    def forward(ctx, x):
        return gs.asarray(x.detach().numpy())

    @staticmethod
    def backward(ctx, grad):
        return grad


class Copies:
    """Throw-away tensors in the place of others: of the same layout, that lie to each other as these do."""

    def __init__(self):
        self.made = {}

    def of(self, item):
        if not isinstance(item, gs.Tensor):
            return item
        if id(item) not in self.made:
            self.made[id(item)] = self.copied(item), item
        return self.made[id(item)][0]

    def copied(self, item):
        base = item._base
        if base is not None and item.is_leaf == base.is_leaf and item.requires_grad == base.requires_grad:
            return replay(item, self.of(base))
        array = item.detach().numpy()
        copy = gs.asarray(laid_out(array, array.strides))
        if item.requires_grad:
            copy.requires_grad_()
            if not item.is_leaf:
                copy = View.apply(copy)
            elif item.grad is not None:
                copy.grad = item.grad.detach().clone()
        return copy


def has_tensors(item):
    return isinstance(item, (tuple, list, dict)) and any(
        isinstance(one, gs.Tensor) or has_tensors(one) for one in (item.values() if isinstance(item, dict) else item))


def replayed(function, receivers, *leaves):
    """The expression of these leaves, from a recording of it with others."""
    if not any(isinstance(leaf, gs.Tensor) for leaf in leaves) or any(map(has_tensors, leaves)) or not all(
            isinstance(leaves[n], (gs.Tensor, np.ndarray)) for n in receivers):
        return function(*leaves)
    seen[function.__code__] += 1
    if seen[function.__code__] > OFTEN:
        counts["often"] += 1
        return function(*leaves)
    compiled = gs.compile(function)
    compiled.complain = lambda reason: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(2):
                copies = Copies()
                compiled(*map(copies.of, leaves))
            del copies
    except Exception:  # what the call refuses, it is to refuse itself
        counts["refused"] += 1
        return function(*leaves)
    before = len([program for signature in compiled.signatures for program in signature.programs])
    result = compiled(*leaves)
    after = len([program for signature in compiled.signatures for program in signature.programs])
    reasons = [signature.reason for signature in compiled.signatures if signature.reason]
    counts["as it is" if reasons or not after else "recorded" if after > before else "replayed"] += 1
    return result


class Module(pytest.Module):
    def _getobj(self):
        path = self.path
        tree = ast.parse(path.read_text())
        modules = {name.asname or name.name.partition(".")[0] for node in ast.walk(tree)
                   if isinstance(node, (ast.Import, ast.ImportFrom)) for name in node.names}  # fmt: skip
        tree = ast.fix_missing_locations(Compiled(modules).visit(Statements().visit(tree)))
        name = f"replayed_{path.stem}"
        module = types.ModuleType(name)
        module.__dict__.update(replayed_=replayed, augmented_=augmented, key_=Key(), __file__=str(path))
        sys.modules[name] = module
        exec(compile(tree, str(path), "exec"), module.__dict__)
        return module


def pytest_pycollect_makemodule(module_path, parent):
    return Module.from_parent(parent, path=module_path)


def pytest_terminal_summary(terminalreporter):
    passed, failed = (len(terminalreporter.stats.get(word, ())) for word in ("passed", "failed"))
    terminalreporter.write_line(f"tests: {passed} passed, {failed} failed")
    terminalreporter.write_line("expressions: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
