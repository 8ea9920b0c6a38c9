"""Events: what listeners hear, in which order, and that nothing else changes."""

import threading
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec import autograd
from gradspec.autograd import Event, Listener, forward_ad
from gradspec.core.events import set_mapping, span
from gradspec.core.non_operator_events import tell_of_callback
from gradspec.kernels.fusion_engine.fusion import set_large


class Log(Listener):
    """Keeps every event, with the moment."""

    def __init__(self):
        self.heard = []

    def begin(self, event):
        self.heard.append(("begin", event))

    def end(self, event):
        self.heard.append(("end", event))

    def note(self, event):
        self.heard.append(("note", event))

    def names(self, moment="begin", kind="operator"):
        return [event.name for heard, event in self.heard if heard == moment and event.kind == kind]

    def events(self, kind="operator", moment="end"):
        return [event for heard, event in self.heard if heard == moment and event.kind == kind]


class LogByOperator(Log):
    by_operator = True


def value(shape=(3,), requires_grad=True):
    return gs.tensor(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape), requires_grad=requires_grad)


class TestOperators:
    def test_every_way_to_call_one_is_heard_once(self):
        x = value(requires_grad=False)
        calls = {
            "multiply": [lambda: gs.multiply(x, 2), lambda: x * 2, lambda: 2 * x, lambda: x.mul(2), lambda: np.multiply(x, 2)],
            "multiply_": [lambda: x.mul_(1), lambda: x.__imul__(1)],
            "multiply.out": [lambda: gs.multiply(x, 2, out=gs.zeros(3))],
        }
        for name, functions in calls.items():
            for function in functions:
                with Log() as log:
                    function()
                assert [found for found in log.names() if found.startswith("multiply")] == [name]

    def test_inputs_outputs_and_order(self):
        x = value()
        with Log() as log:
            y = gs.exp(x)
            z = y + 2
        assert [(moment, event.name) for moment, event in log.heard] == [
            ("begin", "exp"), ("end", "exp"), ("begin", "add"), ("end", "add")]
        first, second = log.events()
        assert first.inputs == (x,) and first.outputs is y and first.depth == 0 and first.parent is None
        assert second.inputs[0] is y and second.inputs[1] == 2 and second.outputs is z
        assert (first.sequence_nr, second.sequence_nr) == (y.grad_fn._sequence_nr(), z.grad_fn._sequence_nr())

    def test_the_parts_of_a_composite_are_inside_of_it(self):
        x = value()
        with Log() as log:
            gs.logmeanexp(x)
        events = log.events()
        (whole,) = [event for event in events if event.name == "logmeanexp"]
        assert events[-1] is whole and len(events) > 1
        assert all(event.depth == 1 and event.parent is whole for event in events[:-1])

    def test_the_line_is_the_users(self):
        with Log() as log:
            gs.exp(value())  # this line
        file, line, function = log.events()[0].line
        with open(__file__) as source:
            assert source.read().splitlines()[line - 1].endswith("# this line")
        assert file == __file__ and function.endswith("test_the_line_is_the_users")

    def test_an_error_ends_the_event_and_is_the_callers(self):
        x, y = value(), gs.zeros(4)
        with Log() as log, pytest.raises(ValueError):
            gs.add(x, y)
        (event,) = log.events()
        assert isinstance(event.error, ValueError) and event.outputs is None
        assert (x + 1).requires_grad

    def test_an_operator_after_a_failed_one_is_heard(self):
        with Log() as log:
            with pytest.raises(TypeError):
                gs.exp("no")
            gs.exp(1.0)
        assert log.names() == ["exp", "exp"]

    def test_views_replayed_after_a_write(self):
        base = value((4,))
        with Log() as log:
            y = base * 1
            view = y[1:3]
            y.mul_(2)
            view.sum().backward()
        np.testing.assert_array_equal(base.grad.numpy(), [0, 2, 2, 0])
        assert "multiply_" in log.names()


class TestPasses:
    def test_nodes_are_inside_of_the_pass_in_the_order_in_which_they_run(self):
        x = value()
        y = (gs.exp(x) * x).sum()
        with Log() as log:
            y.backward()
        (whole,) = log.events("pass")
        assert whole.name == "backward"
        nodes = log.events("node")
        assert [node.name for node in nodes] == ["SumBackward", "MultiplyBackward", "ExpBackward", "AccumulateGrad"]
        assert all(node.parent is whole for node in nodes)
        assert nodes[0].node is y.grad_fn and nodes[0].sequence_nr == y.grad_fn._sequence_nr()
        assert not log.events("operator")

    def test_by_operator_the_rules_are_operators_with_the_same_result(self):
        def run():
            x = value((20,))
            (gs.tanh(x) * gs.sigmoid(x) / x).sum().backward()
            return x.grad.numpy()

        plain = run()
        with LogByOperator() as log:
            by_operator = run()
        np.testing.assert_array_equal(by_operator, plain)
        inside = [event for event in log.events() if event.parent is not None and event.parent.kind == "node"]
        assert {event.parent.name for event in inside} >= {"DivideBackward", "TanhBackward"}

    def test_nothing_is_recorded_by_operator(self):
        x = value()
        with LogByOperator():
            (x * x).sum().backward()
        assert x.grad.grad_fn is None and not x.grad.requires_grad

    def test_hooks(self):
        x = value()
        y = x * 2
        y.register_hook(lambda grad: grad * 10)
        x.register_post_accumulate_grad_hook(lambda leaf: None)
        with Log() as log:
            y.sum().backward()
        assert len(log.events("hook")) == 2
        (inside,) = [event for event in log.events() if event.depth]
        assert inside.parent.kind == "hook"
        assert inside.name == "multiply"
        np.testing.assert_array_equal(x.grad.numpy(), [20, 20, 20])

    def test_an_error_in_a_pass(self):
        x = value()
        y = x * 2
        y.register_hook(lambda grad: 1 / 0)
        with Log() as log:
            with pytest.raises(ZeroDivisionError):
                y.sum().backward()
            gs.exp(x)
        assert [type(event.error) for event in log.events("hook")] == [ZeroDivisionError]
        assert [type(event.error) for event in log.events("pass")] == [ZeroDivisionError]
        assert log.events()[-1].depth == 0

    def test_grad_within_a_hook(self):
        x = value()
        y = x * 2
        y.register_hook(gs.enable_grad()(lambda grad: autograd.grad((x * grad).sum(), x)[0]))
        with Log() as log:
            y.sum().backward()
        outer, = [event for event in log.events("pass") if event.depth == 0]
        inner, = [event for event in log.events("pass") if event.depth]
        assert (outer.name, inner.name, inner.parent.kind) == ("backward", "grad", "hook")

    def test_large_gradients_that_are_put_off(self):
        before = set_large(1000)
        try:
            x, again = value((5000,)), value((5000,))
            y = (gs.tanh(x * 1e-3) * x).sum()
            with Log() as log:
                y.backward()
        finally:
            set_large(before)
        assert log.events("deferred") and all(event.error is None for event in log.events("deferred"))
        (gs.tanh(again * 1e-3) * again).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), again.grad.numpy())


class TestOthers:
    def test_custom_functions(self):
        class Double(autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        x = value()
        with Log() as log:
            Double.apply(x).sum().backward()
        (whole,) = log.events("function")
        assert whole.name == "Double" and whole.error is None
        np.testing.assert_array_equal(whole.outputs.detach().numpy(), x.detach().numpy() * 2)
        assert [event.parent.kind for event in log.events() if event.name == "multiply"] == ["function", "node"]

    def test_tangents(self):
        with Log() as log, forward_ad.dual_level():
            x = forward_ad.make_dual(value(requires_grad=False), gs.ones(3))
            gs.exp(x)
        (tangent,) = log.events("tangent")
        assert tangent.parent.name == "exp"
        assert [event.parent for event in log.events() if event.name == "multiply"] == [tangent]

    def test_a_callback_ends_with_what_it_gave_or_raised(self):
        def reciprocal(args, keywords):
            return 1 / args[0]

        with Log() as log:
            assert tell_of_callback("reciprocal", reciprocal, (2,), {}) == 0.5
            with pytest.raises(ZeroDivisionError):
                tell_of_callback("reciprocal", reciprocal, (0,), {})
        given, failed = log.events("callback")
        assert (given.name, given.outputs, given.error) == ("reciprocal", 0.5, None)
        assert failed.outputs is None and isinstance(failed.error, ZeroDivisionError)

    def test_a_mapping_is_asked_for_operators_and_may_run_them(self):
        class Mapping:
            def call(self, name, wrapper, inputs):
                before = set_mapping(None)
                try:
                    asked.append((name, before))
                    return wrapper(*inputs)
                finally:
                    set_mapping(before)

        x, asked, mapping = value(requires_grad=False), [], Mapping()
        assert set_mapping(mapping) is None
        try:
            y = gs.exp(x)
        finally:
            assert set_mapping(None) is mapping
        assert asked == [("exp", mapping)]
        np.testing.assert_array_equal(y.numpy(), np.exp(x.numpy()))

    def test_single_moments(self):
        x = value((1,))
        with Log() as log:
            y = gs.tensor([1.0, 2.0])
            gs.asarray([3.0])
            y.numpy(), y.tolist(), y.sum().item(), bool(y.sum() > 1), float(y.sum())
            gs.random.manual_seed(0)
            gs.random.normal((2,))
            with gs.no_grad():
                x * 2
        assert [(event.kind, event.name) for event in log.events("made", "note")] == [("made", "tensor"), ("made", "asarray")]
        assert log.names("note", "left") == ["numpy", "tolist", "item", "bool", "item"]
        assert log.names("note", "draw") == ["normal"]
        assert [event.outputs["grad"] for event in log.events("mode", "note")] == [False, True]

    def test_ranges_may_end_in_any_order(self):
        with Log() as log:
            outer, inner = span("outer"), span("inner", "about")
            outer.__enter__()
            inner.__enter__()
            outer.__exit__(None, None, None)
            gs.exp(1.0)
            inner.__exit__(None, None, None)
            gs.exp(2.0)
        first, second = log.events()
        assert first.parent.name == "inner" and second.parent is None
        assert [event.inputs for event in log.events("range")] == [(), ("about",)]


class TestListeners:
    def test_several_hear_all_and_see_nothing_of_each_other(self):
        class Computes(Log):
            def end(self, event):
                super().end(event)
                gs.exp(gs.ones(2)) + 1

        with Computes() as first, Log() as second:
            gs.exp(1.0)
        assert first.names("end") == second.names("end") == ["exp"]

    def test_one_that_raises_is_named_and_taken_off(self):
        class Bad(Listener):
            def begin(self, event):
                raise KeyError("lost")

        x = value()
        with Log() as log, pytest.warns(RuntimeWarning, match="Bad.begin raised KeyError: 'lost', at operator exp") as caught:
            with Bad():
                y = gs.exp(x)
                gs.exp(x)
        assert len(caught) == 1 and y.requires_grad and len(log.events()) == 2

    def test_it_is_taken_off_where_warnings_are_errors_too(self, capsys):
        class Bad(Listener):
            def end(self, event):
                raise KeyError("lost")

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Bad():
                y = gs.exp(value())
        assert y.requires_grad
        assert capsys.readouterr().err == "Bad.end raised KeyError: 'lost', at operator exp; it listens no more\n"

    def test_an_error_that_a_listener_wants(self):
        class Refuse(Listener):
            def end(self, event):
                if event.name == "exp":
                    event.error = FloatingPointError("not here")

        x = value()
        with Refuse(), pytest.raises(FloatingPointError, match="not here"):
            gs.exp(x)
        assert gs.exp(x).requires_grad

    def test_twice_is_an_error_and_stop_is_not(self):
        log = Log()
        log.stop()
        with log, pytest.raises(RuntimeError, match="listens in this thread already"):
            log.start()
        log.stop()
        gs.exp(1.0)
        assert log.heard == []

    def test_one_that_begins_or_ends_in_the_midst(self):
        inner, outer = Log(), Log()
        x = value()
        y = x * 2
        y.register_hook(lambda grad: (inner.start(), outer.stop()) and None)
        with outer:
            y.sum().backward()
            gs.exp(x)
        inner.stop()
        assert inner.names()[-1] == "exp"
        assert outer.names() == ["sum"] and not outer.events("pass")
        assert all(event.kind != "pass" for moment, event in inner.heard if moment == "end")

    def test_other_threads_are_not_heard(self):
        with Log() as log:
            thread = threading.Thread(target=lambda: gs.exp(1.0))
            thread.start()
            thread.join()
        assert log.heard == []

    def test_what_an_event_keeps_is_freed_with_it(self):
        import weakref

        with Log() as log:
            y = gs.exp(value())
        watched = weakref.ref(y)
        del y
        assert watched() is not None
        log.heard.clear()
        assert watched() is None

    def test_an_event_is_shown_by_kind_and_name(self):
        with Log() as log:
            gs.exp(1.0)
        assert repr(log.events()[0]) == "<Event operator exp>" and isinstance(log.events()[0], Event)

    def test_deep_passes_in_a_thread_of_their_own(self):
        @gs.enable_grad()
        def nest(depth):
            x = value()
            y = x * 2
            if depth:
                y.register_hook(lambda grad: nest(depth - 1))
            y.sum().backward()

        with Log() as log:
            nest(130)
        assert len(log.events("pass")) == 131


def test_a_listener_gives_a_custom_function_other_inputs():
    class Twice(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x, other = gs.tensor(1.0, requires_grad=True), gs.tensor(5.0, requires_grad=True)

    class Swap(Listener):
        def begin(self, event):
            if event.kind == "function":
                event.replace_inputs((other,))

    with Swap():
        y = Twice.apply(x)
    y.backward()
    assert y.item() == 10 and x.grad is None and other.grad.item() == 2
