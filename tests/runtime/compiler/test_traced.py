"""Traces: the printed program gives the bits of the call, and what it cannot give is refused or said."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held
from tests.runtime.traced_programs import MODES, run

COUNT = 40  # of each mode in a test run; python -m tests.runtime.traced_programs takes any number


@pytest.mark.parametrize("mode", MODES)
def test_random_programs(mode):
    outcomes = [run(seed, mode) for seed in range(COUNT)]
    assert outcomes.count("refused") < COUNT // 10


@pytest.mark.parametrize("mode", MODES)
def test_random_programs_over_numpy(mode):
    outcomes = [run(seed, mode, numpy=True) for seed in range(COUNT // 2)]
    assert outcomes.count("equal") > COUNT // 4


# What is in a trace.


def names(taken):
    return [line.name for line in taken.instructions]


def test_a_trace_reads_as_the_function_does():
    def f(x, w):
        y = gs.tanh(x @ w)
        y[0] += 1
        return y.sum()

    taken = gs.trace(f, gs.ones((3, 4)), np.arange(8.0).reshape(4, 2))
    assert names(taken) == ["matmul", "tanh", "getitem", "add_", "index_put_", "sum"]
    assert str(taken).splitlines()[0] == "program(x: float64[3, 4], w: float64[4, 2])"
    assert "v1 = gs.tanh(v0)" in str(taken) and "test_traced.py:" in str(taken)
    assert taken.where("add")[0].target is taken.where("getitem")[0].outputs


def test_inputs_are_found_in_nests_and_written_to():
    def f(params, x):
        params["w"] *= 2
        return {"y": params["w"] * x, "n": (x, 3)}

    taken = gs.trace(f, {"w": gs.ones(3)}, gs.ones(3))
    w = np.arange(3.0)
    found = taken.run({"w": w}, np.ones(3))
    assert w.tolist() == [0, 2, 4] and found["y"].tolist() == [0, 2, 4] and found["n"][1] == 3


def test_a_backward_pass_is_operators():
    def f(x):
        x = gs.tensor(x, requires_grad=True)
        (x.sin() * x).sum().backward()
        (x * 3).sum().backward()
        return x.grad

    taken = gs.trace(f, np.arange(3.0))
    x = np.array([0.5, -1.0, 2.0])
    assert "cos" in names(taken)
    np.testing.assert_allclose(taken.run(x).numpy(), np.cos(x) * x + np.sin(x) + 3, rtol=1e-15)


def test_an_operator_is_whole_unless_its_inside_is_used():
    x = gs.asarray([0.5, 1.5])
    assert names(gs.trace(lambda x: gs.addcmul(x, x, x), x)) == ["addcmul"]

    def f(x):
        x = gs.tensor(x, requires_grad=True)
        y = gs.addcmul(x, x, x)
        return y, gs.autograd.grad(y.sum(), x)[0]

    assert gs.trace(f, x).run(np.array([3.0, 4.0]))[1].tolist() == [7.0, 9.0]


def test_an_in_place_operator_whose_old_value_is_saved():
    def f(x):
        x = gs.tensor(x, requires_grad=True)
        y = x * 1
        y.sin_()
        y.mul_(y)
        return y, gs.autograd.grad(y.sum(), x)[0]

    x = np.array([0.25, 3.0])
    found = gs.trace(f, np.ones(2)).run(x)
    np.testing.assert_allclose(found[1].numpy(), np.sin(2 * x), rtol=1e-14)


def test_numbers_that_leave_are_noted():
    def f(x):
        if x[0] > 0:
            return x * x[1].item()
        return x

    taken = gs.trace(f, gs.asarray([1.0, 2.0]))
    assert ["bool() gave its truth" in note or "item() gave its number" in note for note in taken.notes] == [True, True]
    assert all(note in str(taken) for note in taken.notes)


def test_a_result_of_numpy_is_noted():
    taken = gs.trace(lambda x: gs.exp(gs.asarray(np.sin(x.numpy()))), gs.ones(3))
    assert "numpy() gave its numbers" in taken.notes[0] and taken.constants[0].shape == (3,)
    assert "by no operator" in gs.trace(lambda x: np.sin(x.numpy()), gs.ones(3)).notes[1]


def test_arrays_are_tensors_inside():
    taken = gs.trace(lambda params, x: np.sin(x @ params["w"]), {"w": np.ones((3, 2))}, np.ones((2, 3)))
    assert names(taken) == ["matmul", "sin"] and taken.constants == [] and taken.inputs[0].name == "params_w"


def test_a_program_refuses_what_it_was_not_traced_for():
    taken = gs.trace(lambda x, options: gs.mean(x) * options["n"], np.ones(3), {"n": 2})
    assert taken.run(np.full(3, 5.0), {"n": 2}).item() == 10.0
    with pytest.raises(ValueError, match="was 2 when it was traced"):
        taken.run(np.ones(3), {"n": 3})
    with pytest.raises(ValueError, match=r"x was float64\[3\] when it was traced"):
        taken.run(np.ones(4), {"n": 2})
    with pytest.raises(ValueError, match=r"x was float64\[3\] when it was traced"):
        taken.run(np.ones(3, np.float32), {"n": 2})


def test_numbers_that_leave_inside_of_an_operator_are_noted():
    def f(x):
        x = gs.tensor(x, requires_grad=True)
        with gs.autograd.graph.saved_tensors_hooks(lambda t: t.numpy().copy(), gs.asarray):
            y = gs.exp(x)
        return gs.autograd.grad(y.sum(), x)

    assert ["numpy() gave its numbers" in note for note in gs.trace(f, np.ones(2)).notes] == [True]


def test_a_function_of_the_users_is_its_operators():
    class Double(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    def f(x):
        x = gs.tensor(x, requires_grad=True)
        x.register_hook(lambda grad: grad * 3)
        return gs.autograd.grad((Double.apply(x) * x).sum(), x)[0]

    taken = gs.trace(f, np.ones(2))
    assert taken.notes == [] and taken.run(np.array([1.0, -2.0])).tolist() == [12.0, -24.0]


def test_a_write_of_numpy_is_refused():
    def f(x):
        y = x * 1
        y.numpy()[0] = 5.0
        return y + 1

    with pytest.raises(TypeError, match="results differ in some bits from the call"):
        gs.trace(f, gs.ones(3))


def test_a_view_by_numpy_is_one_of_the_program():
    taken = gs.trace(lambda x: gs.sin((x * 2).numpy()[1:]), gs.ones(3))
    assert names(taken) == ["multiply", "as_strided", "sin"]
    assert taken.run(np.arange(3.0)).tolist() == np.sin([2.0, 4.0]).tolist()


def test_generators_are_arguments():
    def f(x, generator):
        return x + gs.random.normal(size=(3,), generator=generator) + gs.randn(3)

    taken = gs.trace(lambda x: f(x, np.random.default_rng(1)), gs.zeros(3))
    assert [source.name for source in taken.sources] == ["generator", "generator_2"]
    gs.manual_seed(5)
    wanted = f(np.zeros(3), np.random.default_rng(7))
    found = taken.run(np.zeros(3), generator=np.random.default_rng(7), generator_2=np.random.default_rng(5))
    assert found.tolist() == wanted.tolist()


def test_an_error_inside_that_is_caught_is_no_instruction():
    def f(x):
        try:
            gs.matmul(x, gs.ones(7))
        except ValueError:
            pass
        return x + 1

    assert "matmul" not in names(gs.trace(f, gs.ones(3)))


def test_decompose():
    x = np.array([[0.5, -1.0, 2.0]])
    taken = gs.trace(lambda x: gs.addcmul(gs.logaddexp2(x, x), x, x), x)
    core = taken.decompose()
    assert "addcmul" not in names(core) and {"multiply", "add"} <= set(names(core))
    np.testing.assert_allclose(core.run(x).numpy(), taken.run(x).numpy(), rtol=1e-15)
    assert "addcmul" in names(taken.decompose("logaddexp2")) and "addcmul" not in names(taken.decompose(depth=1))
    assert names(taken.decompose(depth=0)) == names(taken)


def test_derivative():
    taken = gs.trace(lambda x, w: (gs.tanh(x * w)).sum(), np.array([0.5, 1.0]), np.array([2.0, 3.0])).derivative((0, 1))
    x, w = np.array([0.1, 0.2]), np.array([1.0, -2.0])
    value, (dx, dw) = taken.run(x, w)
    slope = 1 - np.tanh(x * w) ** 2
    np.testing.assert_allclose(value.item(), np.tanh(x * w).sum())
    np.testing.assert_allclose(dx.numpy(), slope * w)
    np.testing.assert_allclose(dw.numpy(), slope * x)


def test_a_program_can_be_saved(tmp_path):
    taken = gs.trace(lambda x: gs.where(x > 0, x, np.array([np.nan, -0.0, np.inf])), gs.asarray([1.0, -1.0, -2.0]))
    (tmp_path / "saved.py").write_text(taken.python())
    names = {}
    exec((tmp_path / "saved.py").read_text(), names)
    assert same_bits(held(names["program"](np.array([1.0, -1.0, -2.0]))), np.array([1.0, -0.0, np.inf]))


def test_matrices_have_a_trace_too():
    assert gs.trace(np.arange(4.0).reshape(2, 2)).item() == 3.0
    assert gs.trace(np.arange(4.0).reshape(2, 2), offset=1).item() == 1.0


# Over NumPy alone.


def test_a_program_over_numpy_runs_without_this_library(tmp_path):
    def f(x, w):
        y = gs.tanh(x @ w)
        y[0] += 1
        return {"sum": y.sum(), "last": gs.nn.softmax(y, 1)[-1], "erf": gs.special.erf(y)}

    x, w = np.linspace(-1, 1, 12).reshape(3, 4), np.ones((4, 2)) / 3
    taken = gs.trace(f, x, w)
    text = taken.python(numpy=True)
    assert "v1 = np.tanh(v0)" in text and "np.matmul(x, w)" in text
    (tmp_path / "saved.py").write_text(text + RUN)
    np.savez(tmp_path / "given.npz", x=x, w=w)
    subprocess.run([sys.executable, tmp_path / "saved.py", tmp_path], check=True)
    found = np.load(tmp_path / "found.npz")
    for name, wanted in f(gs.asarray(x), gs.asarray(w)).items():
        np.testing.assert_allclose(found[name], wanted.numpy(), rtol=1e-14)


RUN = """
if __name__ == "__main__":
    import pathlib, sys

    sys.modules["gradspec"] = None
    folder = pathlib.Path(sys.argv[1])
    given = np.load(folder / "given.npz")
    found = program(given["x"], given["w"])
    assert found["sum"].shape == () and type(found["sum"]) is np.ndarray
    np.savez(folder / "found.npz", **found)
"""


def test_a_program_over_numpy_refuses_what_it_was_not_traced_for():
    taken = gs.trace(lambda x, n: x * n, np.ones(3), 2)
    program = taken.compiled(numpy=True)
    assert program([1.0, 2.0, 3.0], 2).tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(ValueError, match="was 2 when it was traced"):
        program(np.ones(3), 3)
    with pytest.raises(ValueError, match=r"x was float64\[3\] when it was traced"):
        program(np.ones(4), 2)


def test_a_program_over_numpy_draws_what_the_call_drew():
    taken = gs.trace(lambda x: x + gs.randn(3), np.zeros(3))
    gs.manual_seed(3)
    assert taken.compiled(numpy=True)(np.zeros(3), np.random.default_rng(3)).tolist() == gs.randn(3).tolist()


def test_an_operator_without_a_text_over_numpy_is_refused_by_name():
    taken = gs.trace(lambda x: gs.exp(x), np.ones(3))
    taken.instructions[0].name = "somebody_elses"
    with pytest.raises(TypeError, match=r"somebody_elses has no text over NumPy alone; .*trace\.python\(\)"):
        taken.python(numpy=True)


@pytest.mark.parametrize("f", [lambda x: gs.nn.dropout(x).sum(), lambda x: gs.nn.rrelu(x, 0.25, 0.5).sum()])
def test_what_is_drawn_is_drawn_anew_in_derivatives(f):
    x, other = np.array([1.0, -2.0, 3.0]), np.array([-4.0, 5.0, -6.0])
    taken = gs.trace(f, x).derivative()
    gs.manual_seed(5)
    wanted = gs.value_and_grad(f)(gs.asarray(other))
    gs.manual_seed(5)
    assert [one.tolist() for one in taken.run(other)] == [one.tolist() for one in wanted]
