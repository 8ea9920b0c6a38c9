"""autograd.graph: hooks on several gradients, what is kept on disk, and version counters."""

import gc
import os
import threading

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import backward, grad, graph
from gradspec.autograd.graph import increment_version, register_multi_grad_hook, save_on_cpu, save_to_disk


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


@pytest.fixture(autouse=True)
def no_collector():
    """What is freed here is freed by its count of references."""
    gc.disable()
    yield
    gc.enable()


# Hooks on several gradients.


class Calls(list):
    def __call__(self, gradients):
        self.append([None if g is None else g.tolist() for g in gradients] if isinstance(gradients, list) else gradients.tolist())


def test_all_calls_once_when_every_gradient_is_there():
    a, b, calls = leaf(1.0), leaf(2.0), Calls()
    h = a * 3
    handle = register_multi_grad_hook([a, h, b], calls)
    y = (h * b).sum()
    y.backward(retain_graph=True)
    assert calls == [[[6.0], [2.0], [3.0]]]
    y.backward()
    assert len(calls) == 2
    handle.remove()
    handle.remove()
    (a * b).sum().backward()
    assert len(calls) == 2


def test_all_has_none_for_what_the_pass_does_not_reach():
    a, b, c, calls = leaf(1.0), leaf(2.0), leaf(3.0), Calls()
    register_multi_grad_hook((a, b, c), calls)
    (a * b).sum().backward()
    assert calls == [[[2.0], [1.0], None]]
    (leaf(1.0) * 2).sum().backward()  # none of them: no call
    assert len(calls) == 1
    backward((a * b).sum(), inputs=[a])
    assert calls[1] == [[2.0], None, None]


def test_all_beside_grad_of_non_leaves():
    a, calls = leaf(1.0), Calls()
    h, k = a * 2, a * 3
    register_multi_grad_hook([h, k], calls)
    grad((h * k).sum(), [h, k])
    assert calls == [[[3.0], [2.0]]]


def test_all_beside_an_output_whose_gradient_is_undefined():
    x, calls = leaf(1.0, 2.0, 3.0), Calls()
    a, b, c = (x * 2).unstack()
    register_multi_grad_hook([a, b, x], calls)
    (b * 5).backward()
    assert calls == [[None, 5.0, [0.0, 10.0, 0.0]]]


def test_any_skips_an_output_whose_gradient_is_undefined():
    x, calls = leaf(1.0, 2.0), Calls()
    a, b = (x * 2).unstack()
    register_multi_grad_hook([a, b], calls, mode="any")
    (b * 5).backward()
    assert calls == [5.0]


def test_any_calls_once_with_the_first_gradient():
    a, b, calls = leaf(1.0), leaf(2.0), Calls()
    plain = gs.tensor([1.0])
    h = a * 3
    k = h * b
    with register_multi_grad_hook([plain, a, h, k, b], calls, mode="any") as handle:
        assert callable(handle.remove)
        (k * 5).sum().backward(retain_graph=True)
        assert calls == [[5.0]]
        (h * 7).sum().backward()
        assert calls == [[5.0], [7.0]]
    (a * 7).sum().backward()
    assert len(calls) == 2


def test_a_single_tensor_will_do():
    a, calls = leaf(1.0), Calls()
    register_multi_grad_hook(a, calls)
    (a * 2).sum().backward()
    assert calls == [[[2.0]]]


def test_an_unknown_mode():
    with pytest.raises(ValueError, match=r"Expects mode to be one of \('all', 'any'\) but got foo"):
        register_multi_grad_hook([leaf(1.0)], print, mode="foo")


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_pass_that_fails_leaves_nothing_behind(mode):
    a, b, calls = leaf(1.0), leaf(2.0), Calls()
    h = a * 1
    register_multi_grad_hook([h, a, b], calls, mode=mode)
    y = (h * b).sum()

    def boom(_):
        raise ValueError("boom")

    handle = a.register_hook(boom)
    with pytest.raises(ValueError, match="boom"):
        y.backward(retain_graph=True)
    handle.remove()
    calls.clear()
    y.backward()
    assert calls == ([[[2.0], [2.0], [1.0]]] if mode == "all" else [calls[0]]) and len(calls) == 1


def test_gradients_are_freed_after_a_pass_that_fails():
    import weakref

    a, b = leaf(1.0), leaf(2.0)
    h = a * 1
    seen = []
    h.register_hook(lambda g: seen.append(weakref.ref(g)))
    register_multi_grad_hook([h, a], print)

    def boom(_):
        raise ValueError("boom")

    a.register_hook(boom)
    with pytest.raises(ValueError, match="boom"):
        (h * b).sum().backward()
    assert seen[0]() is None


@pytest.mark.parametrize("mode", ["all", "any"])
def test_passes_inside_of_passes_have_states_of_their_own(mode):
    a, b, calls = leaf(1.0), leaf(2.0), Calls()
    inside = []
    y = (a * b).sum()

    def nested(_):
        if not inside:
            inside.append(True)
            with gs.enable_grad():
                (a * b * 10).sum().backward()

    y.register_hook(nested)
    register_multi_grad_hook([a, b], calls, mode=mode)
    y.backward()
    assert len(calls) == 2
    if mode == "all":
        assert calls == [[[20.0], [10.0]], [[2.0], [1.0]]]


@pytest.mark.parametrize("mode", ["all", "any"])
def test_threads_have_states_of_their_own(mode):
    a, b, calls = leaf(1.0), leaf(2.0), Calls()
    register_multi_grad_hook([a, b], calls, mode=mode)
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for _ in range(50):
            (a * b).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 200
    if mode == "all":
        assert all(call == [[2.0], [1.0]] for call in calls)


# On disk.


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.array(2.5),
        np.arange(6.0, dtype=np.float32).reshape(2, 3).T,
        np.array([1 + 2j, 3j]),
        np.zeros((0, 3)),
        np.arange(6.0)[::-2],
    ],
    ids=str,
)
def test_saved_values_come_back_from_disk(value, tmp_path):
    x = gs.tensor(value, requires_grad=True)
    with save_to_disk(str(tmp_path)):
        y = (gs.exp(x) * x).sum()
    assert len(os.listdir(tmp_path)) == 3
    real = gs.real(y) if y.dtype.kind == "c" else y
    found = grad(real, x, create_graph=True)[0]
    assert found.dtype == value.dtype
    expected = np.conj(np.exp(value) * (1 + value))
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-6 if value.dtype == np.float32 else 1e-12)


def test_save_on_cpu_moves_nothing():
    x = leaf(1.0, 2.0)
    with save_on_cpu(pin_memory=True):
        y = x * x
    assert y.grad_fn._raw_saved_a.data is x
    y.sum().backward()
    same(x.grad, [2, 4])
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        save_on_cpu().__enter__()


def test_files_go_with_the_graph(tmp_path):
    x = leaf(1.0, 2.0)
    with save_to_disk(str(tmp_path)):
        y = gs.exp(x).sum()
        z = gs.sin(x).sum()
    assert len(os.listdir(tmp_path)) == 2
    y.backward()
    assert len(os.listdir(tmp_path)) == 1
    del z
    assert os.listdir(tmp_path) == []
    same(x.grad, np.exp([1.0, 2.0]))


def test_files_go_when_python_ends(tmp_path):
    import subprocess
    import sys

    code = ("import sys, gradspec as gs\nfrom gradspec.autograd.graph import save_to_disk\n"
            "with save_to_disk(sys.argv[1]): y = gs.exp(gs.ones((2,), requires_grad=True))\n"
            "import os; print(len(os.listdir(sys.argv[1])))")  # fmt: skip
    out = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "1" and os.listdir(tmp_path) == []


def test_an_error_of_the_disk_is_the_users(tmp_path):
    with pytest.raises(FileNotFoundError), save_to_disk(str(tmp_path / "nowhere")):
        gs.exp(leaf(1.0))


def test_hooks_are_refused_where_they_are_disabled():
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        save_to_disk().__enter__()


# Version counters.


def test_increment_version():
    x = leaf(1.0) * 1
    view = x[:]
    increment_version(x)
    increment_version([x, view])
    assert x._version == view._version == 3
    y = gs.exp(leaf(1.0))
    increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(np.ones(1))
    with pytest.raises(TypeError, match="increment_version expects a Tensor or an iterable of Tensors, got int"):
        increment_version([1])


def test_increment_version_of_an_inference_tensor_does_nothing():
    with gs.inference_mode():
        x = gs.tensor([1.0])
    increment_version(x)
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter."):
        graph._unsafe_set_version_counter(x, 1)


def test_unsafe_set_version_counter():
    x = gs.tensor([1.0])
    view = x[:]
    graph._unsafe_set_version_counter((x,), (7,))
    assert view._version == 7
    graph._unsafe_set_version_counter(x, 0)
    assert x._version == 0
    with pytest.raises(RuntimeError, match="Cannot set a version counter to a value below 0: -1"):
        graph._unsafe_set_version_counter((x,), (-1,))
    with pytest.raises(ValueError, match="expected a version for each tensor, got 1 for 2"):
        graph._unsafe_set_version_counter((x, view), (1,))


@pytest.mark.parametrize("several", [False, True])
def test_unsafe_preserve_version_counter(several):
    x, w = leaf(1.0), leaf(3.0)
    h, k = x * 2, w * 2
    y = h * k
    with gs.autograd._unsafe_preserve_version_counter((h, k) if several else h), gs.no_grad():
        h.fill_(5.0)
        if several:
            k.fill_(7.0)
    assert h._version == k._version == 0
    y.backward(np.ones(1))
    same(x.grad, [14.0 if several else 12.0])
    same(w.grad, [10.0])


def test_the_module_has_what_it_says():
    assert set(dir(graph)) == set(graph.__all__)
    edge = graph.get_gradient_edge(leaf(1.0) * 2)
    assert isinstance(edge, graph.GradientEdge) and isinstance(edge.node, graph.Node)


def test_node_is_a_virtual_base():
    """Every node is an instance, none inherits from it."""

    class Twice(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert isinstance(ctx, graph.Node)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = gs.ones((2,), requires_grad=True)
    y = Twice.apply(x) * x
    for node in (y.grad_fn, Twice.apply(x).grad_fn, graph.get_gradient_edge(x).node):
        assert isinstance(node, graph.Node) and issubclass(type(node), graph.Node)
        assert graph.Node not in type(node).mro()
    assert not isinstance(graph.Node, graph.Node) and not isinstance(x, graph.Node) and issubclass(graph.Node, graph.Node)
    with pytest.raises(TypeError, match="cannot create"):
        graph.Node()
