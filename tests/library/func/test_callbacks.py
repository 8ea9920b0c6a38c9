"""Callbacks: functions of Python that are called at their place, also where a compiled function is replayed."""

import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.func.callbacks import OnArrays
from tests.runtime.compiler.test_compiled_function import bits, replays, values


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_loss_that_is_logged_is_no_guard(capsys):
    mine, theirs = gs.zeros(3, requires_grad=True), gs.zeros(3, requires_grad=True)

    def trainer(w, losses):
        def step(x, y):
            loss = ((x @ w - y) ** 2).mean()
            loss.backward()
            gs.debug.callback(losses.append, loss)
            gs.debug.print("loss {:.6f} {name}", loss, name="of a batch")
            with gs.no_grad():
                w.sub_(0.1 * w.grad)
                w.grad = None
            return loss

        return step

    logged = [], []
    eager, compiled = trainer(mine, logged[0]), gs.compile(trainer(theirs, logged[1]), strict=True)
    for seed in range(6):
        x, y = values((8, 3), seed), values(8, seed + 9)
        assert bits(eager(x, y)) == bits(compiled(x, y))
    assert [bits(loss) for loss in logged[0]] == [bits(loss) for loss in logged[1]]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12 and lines[::2] == lines[1::2] and lines[0].endswith("of a batch")
    assert replays(compiled) and "append(y" in str(compiled.program)


def test_what_a_callback_keeps_is_written_to_by_nobody():
    kept = []
    compiled = gs.compile(lambda x: (lambda y: (gs.debug.callback(kept.append, y), y * 2)[1])(x + 1))
    for seed in range(4):
        compiled(values(100, seed))
    assert [bits(one) for one in kept] == [bits(values(100, seed) + 1) for seed in range(4)]


@pytest.mark.parametrize("branch", [False, True])
def test_callbacks_wait_for_the_guards_behind_them(branch):
    """A call that turns out to be another one has called nothing back."""
    seen = {"eager": [], "compiled": []}

    def made(log):
        def function(x):
            gs.debug.callback(lambda a: log.append(("first", a)), x)
            x.add_(1)
            y = x * 2
            if branch and y.sum() > 0:
                gs.debug.callback(lambda a: log.append(("positive", a)), y)
                return y
            gs.debug.callback(lambda a: log.append(("last", a)), y)
            return y[x > 0]

        return function

    eager, compiled = made(seen["eager"]), gs.compile(made(seen["compiled"]))
    for seed in range(12):
        assert bits(eager(gs.asarray(values(3, seed)))) == bits(compiled(values(3, seed)))
    assert [(name, bits(a)) for name, a in seen["eager"]] == [(name, bits(a)) for name, a in seen["compiled"]]


def test_what_a_callback_changes_is_not_looked_at():
    class Log:
        def __init__(self):
            self.count, self.by_name, self.w = 0, {}, gs.asarray([2.0])

        def note(self, name, x):
            self.count += 1
            self.by_name[name, self.count] = float(x)

    log, total = Log(), 0

    @gs.compile(strict=True)
    def function(x):
        nonlocal total

        def add(x):
            nonlocal total
            total += float(x)

        y = (x * log.w).sum()
        gs.debug.callback(log.note, "loss", y)
        gs.debug.callback(add, y)
        return y

    for number in range(6):
        assert float(function(np.full(2, number))) == 4 * number
    assert (log.count, total) == (6, 60.0) and list(log.by_name.values()) == [4.0 * n for n in range(6)]
    log.w.mul_(2)  # is read where it is
    assert float(function(np.ones(2))) == 8.0
    log.w = gs.asarray([5.0])
    assert float(function(np.ones(2))) == 10.0 and replays(function)


def test_a_callback_that_holds_a_value_of_the_call_is_refused():
    printed = []
    for function in (lambda x: gs.debug.callback(lambda: printed.append(x.sum().item())),
                     lambda x: (lambda y: gs.debug.callback(lambda: printed.append(y.sum().item())))(x * 2)):  # fmt: skip
        compiled = gs.compile(function)
        printed.clear()
        with pytest.warns(RuntimeWarning, match="holds [xy], an array of this call: give it as an argument"):
            for number in range(4):
                compiled(np.full(2, float(number)))
        assert len(set(printed)) == 4
        with pytest.raises(RuntimeError, match="give it as an argument"):
            gs.compile(function, strict=True)(np.ones(2))


def test_numbers_and_texts_that_python_makes_are_not_printed_again(capsys):
    ticks = iter(range(20, 100))
    for text in (lambda n: (f"step {n}",), lambda n: ("step {}", n)):
        compiled = gs.compile(lambda x: (gs.debug.print(*text(next(ticks))), x * 2)[1])
        with pytest.warns(RuntimeWarning, match="it reads ticks, a range_iterator"):
            for _ in range(8):
                compiled(np.ones(1))
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"step {n}" for n in range(20, 36)]


def test_results_of_callbacks():
    def sort(x):
        return gs.pure_callback(lambda x: {"up": np.sort(x.numpy())}, {"up": x}, x * 2)["up"] + 1

    pure = gs.compile(sort, strict=True)
    batches = iter(np.arange(100.0))
    data = gs.compile(lambda x: x * gs.func.io_callback(lambda: next(batches), gs.zeros(())), strict=True)
    for seed in range(5):
        assert bits(pure(values(4, seed))) == bits(np.sort(values(4, seed) * 2) + 1)
        assert bits(data(np.ones(2))) == bits(np.full(2, float(seed)))
    assert replays(pure) and replays(data)
    kept = np.zeros(2)
    same = gs.pure_callback(lambda: kept, kept)
    kept += 1
    assert same.tolist() == [0.0, 0.0]


def test_a_pure_callback_is_not_called_for_nothing():
    calls = []
    compiled = gs.compile(lambda x: (gs.pure_callback(lambda x: (calls.append(1), x)[1], x, x), x * 2)[1], recheck=False)
    for _ in range(6):
        compiled(np.ones(2))
    assert len(calls) <= 3 and replays(compiled)


def test_results_that_are_needed_before_a_guard():
    compiled = gs.compile(lambda x: x * 2 if gs.func.io_callback(lambda: np.float64(3.0), gs.zeros(())) > 2 else x)
    with pytest.warns(RuntimeWarning, match="io_callback returns results before"):
        for _ in range(3):
            assert bits(compiled(np.ones(2))) == bits(np.full(2, 2.0))


def test_a_callback_has_no_derivative():
    x = gs.ones(2, requires_grad=True)
    for function in (gs.pure_callback, gs.func.io_callback):
        with pytest.raises(RuntimeError, match="has no derivative; pass x.detach"):
            function(lambda x: x, x, x)
        with pytest.raises(RuntimeError, match="has no derivative"):
            gs.jvp(lambda x: function(lambda x: x, x, x), (gs.ones(2),), (gs.ones(2),))
        assert function(lambda x: x, x, x.detach()).tolist() == [1.0, 1.0]
    gs.debug.callback(lambda x: None, x)


def test_results_of_another_kind():
    with pytest.raises(ValueError, match=r"gave float64\[3\] where result_shape_dtypes has float64\[2\]"):
        gs.pure_callback(lambda: np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="gave 2 results where result_shape_dtypes has 1"):
        gs.pure_callback(lambda: (1.0, 2.0), np.ones(()))


def test_an_error_of_a_callback_is_the_users():
    def fail(x):
        if float(x[0]) == 3:
            raise KeyError("three")

    compiled = gs.compile(lambda x: (gs.debug.callback(fail, x), x * 2)[1])
    for number in (1.0, 2.0):
        compiled(np.array([number]))
    with pytest.raises(KeyError, match="three"):
        compiled(np.array([3.0]))
    assert bits(compiled(np.array([4.0]))) == bits(np.array([8.0])) and replays(compiled)


def test_a_trace_says_that_it_calls_nothing_back():
    calls = []
    taken = gs.trace(lambda x: (gs.debug.callback(lambda x: calls.append(x * 3), x), x * 2)[1], values())
    assert [line.name for line in taken.instructions] == ["multiply"] and len(calls) == 1
    assert "was called back, and is not called by this program" in str(taken)


def test_listeners_hear_of_callbacks():
    class Kinds(gs.autograd.Listener):
        def __init__(self):
            self.kinds = []

        def begin(self, event):
            self.kinds.append(event.kind)

    x = gs.ones(2)
    with Kinds() as listener:
        gs.debug.callback(lambda x: x * 2, x)
    assert listener.kinds == ["callback", "operator"]


def test_inside_of_vmap_each_row_is_called_back(capsys):
    x = np.array([[3.0, 1.0], [1.0, 2.0]])
    doubled = lambda x: gs.pure_callback(lambda x: 2 * x.numpy(), x, x)  # noqa: E731
    assert gs.vmap(doubled)(x).tolist() == gs.vmap(gs.vmap(doubled))(x).tolist() == (2 * x).tolist()
    assert gs.vmap(lambda x: gs.func.io_callback(lambda x: -x.numpy(), x, x))(x).tolist() == (-x).tolist()
    gs.vmap(lambda x: (gs.debug.print("{}", x), x)[1])(x[:, 0])
    assert capsys.readouterr().out == "tensor(3.)\ntensor(1.)\n"


def test_what_a_callback_reads_besides_has_no_derivative():
    one = gs.ones(())
    read = lambda c: gs.pure_callback(lambda x: x * c, one, one)  # noqa: E731
    for call in (lambda: read(gs.tensor(2.0, requires_grad=True)), lambda: gs.grad(read)(2.0), lambda: gs.vmap(read)(gs.ones(2)),
                 lambda: gs.jvp(read, (2.0,), (1.0,))):  # fmt: skip
        with pytest.raises(RuntimeError, match="a function that gets numbers reads a tensor"):
            call()
    outer = lambda c: gs.jvp(lambda x: x * gs.pure_callback(gs.sin, one, c), (1.0,), (1.0,))[1]  # noqa: E731
    with pytest.raises(RuntimeError, match="has no derivative"):  # a tangent of another level than the innermost one
        gs.jvp(outer, (1.0,), (1.0,))


def test_a_function_of_arrays_gives_later_what_it_gave_first():
    given = []

    def function(x, by=1.0):
        given.append(x)
        return {"twice": by * 2 * x, "more": (x, [by])}

    called, x = OnArrays(function, scalars=False), gs.asarray([1.0, 2.0])
    for by in (1.0, 3.0):
        found = called((x,), {"by": by})
        assert found["twice"].tolist() == [2 * by, 4 * by] and type(found["more"]) is tuple and found["more"][1][0].item() == by
        assert not np.may_share_memory(found["more"][0].numpy(), given[-1])
    assert np.may_share_memory(given[0], x.numpy()) and not np.may_share_memory(given[1], x.numpy())
    with pytest.raises(ValueError, match="gave 4 results where|gave float64.3. where"):
        called((gs.asarray([1.0, 2.0, 3.0]),), {})
    assert type(OnArrays(lambda x: x)((gs.asarray(1.0),), {})) is gs.Tensor
