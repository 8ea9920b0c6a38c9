"""Anomaly mode: the forward in the warning, parents, NaN, and what it leaves behind."""

import gc
import threading
import warnings
import weakref

import pytest

import gradspec as gs
from gradspec import autograd
from gradspec.autograd import Function, detect_anomaly, grad, set_detect_anomaly


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


class Poison(Function):
    """Its gradient is NaN for one of its two inputs, or for none."""

    @staticmethod
    def forward(ctx, a, b, which):
        ctx.which = which
        return a + b

    @staticmethod
    def backward(ctx, grad):
        gradients = [grad * 1, grad * 1]
        if ctx.which is not None:
            gradients[ctx.which] = grad * float("nan")
        return *gradients, None


class PoisonTwice(Function):
    """Its gradient is right; the gradient of that is NaN."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return Inner.apply(grad, x)


class Inner(Function):
    @staticmethod
    def forward(ctx, grad, x):
        return 2 * grad * x

    @staticmethod
    def backward(ctx, grad):
        return grad * float("nan"), grad * float("nan")


def messages(caught):
    return [str(item.message) for item in caught]


def test_entry_warns():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled") as caught:
        with detect_anomaly():
            assert autograd.is_anomaly_enabled()
    assert caught[0].filename == __file__ and not autograd.is_anomaly_enabled()


def test_entry_that_warns_with_an_error_enters_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="Anomaly Detection"), detect_anomaly():
            pass
    assert not autograd.is_anomaly_enabled()


@pytest.mark.parametrize("which", [0, 1])
def test_nan_names_the_function_and_the_output(which):
    a, b = leaf(1.0), leaf(2.0)
    out = Poison.apply(a, b, which)
    out.backward(retain_graph=True)  # NaN is no error otherwise
    with set_detect_anomaly(True), pytest.warns(UserWarning, match="No forward pass information"):
        with pytest.raises(RuntimeError, match=rf"Function 'PoisonBackward' returned nan values in its {which}th output\."):
            out.backward()


@pytest.mark.parametrize("create_graph", [False, True])
def test_nan_of_an_operator(create_graph):
    x = leaf(0.0)
    with set_detect_anomaly(True), pytest.warns(UserWarning, match="Error detected in SqrtBackward") as caught:
        y = gs.sqrt(x) * 0.0
        with pytest.raises(RuntimeError, match=r"Function 'SqrtBackward' returned nan values in its 0th output\."):
            grad(y, x, create_graph=create_graph)
    (shown,) = [text for text in messages(caught) if "Error detected" in text]  # beside NumPy's own on the division
    assert "y = gs.sqrt(x) * 0.0" in shown


def test_the_warning_holds_the_line_that_applied_a_function():
    with set_detect_anomaly(True), pytest.warns(UserWarning, match="Error detected in PoisonBackward") as caught:
        out = Poison.apply(leaf(1.0), leaf(1.0), 0)
        with pytest.raises(RuntimeError, match="returned nan"):
            out.backward()
    assert len(caught) == 1 and "out = Poison.apply(leaf(1.0), leaf(1.0), 0)" in messages(caught)[0]


def test_parents_are_shown_in_order():
    x = leaf(3.0)
    with set_detect_anomaly(True), pytest.warns(UserWarning, match="Error detected") as caught:
        y = PoisonTwice.apply(x)
        (g,) = grad(y, x, create_graph=True)
        with pytest.raises(RuntimeError, match="Function 'InnerBackward' returned nan"):
            g.backward()
    first, second = messages(caught)
    assert first.startswith("Error detected in InnerBackward. Traceback of forward call that caused the error")
    assert "return Inner.apply(grad, x)" in first
    assert second.startswith("Previous calculation was induced by PoisonTwiceBackward")
    assert "y = PoisonTwice.apply(x)" in second


def test_parents_of_parents():
    x = leaf(0.5)
    with set_detect_anomaly(True):
        y = gs.sin(x)
        for _ in range(3):
            (y,) = grad(y, x, create_graph=True)
        generations, parent = [], y.grad_fn.metadata["parent_"]
        while parent is not None:
            generations.append(parent.name)
            parent = parent.parent
    assert len(generations) == 3 and generations[-1] == "SinBackward"


def test_any_error_is_announced_and_keeps_its_type():
    with set_detect_anomaly(True), pytest.warns(UserWarning, match="Error detected in ExpBackward") as caught:
        x = leaf(1.0)
        y = gs.exp(x)
        y.register_hook(lambda grad: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            (y * 2).backward()
    assert len(caught) == 1


def test_a_saved_value_that_was_written_to():
    with pytest.warns(UserWarning) as caught, detect_anomaly():
        x = leaf(1.0, 2.0)
        d = x + 1
        e = d**2
        with gs.no_grad():
            d.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            grad(e.sum(), x)
    first, second = messages(caught)
    assert "has been enabled" in first and "Error detected in PowBackward" in second and "e = d**2" in second


def test_where_warnings_are_errors_the_text_goes_to_stderr_and_the_error_wins(capsys):
    with set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        out = Poison.apply(leaf(1.0), leaf(1.0), 0)
        with pytest.raises(RuntimeError, match="returned nan values"):
            out.backward()
    shown = capsys.readouterr().err
    assert "Error detected in PoisonBackward" in shown and "Poison.apply(leaf(1.0), leaf(1.0), 0)" in shown


def test_a_forward_that_cannot_be_shown_hides_no_error(capsys):
    with set_detect_anomaly(True):
        out = Poison.apply(leaf(1.0), leaf(1.0), 0)
        out.grad_fn.metadata["traceback_"] = 5
        with pytest.raises(RuntimeError, match="returned nan values"):
            out.backward()
    assert "the forward pass of PoisonBackward cannot be shown: TypeError" in capsys.readouterr().err


def test_check_nan_false_leaves_the_rest():
    with set_detect_anomaly(True, check_nan=False):
        assert autograd.is_anomaly_enabled() and not autograd.is_anomaly_check_nan_enabled()
        out = Poison.apply(leaf(1.0), leaf(1.0), 0)
        out.backward(retain_graph=True)
        out.register_hook(lambda grad: 1 / 0)
        with pytest.warns(UserWarning, match="Error detected in PoisonBackward"), pytest.raises(ZeroDivisionError):
            out.backward()


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_modes_nest():
    states = []

    def note():
        states.append((autograd.is_anomaly_enabled(), autograd.is_anomaly_check_nan_enabled()))

    note()
    with detect_anomaly():
        note()
        with set_detect_anomaly(False):
            note()
            with detect_anomaly(check_nan=False):
                note()
            note()
        note()
    note()
    on, off, lenient = (True, True), (False, True), (True, False)
    assert states == [off, on, off, lenient, off, on, off]


def test_set_detect_anomaly_is_a_function_and_a_decorator():
    set_detect_anomaly(True)
    try:
        assert autograd.is_anomaly_enabled()
    finally:
        set_detect_anomaly(False)
    assert not autograd.is_anomaly_enabled()

    @set_detect_anomaly(True, check_nan=False)
    def inside():
        return autograd.is_anomaly_enabled(), autograd.is_anomaly_check_nan_enabled()

    assert not autograd.is_anomaly_enabled() and inside() == (True, False) and not autograd.is_anomaly_enabled()
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        for check_nan in (True, False):
            assert detect_anomaly(check_nan)(autograd.is_anomaly_check_nan_enabled)() is check_nan
    assert not autograd.is_anomaly_enabled()


def test_the_mode_is_the_threads():
    seen = []
    with set_detect_anomaly(True):
        thread = threading.Thread(target=lambda: seen.append(autograd.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_metadata_survives_backward_and_its_python_object():
    x = leaf(1.0)
    with set_detect_anomaly(True):
        y = gs.exp(x)
        y.grad_fn.metadata["mine"] = 5
        z = y * 2
        z.backward()
    assert y.grad_fn.metadata["mine"] == 5 and any("y = gs.exp(x)" in line for line in y.grad_fn.metadata["traceback_"])


def test_no_traceback_is_kept_without_the_mode():
    assert "traceback_" not in gs.exp(leaf(1.0)).grad_fn.metadata


class Token:
    pass


@pytest.mark.parametrize("order", [1, 2, 3])
def test_parents_close_no_circle(order):
    """Reference counts alone free the graph and its parents."""
    gc.collect()
    gc.disable()
    try:
        with set_detect_anomaly(True):
            x = gs.tensor([0.5, 1.0], requires_grad=True)
            y = gs.exp(gs.sin(x))
            token = Token()
            y.grad_fn.metadata["token"] = token
            g = y
            for _ in range(order):
                (g,) = grad(g.sum(), x, create_graph=True)
        ref = weakref.ref(token)
        del token, y
        assert ref() is not None  # g is computed from y
        del g, x
        assert ref() is None
    finally:
        gc.enable()


def test_a_retained_gradient_closes_no_circle_with_its_parent():
    gc.collect()
    gc.disable()
    try:
        with set_detect_anomaly(True):
            x = gs.tensor([0.5], requires_grad=True)
            h = gs.exp(x)
            h.retain_grad()
            token = Token()
            h.grad_fn.metadata["token"] = token
            w = gs.tensor([2.0], requires_grad=True)
            grad((h * w).sum(), x, create_graph=True)
            assert h.grad.grad_fn.metadata["parent_"].name == "ExpBackward"
        ref = weakref.ref(token)
        del token, h
        assert ref() is None
    finally:
        gc.enable()


def test_passes_within_passes_have_their_own_parents():
    """Nodes that a nested pass records have its nodes for parents; after it the outer one's are parents again."""
    parents = []

    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            before = g * 3
            w = gs.tensor([1.0], requires_grad=True)
            (inner,) = grad(gs.exp(w), w, create_graph=True)
            after = g * 3
            for value in (before, inner, after):
                parents.append(value.grad_fn.metadata["parent_"].name)
            return after

    x = leaf(1.0)
    with set_detect_anomaly(True):
        y = Outer.apply(x)
        g = gs.tensor([1.0], requires_grad=True)
        grad(y, x, g, create_graph=True)
        after = gs.exp(x)
    assert parents == ["OuterBackward", "ExpBackward", "OuterBackward"]
    assert "parent_" not in after.grad_fn.metadata


def test_a_gradient_of_the_user_that_is_nan_is_the_roots():
    x = leaf(1.0)
    with set_detect_anomaly(True), pytest.warns(UserWarning, match="Error detected in GraphRoot"):
        with pytest.raises(RuntimeError, match="Function 'GraphRoot' returned nan"):
            gs.exp(x).backward(gs.tensor([float("nan")]))


def test_deep_passes_are_watched_too():
    class Deep(Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.depth == 0:
                return g * float("nan"), None
            with gs.enable_grad():
                x = gs.tensor([1.0], requires_grad=True)
                y = Deep.apply(x, ctx.depth - 1)
            return grad(y, x)[0] * g, None

    with set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = leaf(1.0)
        with pytest.raises(RuntimeError, match="Function 'DeepBackward' returned nan"):
            Deep.apply(x, 70).backward()
