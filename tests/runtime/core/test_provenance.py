"""Provenance: an error in backward names the line that made its node, without any mode."""

import gc
import inspect
import linecache
import threading
import traceback
import weakref

import pytest

import gradspec as gs
from gradspec.autograd import Function, backward, grad
from gradspec.autograd.checkpoint import checkpoint
from gradspec.core import provenance
from tests.asked import each


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


def fail(grad):
    raise ValueError("on purpose")


def failing(make):
    """The notes on the error of a backward whose first node fails."""
    result = make()
    result.register_hook(fail)
    with pytest.raises(ValueError, match="on purpose") as caught:
        backward(result.sum())
    return caught.value.__notes__


def line_of(function, text):
    """The number of the line of `function` that holds `text`."""
    lines, first = inspect.getsourcelines(function)
    (found,) = [first + i for i, line in enumerate(lines) if text in line]
    return found


def test_the_note_names_line_operator_and_rule():
    x = leaf(1.0, 2.0)

    def model():
        h = gs.exp(x)
        y = h**3  # this one
        return y

    (note,) = failing(model)
    number = line_of(model, "# this one")
    assert f'  File "{__file__}", line {number}, in ' in note and "model\n    y = h**3  # this one\n" in note
    assert note.startswith("The error arose in the backward of PowBackward, which was recorded by\n")
    assert "whose rule is\n    pow(a, b) -> y\n    dy/da = _scaled_pow(b, a, b, 1)" in note


def test_error_keeps_type_message_and_traceback():
    x = leaf(1.0)
    y = gs.exp(x)
    y.register_hook(fail)
    with pytest.raises(ValueError) as caught:
        y.backward()
    error = caught.value
    assert type(error) is ValueError and str(error) == "on purpose" and error.__cause__ is None is error.__context__
    assert traceback.extract_tb(error.__traceback__)[-1].name == "fail"
    assert "".join(traceback.format_exception(error)).rstrip().endswith("exp(x) -> y; dy/dx = y")


X = gs.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        return g * 3


def written(x):
    y = x * 1
    y.add_(2)  # MARK
    return y


def written_view(x):
    y = x * 1
    y[0] = x[1] * 2  # MARK
    return y


WAYS = {
    "an operator": lambda: gs.sin(X),  # fmt: skip
    "a method": lambda: X.sum(axis=0),
    "an operation": lambda: X + 1,
    "an index": lambda: X[0, :1],
    "a composite": lambda: gs.nn.softmax(X, 0),
    "another namespace": lambda: gs.linalg.inv(X),
    "several outputs": lambda: gs.split(X, 2)[0],
    "a custom Function": lambda: Cube.apply(X),
    "a generator": lambda: next(gs.cos(X) for _ in range(1)),
    "a write": lambda: written(X),
    "a write to a view": lambda: written_view(X),
}


@each("way", WAYS)
def test_every_way_to_record_has_its_line(way):
    make = WAYS[way]
    (note,) = failing(make)
    inner = {"a write": written, "a write to a view": written_view}.get(way)
    number = line_of(inner, "# MARK") if inner else line_of(make, f'"{way}"')
    assert f'File "{__file__}", line {number}, in ' in note


def test_what_the_library_records_is_the_callers():
    """A checkpoint applies a Function of its own: the line is that of the call."""
    x = leaf(1.0)

    def model():
        return checkpoint(gs.exp, x, use_reentrant=True)  # this one

    def other():
        return checkpoint(gs.exp, x, use_reentrant=True)  # that one

    for _ in range(2):
        for function, mark in ((model, "# this one"), (other, "# that one")):
            (note,) = failing(function)
            assert f"line {line_of(function, mark)}, in " in note and "_ReentrantBackward" in note


def test_passes_within_passes_say_both():
    x, w = leaf(1.0), leaf(2.0)

    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            with gs.enable_grad():
                y = gs.exp(w)
                y.register_hook(fail)
            y.backward()

    with pytest.raises(ValueError) as caught:
        Outer.apply(x).backward()
    inner, outer = caught.value.__notes__
    assert "y = gs.exp(w)" in inner and "Outer.apply(x).backward()" in outer


def test_one_note_for_an_error_that_is_raised_again():
    error = ValueError("the same")

    def again(grad):
        raise error

    y = gs.exp(leaf(1.0))
    y.register_hook(again)
    for _ in range(3):
        with pytest.raises(ValueError):
            y.backward(retain_graph=True)
    assert len(error.__notes__) == 1


def test_an_error_that_takes_no_notes_is_raised_as_it_is():
    class Closed(Exception):
        def add_note(self, note):
            raise TypeError("no")

    def closed(grad):
        raise Closed("as it is")

    y = gs.exp(leaf(1.0))
    y.register_hook(closed)
    with pytest.raises(Closed, match="as it is"):
        y.backward()


def test_an_error_of_a_second_derivative_names_the_line_of_the_first():
    x = leaf(2.0)
    (g,) = grad(x**3, x, create_graph=True)  # this one
    g.register_hook(fail)
    with pytest.raises(ValueError) as caught:
        g.backward()
    number = line_of(test_an_error_of_a_second_derivative_names_the_line_of_the_first, "(g,) = gr" + "ad(x**3")
    assert f"line {number}, in " in caught.value.__notes__[0]


def test_code_that_is_gone_from_the_namespace_is_still_named(monkeypatch):
    """The code object of a cell of a notebook dies when it has run; its line does not."""
    source = "import gradspec as gs\nx = gs.tensor([1.0], requires_grad=True)\ny = gs.exp(x)\n"
    monkeypatch.setitem(linecache.cache, "<cell 1>", (len(source), None, source.splitlines(True), "<cell 1>"))
    space = {}
    exec(compile(source, "<cell 1>", "exec"), space)
    (note,) = failing(lambda: space["y"])
    assert '  File "<cell 1>", line 3, in <module>\n    y = gs.exp(x)\n' in note


def test_code_objects_are_kept_in_bounds_and_graphs_hold_none():
    x = leaf(1.0)
    kept, seen = [], []
    bound = max(4096, 2 * (provenance.known_lines() + 20))  # twice those that are used
    for i in range(2 * bound):
        space = {"x": x}
        code = compile(f"\n\ny = x + {i}", f"<made {i}>", "exec")
        exec(code, space)
        if i % 1000 == 0:
            kept.append((i, code, space["y"]))
        if i == 17:
            seen = [space["y"], weakref.ref(code)]
    del code, space
    assert provenance.known_lines() <= bound
    for i, _, y in kept:  # what others keep stays known
        assert f'File "<made {i}>", line 3' in failing(lambda y=y: y)[0]
    gc.collect()
    assert seen[1]() is None
    (note,) = failing(lambda: seen[0])
    assert note == "The error arose in the backward of AddBackward\n  whose rule is\n    add(a, b) -> y; dy/da = 1; dy/db = 1"


def test_threads_record_lines_of_their_own():
    notes = {}

    def work(i):
        source = "\n" * i + "y = gs.exp(x)"
        space = {"gs": gs, "x": leaf(1.0)}
        for _ in range(50):
            exec(compile(source, f"<thread {i}>", "exec"), space)
        notes[i] = failing(lambda: space["y"])[0]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f'File "<thread {i}>", line {i + 1}, in <module>' in notes[i] for i in range(8))


def test_a_leaf_has_no_line_and_gets_no_note():
    x = leaf(1.0)
    x.register_hook(fail)
    with pytest.raises(ValueError) as caught:
        gs.exp(x).backward()
    assert not hasattr(caught.value, "__notes__")
