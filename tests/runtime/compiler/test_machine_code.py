"""Compiled functions with `backend="c"`: calls run in C, and return, write and warn as the function itself does."""

import os
import re
import stat
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.native import shared_objects
from tests.runtime.replayed_programs import MODES, function_of

from .c_modules import COMPILERS
from .test_native import leaves, network, network_inputs, pendulum, residual, rng, same

pytestmark = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    """A cache of this file, and no `CC`."""
    path = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(path))
        patch.delenv("CC", raising=False)
        yield path / "gradspec"


def in_c(function, **options):
    return gs.compile(function, backend="c", strict=True, recheck=False, **options)


def close(found, wanted, tolerance=1e-13):
    largest = max([1.0, *(np.abs(b[np.isfinite(b)]).max(initial=0) for b in wanted if b.dtype.kind == "f")])
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and steps(a) == steps(b)
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * largest if b.dtype == float else 1e-5 * largest)


def steps(x):
    return [stride for stride, size in zip(x.strides, x.shape) if size > 1]


# The numbers.


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function, inputs", [
    (gs.value_and_grad(network), lambda seed, dtype: network_inputs(seed, dtype)),
    (lambda s, t: (pendulum(s, t), gs.jacobian(pendulum)(s, t)),
     lambda seed, dtype: (rng(seed).normal(size=2).astype(dtype), np.array(0.3, dtype))),
    (gs.value_and_grad(residual), lambda seed, dtype: [rng(seed + n).normal(size=size).astype(dtype) for n, size in enumerate([3, (6, 3), 6])]),
    (gs.hessian(lambda x: gs.tanh(x @ x.T).sum()), lambda seed, dtype: [rng(seed).normal(size=(9, 5)).astype(dtype)]),
])  # fmt: skip
def test_results_are_those_of_the_function(function, inputs, dtype):
    compiled = in_c(function)
    for seed in range(5):
        given = inputs(seed, dtype)
        close(leaves(compiled(*given)), leaves(function(*map_of(given))))
    assert compiled.native == "ready" and len(compiled.signatures) == 1


def map_of(given):
    return gs.tree_util.tree_map(gs.asarray, tuple(given))


def test_arithmetic_has_the_bits_of_the_function():
    def function(x, y):
        z = x * y + x / y - gs.sqrt(x * x) + gs.where(x > y, x, y) * 3
        return z, z.sum(), z.sum(0), (z * x).mean(1), gs.maximum(x, y.T.reshape(z.shape)), z > 1

    compiled = in_c(function)
    for seed in range(4):
        x, y = rng(seed).normal(size=(2, 7, 30))
        assert all(map(same, leaves(compiled(x, y)), leaves(function(gs.asarray(x), gs.asarray(y)))))


def test_long_elementary_functions_have_the_bits_of_the_function():
    def function(x):
        return gs.tanh(x), gs.exp(x) * 2, gs.sigmoid(x + 1), gs.sin(x).sum()

    compiled = in_c(function)
    for seed in range(3):
        x = rng(seed).normal(size=100)
        assert all(map(same, leaves(compiled(x)), leaves(function(gs.asarray(x)))))


def test_random_programs_of_views_writes_and_levels():
    """What has no C is replayed; most read an index."""
    ready = 0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(60):
            function = function_of(seed, MODES[seed % len(MODES)])
            compiled = gs.compile(function, backend="c", recheck=False)
            try:
                for number in range(4):
                    x = np.random.default_rng((seed, number)).normal(size=(2, 3))
                    close(leaves(compiled(x.copy())), leaves(function(gs.asarray(x.copy()))), 1e-11)
                    waited(compiled)
            except (TypeError, RuntimeError):  # of autograd
                continue
            ready += compiled.native == "ready"
    assert ready > 8


def waited(compiled):
    """How calls of a compiled function run, once no build goes on."""
    end = time.monotonic() + 120
    while compiled.native == "building" and time.monotonic() < end:
        time.sleep(0.01)
    return compiled.native


# The promises of a call.


def test_layouts_views_and_what_is_returned_twice():
    held = gs.asarray(rng().normal(size=(3, 4)))

    def function(x):
        y = x.T * 2
        return y, y[1:], x, x[0], held, held[:, 1], y.T + held, gs.zeros((0, 2)), gs.ones(3), y

    compiled = in_c(function)
    for seed in range(3):
        x = gs.asarray(rng(seed).normal(size=(3, 4)))
        found, wanted = compiled(x), function(x)
        close(leaves(found), leaves(wanted))
        assert found[2] is x and found[4] is held
        assert np.shares_memory(found[0].numpy(), found[1].numpy()) and np.shares_memory(found[3].numpy(), x.numpy())
        before = leaves(found)
        compiled(gs.asarray(rng(9).normal(size=(3, 4))))
        assert all(map(same, leaves(found), before))


def test_arrays_in_other_orders_and_parts_of_arrays():
    compiled = in_c(lambda a, b, c: (a @ b + c).sum(0) * a[0, 0])
    for seed in range(3):
        a, b, c = rng(seed).normal(size=(5, 4)).T, rng(seed).normal(size=(9, 6))[::-2, ::3], rng(seed).normal(size=2)[::-1]
        given = a, b, c
        close(leaves(compiled(*given)), leaves(compiled.function(*map_of(given))))
    assert compiled.native == "ready" and len(compiled.signatures) == 1


def test_arguments_of_one_memory():
    compiled = in_c(lambda a, b: a * 2 + b)
    x = np.arange(6.0)
    for a, b in [(x, x), (x[:3], x[3:]), (x[:4], x[2:]), (x[:3], x[:3])] * 2:
        assert same(compiled(a, b).numpy(), a * 2 + b)


def test_writes_to_arguments_and_to_what_is_held():
    total, count = gs.zeros(3), gs.zeros(())

    def step(x, rate):
        total.mul_(0.5).add_(x)
        x[1:] -= rate * x[:-1]
        count.add_(1)
        return total * 2, x.sum()

    compiled, version = in_c(step), total._version
    x = rng().normal(size=3)
    mine, theirs, sums, number = x.copy(), x.copy(), np.zeros(3), 0
    for _ in range(5):
        found = leaves(compiled(mine, np.array(0.25)))
        sums = sums * 0.5 + theirs
        theirs[1:] -= 0.25 * theirs[:-1]
        number += 1
        assert same(found[0], sums * 2) and same(mine, theirs) and same(total.numpy(), sums) and count.item() == number
    assert compiled.native == "ready" and total._version - version == 2 * number


def test_training_in_place():
    def trained(make):
        r = rng()
        model = gs.nn.Sequential(gs.nn.Linear(3, 8), gs.nn.Tanh(), gs.nn.Linear(8, 1))
        with gs.no_grad():
            for parameter in model.parameters():
                parameter.copy_(gs.asarray(r.normal(size=parameter.shape).astype(np.float32)))
        optimizer = gs.optim.Adam(model.parameters(), lr=gs.tensor(1e-2))

        @make
        def step(x, y):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        losses = [step(gs.asarray(r.normal(size=(5, 3)).astype(np.float32)), gs.ones(5, 1)).item() for _ in range(12)]
        return losses, [p.detach().numpy().copy() for p in model.parameters()], step

    losses, parameters, _ = trained(lambda step: step)
    found, others, step = trained(in_c)
    assert step.native == "ready"
    np.testing.assert_allclose(found, losses, rtol=1e-4)
    for a, b in zip(others, parameters, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-4)


def test_results_with_a_history():
    w = gs.asarray(rng().normal(size=(4, 4)), requires_grad=True)
    compiled = in_c(lambda x: (gs.tanh(x @ w), (x * x).sum()))
    for seed in range(4):
        x = gs.asarray(rng(seed).normal(size=(3, 4)), requires_grad=True)
        found, wanted = ([y.sum() + z for y, z in [function(x)]][0] for function in (compiled, compiled.function))
        close(
            leaves([g.detach() for g in gs.autograd.grad(found, [x, w])]),
            leaves([g.detach() for g in gs.autograd.grad(wanted, [x, w])]),
        )
    assert compiled.native == "ready"


def test_a_branch_is_compared():
    scale = gs.asarray(2.0)

    def function(x):
        if x.sum() > 0:
            return x * scale
        scale.add_(1)
        return x - 1 if float(x[0]) == -1.0 else x - 2

    compiled, twin = in_c(function), gs.asarray(2.0)
    for x in (1.0, -1.0, 2.0, -3.0, -1.0, 5.0, -3.0, 1.0):
        x = np.full(3, x)
        wanted = x * twin.item() if x.sum() > 0 else x - 1 if x[0] == -1 else x - 2
        twin += x.sum() <= 0
        assert same(compiled(x).numpy(), wanted) and scale.item() == twin.item()
    assert {program.native for signature in compiled.signatures for program in signature.programs} == {"ready"}


def test_captured_state_that_changes():
    state = {"gain": 2.0, "table": np.arange(3.0), "weights": gs.ones(3)}
    compiled = in_c(lambda x: x * state["gain"] + state["table"] * state["weights"])
    x = rng().normal(size=3)
    for change in (lambda: None, lambda: state["weights"].mul_(3), lambda: state.update(gain=5.0), lambda: state["table"].fill(7.0),
                   lambda: state.update(weights=gs.zeros(3))):  # fmt: skip
        change()
        for _ in range(2):
            assert same(compiled(x).numpy(), x * state["gain"] + state["table"] * state["weights"].numpy())


@pytest.mark.filterwarnings("ignore:invalid value")
def test_warnings_and_errors_of_numbers():
    total = gs.zeros(2)

    def function(x):
        total.add_(1)
        return 1 / x + gs.log(x)

    compiled = in_c(function)
    compiled(np.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(np.ones(2))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        found = compiled(np.zeros(2))
    assert np.isnan(found.numpy()).all() and total.numpy().tolist() == [3, 3]
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        compiled(np.zeros(2))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(compiled(np.zeros(2)).numpy()).all()
    assert compiled.native == "ready"


@pytest.mark.parametrize("quiet", [False, True])
def test_a_singular_matrix_raises_before_anything_is_written(quiet):
    total = gs.zeros(3)

    def function(a):
        total.add_(1)
        return gs.linalg.solve(a, gs.ones(3)) * total, gs.linalg.cholesky(a)

    compiled = in_c(function)
    with np.errstate(all="ignore" if quiet else "warn"):
        compiled(np.eye(3))
        for wrong in (np.ones((3, 3)), -np.eye(3)):
            before = total.numpy().copy()
            with pytest.raises(np.linalg.LinAlgError):
                compiled(wrong)
            assert same(total.numpy(), before + 1)  # as the function leaves it, which runs eagerly
            total.copy_(gs.asarray(before))
            close(leaves(compiled(2 * np.eye(3))), [total.numpy() / 2, np.sqrt(2) * np.eye(3)])
    assert compiled.native == "ready"


def test_a_position_outside_of_an_array_raises_before_anything_is_written():
    def function(x, table, i):
        x += 1
        return gs.take(table, i) * x

    compiled, x, table = in_c(function), np.zeros(2), np.arange(4.0)
    assert compiled(x, table, np.array([3, -4])).numpy().tolist() == [3.0, 0.0]
    assert compiled(x, table, np.array([2, -1])).numpy().tolist() == [4.0, 6.0] and compiled.native == "ready"
    for wrong in ([0, 4], [-5, 0]):
        with pytest.raises(IndexError):
            compiled(x, table, np.array(wrong))


def test_threads_have_memory_of_their_own():
    compiled = in_c(lambda x: gs.tanh(x * 2).cumsum(0) + x)
    inputs = [rng(n).normal(size=50) for n in range(40)]
    wanted = [leaves(compiled.function(gs.asarray(x)))[0] for x in inputs]
    compiled(inputs[0])
    with ThreadPoolExecutor(4) as pool:
        for a, b in zip(pool.map(compiled, inputs * 5), wanted * 5):
            close([a.numpy()], [b])


# Where a build is missing.


def test_a_build_in_the_background():
    compiled = gs.compile(lambda x: gs.sin(x) * 17 + x, backend="c", recheck=False)
    assert compiled.native is None
    x = rng().normal(size=4)
    wanted = compiled(x).numpy()
    assert waited(compiled) == "ready"
    close([compiled(x).numpy()], [wanted])
    assert gs.compile(lambda x: x, backend=None).native is None
    with pytest.raises(ValueError, match="backend is 'llvm'"):
        gs.compile(lambda x: x, backend="llvm")


def test_the_backend_that_is_the_function_itself():
    def function(x):
        return x * 2

    out = gs.zeros(2)
    assert gs.compile(function, backend="eager") is gs.compile(backend="eager")(function) is function
    assert gs.compile(function, backend="eager", out="into")(gs.ones(2), into=out) is out and out.tolist() == [2, 2]


@pytest.mark.parametrize("compiler, reason", [
    ("/nowhere/cc", "no C compiler '/nowhere/cc'"), ("false", "false fails"), ("true", "true fails"), ("cc '", "No closing quotation"),
])  # fmt: skip
def test_without_a_compiler_calls_are_replayed(monkeypatch, compiler, reason):
    monkeypatch.setenv("CC", compiler)
    x = rng().normal(size=4)
    compiled = gs.compile(lambda x: gs.cos(x) * 23, backend="c", recheck=False)
    for _ in range(3):
        assert same(compiled(x).numpy(), gs.cos(gs.asarray(x)).numpy() * 23)
    assert reason in waited(compiled)
    with pytest.raises(RuntimeError, match=reason):
        in_c(lambda x: gs.cos(x) * 23)(x)


def test_what_has_no_c_is_replayed():
    for function, reason in [
        (lambda x: gs.linalg.svdvals(x) * 2, "svd at test_machine_code.py:[0-9]+ cannot be written as C"),
        (lambda x: gs.real(x * 1j), "complex"), (lambda x: gs.tile(x, (99, 99)) * 2, "as fast in the replay"),
        (lambda x: x + gs.random.randn(3, 3), "cannot be written as C"),
    ]:  # fmt: skip
        compiled = gs.compile(function, backend="c", recheck=False)
        x = rng().normal(size=(3, 3))
        for _ in range(3):
            gs.manual_seed(0)
            found = leaves(compiled(x))
            gs.manual_seed(0)
            assert all(map(same, found, leaves(function(gs.asarray(x)))))
        assert re.search(reason, waited(compiled))


def test_methods_and_copies_keep_the_backend():
    class Model:
        gain = 3.0

        @gs.compile(backend="c", strict=True)
        def run(self, x):
            return x * self.gain

    model = Model()
    assert model.run(np.ones(3)).numpy().tolist() == [3.0] * 3 and model.run.native == "ready"


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_compiler_is_the_machines(monkeypatch, blank):
    monkeypatch.setenv("CC", blank)
    assert in_c(lambda x: x * 29 + 1)(np.ones(3)).numpy().tolist() == [30.0] * 3


# The cache.


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """The number of times that a compiler runs, and a cache for one test."""
    log, script = tmp_path / "log", tmp_path / "cc"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) ;; *-dM*) ;; *) echo run >> {log} ;; esac\nexec {COMPILERS[0]} "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(shared_objects, "loaded", {})
    return lambda: len(log.read_text().split()) if log.exists() else 0


def test_what_was_built_is_found_again(counted, tmp_path):
    for _ in range(3):
        in_c(lambda x: x * 31 + 1)(np.ones(3))
    assert counted() == 1
    program = ("import gradspec as gs, numpy as np; f = gs.compile(lambda x: x * 31 + 1, backend='c', strict=True); "
               "f(np.ones(3)); print(f(np.ones(3)).numpy(), f.native)")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[32. 32. 32.] ready\n" and counted() == 1
    in_c(lambda x: x * 32 + 1)(np.ones(3))
    assert counted() == 2 and len(list((tmp_path / "gradspec").iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", None])
def test_a_damaged_file_is_built_again(counted, tmp_path, damage):
    def call():
        shared_objects.loaded.clear()
        assert in_c(lambda x: x * 37 + 1)(np.ones(3)).numpy().tolist() == [38.0] * 3

    call()
    (path,) = (tmp_path / "gradspec").iterdir()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()  # this process has it mapped
    path.write_bytes(bytes(data) if damage is None else damage)
    call()
    assert counted() == 2 and shared_objects.whole(path) and len(list((tmp_path / "gradspec").iterdir())) == 1


def test_a_file_that_does_not_load_is_built_again_once(counted, tmp_path, monkeypatch):
    in_c(lambda x: x * 59 + 1)(np.ones(3))
    (path,) = (tmp_path / "gradspec").iterdir()
    path.unlink()
    data = b"of another processor"
    path.with_name(f"{path.stem.partition('-')[0]}-{shared_objects.digest(data)}.so").write_bytes(data)
    shared_objects.loaded.clear()
    assert in_c(lambda x: x * 59 + 1)(np.ones(3)).numpy().tolist() == [60.0] * 3
    assert counted() == 2 and list((tmp_path / "gradspec").iterdir()) == [path]
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = -o ] && echo no library > $2; shift; done\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="c: .*(file too short|invalid ELF header)"):
            in_c(lambda x: x * 59 + 1)(np.ones(3))


def test_the_folder_is_the_users_alone(counted, tmp_path):
    in_c(lambda x: x * 41)(np.ones(3))
    folder = tmp_path / "gradspec"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o770)
    with pytest.raises(RuntimeError, match="not the user's alone"):
        in_c(lambda x: x * 41)(np.ones(3))
    folder.rename(tmp_path / "other")
    folder.symlink_to(tmp_path / "other")
    with pytest.raises(RuntimeError, match="not the user's alone"):
        in_c(lambda x: x * 41)(np.ones(3))
    folder.unlink()
    folder.write_text("")
    with pytest.raises(RuntimeError, match="c: .*gradspec"):
        in_c(lambda x: x * 41)(np.ones(3))


def test_old_files_are_removed(counted, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_objects, "KEPT", 2)
    (tmp_path / "gradspec").mkdir(mode=0o700)
    left = tmp_path / "gradspec" / "tmpleft"
    left.mkdir()
    os.utime(left, (0, 0))
    for number in range(5):
        in_c(lambda x, n=number: x * (n + 50))(np.ones(3))
    assert len(list((tmp_path / "gradspec").iterdir())) == 3 and not left.exists()


def test_a_fork_while_something_is_built():
    """The child has no such thread, and waits for none of its locks."""
    compiled = gs.compile(gs.grad(network), backend="c", recheck=False)
    inputs = network_inputs(0)
    compiled(*inputs)
    child = os.fork()
    if not child:
        compiled(*inputs)
        later = gs.compile(lambda x: x * 43, backend="c", recheck=False)
        later(np.ones(3))
        os._exit(0 if waited(later) == "ready" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert waited(compiled) == "ready"


@pytest.mark.parametrize("function", [lambda x: x**2 < 0, lambda x: gs.where(x**2 >= 0, 1, 0), lambda x: (x**2 - x**2 * 2) <= 0])
def test_integers_wrap_around_in_comparisons_too(function):
    """The square of a signed integer that is too large is undefined in C, and a compiler may believe that it is positive."""
    for x in (np.array([3037000500, 3, -(2**32)]), np.array([46341, 3, -(2**16)], np.int32)):
        compiled = gs.compile(function, backend="c", strict=True)
        expected = function(gs.asarray(x)).numpy()
        for _ in range(3):
            np.testing.assert_array_equal(compiled(x).numpy(), expected)
