"""NumPy's protocols: what a call of NumPy's on tensors may say beside operands, what is refused, and what is said of it."""

import copy
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from tests.asked import each


def leaf(*values):
    return gs.tensor(list(values), requires_grad=True)


def same(tensor, values):
    np.testing.assert_allclose(tensor.detach().numpy(), values)


class TestOut:
    def test_an_array_takes_what_has_no_history(self):
        position, gradient = np.ones(2), gs.tensor([0.5, 1.0])
        position += 0.1 * gradient
        assert type(position) is np.ndarray and position.tolist() == [1.05, 1.1]
        with gs.no_grad():
            assert np.exp(leaf(0.0, 0.0), out=position) is position and position.tolist() == [1.0, 1.0]

    def test_an_array_cannot_hold_a_history(self):
        position = np.ones(2)
        for write in (lambda a, x: a.__iadd__(x), lambda a, x: np.exp(x, out=a), lambda a, x: np.sum(x, 0, keepdims=True, out=a[:1]),
                      lambda a, x: np.copyto(a, x), lambda a, x: np.add.at(a, [0, 0], x)):  # fmt: skip
            with pytest.raises(TypeError, match=r"^np\.\w.*: what is computed from tensors has a gradient.* gradspec.asarray\(a\)"):
                write(position, leaf(1.0, 2.0))
        assert position.tolist() == [1.0, 1.0]

    def test_nor_a_tangent(self):
        with dual_level():
            with pytest.raises(TypeError, match="cannot hold"):
                np.exp(make_dual(gs.tensor([1.0]), gs.tensor([1.0])), out=np.ones(1))

    def test_a_tensor_is_written_to_and_recorded(self):
        x = leaf(1.0, 2.0)
        out = x * 0
        assert np.multiply(x, x, out=out) is out
        out.sum().backward()
        same(x.grad, [2.0, 4.0])

    def test_shape_and_dtype_of_out(self):
        with pytest.raises(ValueError, match=r"out has shape \(3,\), the result \(2,\)"):
            np.exp(gs.ones(2), out=gs.ones(3))
        with pytest.raises(TypeError, match="cannot cast the result from float64 to int64"):
            np.exp(gs.ones(2), out=gs.ones(2, dtype=int))


class TestWhere:
    def test_nothing_is_computed_of_the_others(self):
        x = leaf(4.0, 0.0, -1.0)
        y = np.sqrt(x, where=np.array([True, False, False]), out=np.zeros_like(x))
        y.sum().backward()
        same(y, [2.0, 0.0, 0.0])
        same(x.grad, [0.25, 0.0, 0.0])

    def test_without_out_elements_are_undefined(self):
        with pytest.raises(TypeError, match=r"np.sqrt: where= without out="):
            np.sqrt(leaf(1.0), where=np.array([True]))

    @pytest.mark.parametrize("name", ["sum", "prod", "mean", "std", "var"])
    def test_reductions(self, name):
        x, mask = np.arange(12.0).reshape(3, 4) ** 2, np.arange(12).reshape(3, 4) % 3 != 1
        function = getattr(np, name)
        np.testing.assert_allclose(function(gs.tensor(x), axis=1, where=mask).numpy(), function(x, axis=1, where=mask))
        assert function(gs.tensor(x, requires_grad=True), axis=1, where=gs.tensor(mask)).requires_grad

    def test_a_maximum_has_no_identity(self):
        x = leaf(1.0, 5.0)
        with pytest.raises(ValueError, match="np.max: has no identity"):
            np.max(x, where=[True, False])
        y = np.max(x, where=[True, False], initial=0.0)
        y.backward()
        same(x.grad, [1.0, 0.0])


class TestMethods:
    """Of universal functions."""

    X = np.array([[1.0, 3.0, 2.0], [4.0, 0.5, 5.0]])

    @each("name", ["add", "multiply", "maximum", "minimum", "subtract", "divide", "logaddexp", "hypot"])
    @each("method", ["reduce", "accumulate", "reduceat", "outer", "at"])
    def test_as_on_arrays(self, name, method):
        arguments = {"outer": (np.array([2.0, 1.0]),), "reduceat": ([0, 1, 1], 1), "at": ([1, 1, 0], self.X[0])}.get(method, (1,))
        call = getattr(getattr(np, name), method)
        array, x = self.X.copy(), gs.tensor(self.X, requires_grad=True)
        tensor = x * 1
        wanted, found = call(array, *arguments), call(tensor, *arguments)
        wanted, found = (array, tensor) if method == "at" else (wanted, found)
        same(found, wanted)
        found.sum().backward()
        assert np.isfinite(x.grad.numpy()).all() and x.grad.numpy().any()

    def test_the_gradient_of_repeated_writes(self):
        x, v = gs.tensor([1.0, 1.0], requires_grad=True), leaf(2.0, 3.0)
        y = x * 1
        np.multiply.at(y, [0, 0], v)
        y.sum().backward()
        same(x.grad, [6.0, 1.0])
        same(v.grad, [3.0, 2.0])

    def test_keywords_of_reduce(self):
        x = gs.tensor(self.X, requires_grad=True)
        same(np.add.reduce(x, axis=None, keepdims=True, initial=1.0), np.add.reduce(self.X, axis=None, keepdims=True, initial=1.0))
        same(np.subtract.reduce(x, axis=1, keepdims=True), np.subtract.reduce(self.X, axis=1, keepdims=True))


def test_comparisons_of_whole_arrays_are_tensors():
    """`bool()`, `if` and `assert` read them, and so do vmap and compiled functions, which have no number yet."""
    x, y = leaf(1.0, 2.0), gs.tensor([1.0, 2.0 + 1e-12])
    for compare in (np.allclose, np.array_equal, gs.allclose, gs.array_equal):
        found = compare(x, x)
        assert type(found) is gs.Tensor and found.shape == () and found.dtype == bool and bool(found) is True
        assert not compare(x, x + 1)
    assert np.allclose(x, y) and not np.array_equal(x, y)
    rows = gs.asarray([[1.0, 2.0], [1.0, 3.0]])
    assert gs.vmap(lambda row: np.allclose(row, gs.tensor([1.0, 2.0])))(rows).tolist() == [True, False]


class TestWhatHasNoOperator:
    def test_values_where_nothing_is_lost(self):
        x = gs.tensor([3.0, 1.0])
        assert np.histogram(x, 2)[0].tolist() == [1, 1] and np.spacing(x).shape == (2,)
        with gs.no_grad():
            assert type(np.spacing(leaf(1.0))) is np.ndarray

    def test_integers_lose_nothing(self):
        x = leaf(3.0, 1.0, 0.0)
        assert np.argpartition(x, 0).tolist()[0] == 2 and np.lexsort((x,)).tolist() == [2, 1, 0]
        assert np.shape(x) == (3,) and np.ndim(x) == 1 and np.result_type(x, 1) == np.float64

    def test_refused_by_name_with_a_way_out(self):
        x = leaf(1.0)
        with pytest.raises(TypeError, match=r"^np.spacing: gradspec has no operator .* gs.autograd.Function"):
            np.spacing(x)
        with pytest.raises(TypeError, match=r"^np.sort_complex: gradspec has no operator"):
            np.sort_complex(leaf(1.0, 2.0, 3.0))
        with dual_level(), pytest.raises(TypeError, match="np.spacing"):
            np.spacing(make_dual(gs.tensor([1.0]), gs.tensor([1.0])))

    def test_nothing_writes_behind_the_back_of_a_tensor(self):
        x, array = gs.tensor([3.0, 1.0]), np.zeros(2)
        with pytest.raises(TypeError):
            np.spacing(x, out=x)
        with pytest.raises(TypeError, match="np.spacing: gradspec has no operator for it, and it writes into its argument"):
            np.spacing(leaf(1.0, 2.0), out=array)
        assert x.tolist() == [3.0, 1.0] and x._version == 0 and array.tolist() == [0.0, 0.0]


class TestWrites:
    """Functions that write into their first argument."""

    X = np.arange(9.0).reshape(3, 3)
    CALLS = [
        lambda a, v: np.put(a, [1, 7], v), lambda a, v: np.put(a, [1, 10], v, mode="wrap"), lambda a, v: np.place(a, np.eye(3) > 0, v),
        lambda a, v: np.putmask(a, np.eye(3) > 0, v), lambda a, v: np.fill_diagonal(a, v), lambda a, v: np.copyto(a, v, where=np.eye(3) > 0),
        lambda a, v: np.put_along_axis(a, np.array([[0, 1, 2]]), v, axis=0), lambda a, v: np.put_along_axis(a, np.array([0, 4, 8]), v, axis=None),
    ]

    @pytest.mark.parametrize("write", CALLS)
    def test_recorded(self, write):
        v, array = leaf(5.0, 6.0, 7.0), self.X.copy()
        x = gs.tensor(self.X, requires_grad=True)
        y = x * 1
        write(y, v)
        write(array, v.detach().numpy())
        same(y, array)
        (y * self.X).sum().backward()
        same(x.grad, np.where(array == self.X, self.X, 0))
        np.testing.assert_allclose(v.grad.numpy(), [self.X[array == value].sum() for value in (5.0, 6.0, 7.0)] - np.array([5.0, 6.0, 7.0]) * [
            (self.X == value)[array == value].sum() for value in (5.0, 6.0, 7.0)])

    @pytest.mark.parametrize("write", CALLS)
    def test_an_array_takes_no_history(self, write):
        array = self.X.copy()
        with pytest.raises((TypeError, RuntimeError), match="cannot hold|lose the history"):
            write(array, leaf(5.0, 6.0, 7.0))
        assert array.tolist() == self.X.tolist()
        wanted = self.X.copy()
        write(array, gs.tensor([5.0, 6.0, 7.0]))
        write(wanted, np.array([5.0, 6.0, 7.0]))
        assert array.tolist() == wanted.tolist()

    def test_a_function_of_slices(self):
        x = gs.tensor(self.X, requires_grad=True)
        same(np.apply_along_axis(lambda row: row * row[0], 0, x), np.apply_along_axis(lambda row: row * row[0], 0, self.X))
        np.apply_along_axis(np.sum, 1, x)[0].backward()
        same(x.grad, [[1.0] * 3, [0.0] * 3, [0.0] * 3])


class TestRefusals:

    def test_parameters_without_a_counterpart(self):
        for call in (lambda x: np.nan_to_num(x, copy=False), lambda x: np.sort(x, order="a")):
            with pytest.raises(TypeError, match=r"^np\.\w+: \w+=.* has no counterpart in gradspec\.\w+"):
                call(leaf(1.0, 2.0))

    @pytest.mark.parametrize("value", [np.ma.masked_array([1.0, 2.0], [True, False]), np.ones((2, 2)).view(np.matrix)])
    def test_subclasses_that_mean_something_else(self, value):
        for call in (lambda x: np.multiply(value, x), lambda x: x * value, lambda x: np.dot(value, x)):
            with pytest.raises((TypeError, RuntimeError)):
                call(leaf(1.0, 2.0))


class TestForwardMode:
    def test_tangents_pass_through_numpy(self):
        with dual_level():
            x = make_dual(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 0.0]))
            y = np.sum(np.stack([np.exp(x), np.multiply(2.0, x)]), axis=0)
            np.testing.assert_allclose(unpack_dual(y).tangent.numpy(), [np.e + 2, 0.0])


class TestNumbers:
    """What makes a plain number of a tensor without saying so warns, once for each line of the user's."""

    @pytest.mark.parametrize("convert", [float, int, complex, math.sin, np.float64, lambda x: np.zeros(1).__setitem__(0, x)])
    def test_of_what_requires_grad(self, convert):
        with pytest.warns(UserWarning, match=r"of a tensor that requires grad is a plain number.*x\.item\(\).*on the left") as caught:
            convert(gs.tensor(2.5, requires_grad=True))
        assert {w.filename for w in caught} == {__file__}

    def test_of_what_has_a_tangent(self):
        with dual_level(), pytest.warns(UserWarning, match="carries a tangent"):
            float(make_dual(gs.tensor(2.5), gs.tensor(1.0)))

    def test_once_a_line(self):
        x = gs.tensor(2.5, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for _ in range(3):
                float(x)
            float(x)
        assert len(caught) == 2

    def test_silent_where_nothing_is_lost_or_where_it_is_said(self):
        x = gs.tensor(2.5, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            float(x.detach()), x.item(), x.tolist(), f"{x:.2f}", str(x), bool(x), [0, 1, 2][gs.tensor(2)]
            with gs.no_grad():
                float(x), math.sin(x), complex(x)

    def test_a_loop_over_an_array_warns(self):
        p, y = gs.tensor(0.9, requires_grad=True), np.zeros(4)
        y[0] = 1
        with pytest.warns(UserWarning, match="a tensor in the place of an ndarray"):
            for i in range(3):
                y[i + 1] = y[i] * p

    def test_arrays_are_refused_with_the_line(self):
        x = leaf(1.0)
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad: .*`np.mean\(\[x, x\]\)`.*write gs.mean"):
            np.mean([x, x])


def test_lists_of_tensors_are_stacked():
    x = leaf(1.0, 2.0)
    for y in (gs.asarray([x[0], x[1]]), gs.asarray([[x[0], 3.0], [x[1], x[0]]]), gs.asarray((x, x), dtype="float32"), np.stack([x, x])):
        assert y.requires_grad
    same(gs.asarray([[x[0], 3.0], [x[1], x[0]]]), [[1.0, 3.0], [2.0, 1.0]])


def test_named_results():
    matrix = gs.tensor(np.eye(3) + 1, requires_grad=True)
    assert np.linalg.eigh(matrix).eigenvalues.requires_grad and np.linalg.slogdet(matrix).logabsdet.requires_grad
    assert np.linalg.svd(matrix, full_matrices=False).S.requires_grad and np.linalg.qr(matrix).Q.requires_grad


def test_what_the_operator_cannot_is_done_on_values_where_nothing_is_lost():
    x = gs.ones((2, 3))
    assert np.linalg.svd(x).Vh.shape == (3, 3) and np.ones_like(x, shape=(4,)).shape == (4,) and np.linalg.qr(x.T, "complete")[0].shape == (3, 3)
    with pytest.raises(ValueError, match="^svd: the vectors that full_matrices=True adds have no derivative"):
        np.linalg.svd(gs.tensor(np.ones((2, 3)), requires_grad=True))


def test_operands_by_name_in_any_order():
    x = leaf(1.0, 4.0)
    same(np.std(ddof=1, axis=0, a=x), 3 / np.sqrt(2))
    same(np.sum(axis=0, dtype=np.float32, a=x), 5.0)
    same(np.take(mode="wrap", indices=[3], a=x), [4.0])


class TestNumpysParametersOfMethods:
    """A method takes the parameters of NumPy's function of its name."""

    X = np.arange(12.0).reshape(3, 4) ** 2

    @each(
        "call",
        [
            "sum(axis=0, dtype='float32')", "sum(initial=2.0)", "sum(axis=1, where=m)", "mean(where=m)", "std(ddof=1)", "std(axis=1, ddof=1, keepdims=True)",
            "var(axis=0, ddof=1)", "max(axis=0, initial=5.0)", "min(initial=5.0, where=m)", "prod(axis=1, dtype=float)", "clip(1.0, 5.0)", "ravel(order='F')",
            "copy(order='C')", "astype(float, copy=False)", "take([5, 1], axis=1, mode='wrap')", "trace(offset=1, dtype=float)", "argmax(axis=1)",
        ],
    )
    def test_as_on_arrays(self, call):
        mask = np.arange(12).reshape(3, 4) % 3 != 1
        wanted = eval(f"x.{call}", {"x": self.X, "m": mask})
        found = eval(f"x.{call}", {"x": gs.tensor(self.X, requires_grad=True), "m": mask})
        same(found, wanted)
        assert found.dtype == wanted.dtype and found.requires_grad == (wanted.dtype.kind == "f")

    def test_out_and_refusals(self):
        out = np.zeros(4)
        assert gs.tensor(self.X).sum(axis=0, out=out) is out and out.tolist() == self.X.sum(0).tolist()
        with pytest.raises(TypeError, match="np.std: mean=.* has no counterpart in gradspec.std"):
            leaf(1.0, 2.0).std(mean=1.5)


def test_format():
    assert f"{gs.tensor([1.234, 2.0]):.1f}" == "[1.2, 2.0]" and f"{gs.tensor(2.0):.2f}" == "2.00" and f"{gs.ones(1)}" == "tensor([1.])"
    assert f"{leaf(1.0, 2.0):.1f}" == "[1.0, 2.0]" and round(leaf(1.26), 1).tolist() == [1.3] and round(gs.tensor(1.6)).item() == 2


def test_divmod_and_copy():
    x = gs.tensor(2.5, requires_grad=True)
    whole, rest = divmod(x * 3, 2.0)
    assert (whole.item(), rest.item()) == (3.0, 1.5)
    assert [part.item() for part in divmod(7.0, x)] == [2.0, 2.0]
    y = copy.copy(x * 2)
    y.backward()
    assert x.grad.item() == 2.0 and copy.copy(x).requires_grad


def test_like():
    x = gs.ones(2)
    assert isinstance(np.asarray([1.0], like=x), gs.Tensor) and isinstance(np.zeros(3, like=x), gs.Tensor)


LIBRARY = """
import numpy as np
def plot(values): return np.asarray(values)
def label(value): return f"{float(value):.1f}"
"""


@pytest.mark.parametrize("ask", ["plot(x * 2)", "label(x[0] * 2)"])
def test_what_leaves_for_a_picture_or_a_file_goes_with_a_warning(ask):
    """A library that only shows or stores what it gets, and one that may compute with it."""
    x = leaf(1.0, 2.0)
    for name, shows in [("matplotlib.axes", True), ("h5py", True), ("another", False)]:
        library = {"__name__": name}
        exec(compile(LIBRARY, f"/somewhere/{name}.py", "exec"), library)
        if shows:
            with pytest.warns(UserWarning, match=rf"{name.partition('.')[0]} gets the values .* without the history; x\.detach\(\) says") as caught:
                found = eval(ask, library | {"x": x})
            assert len(caught) == 1 and str(found) in ("2.0", "[2. 4.]")
        elif ask.startswith("plot"):
            with pytest.raises(RuntimeError, match=r"x\.detach\(\) has the values alone"):
                eval(ask, library | {"x": x})
        else:
            with pytest.warns(UserWarning, match="is a plain number"):
                eval(ask, library | {"x": x})


def test_a_plot_names_the_users_line_and_is_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    x = leaf(1.0, 2.0)
    losses = [(x * i).sum() for i in range(3)]
    for draw in (lambda: pyplot.plot(losses), lambda: pyplot.plot(x, x * 2), lambda: pyplot.hist(x), lambda: pyplot.imshow(gs.outer(x, x))):
        with pytest.warns(UserWarning, match="matplotlib gets the values") as caught:
            draw()
        assert {Path(warning.filename).name for warning in caught} == {"test_numpy_protocol.py"}
    assert pyplot.gca().lines[0].get_ydata().tolist() == [0.0, 3.0, 6.0]
    pyplot.close()


@each("settings", [
    {"mode": "mean"}, {"mode": "maximum"}, {"mode": "minimum"}, {"mode": "median"}, {"mode": "linear_ramp"},
    {"mode": "mean", "stat_length": 2}, {"mode": "maximum", "stat_length": ((2, 9), (1, 3))}, {"mode": "minimum", "stat_length": (3, 2)},
    {"mode": "linear_ramp", "end_values": 2.5}, {"mode": "linear_ramp", "end_values": ((1, -1), (0, 4))},
], ids=str)  # fmt: skip
def test_padding_with_what_stands_in_the_array(settings):
    x = np.random.default_rng(0).normal(size=(4, 5))
    weights = np.random.default_rng(1).normal(size=(30, 30))
    for width in (0, 2, (3, 0), ((0, 2), (1, 3))):
        leaf = gs.tensor(x, requires_grad=True)
        padded, expected = np.pad(leaf, width, **settings), np.pad(x, width, **settings)
        np.testing.assert_allclose(padded.detach().numpy(), expected, rtol=1e-13, atol=1e-15)
        w = weights[tuple(map(slice, expected.shape))]
        (padded * w).sum().backward()
        for place in np.ndindex(x.shape):  # linear where no order changes
            step = np.zeros_like(x)
            step[place] = 1e-6
            change = ((np.pad(x + step, width, **settings) - np.pad(x - step, width, **settings)) * w).sum() / 2e-6
            np.testing.assert_allclose(leaf.grad[place].item(), change, rtol=1e-6, atol=1e-6)


def test_padding_keeps_single_precision_and_refuses_what_it_does_not_know():
    x = gs.ones((3,), dtype=np.float32, requires_grad=True)
    for mode in ("mean", "maximum", "linear_ramp", "edge", "constant"):
        assert np.pad(x, 1, mode).dtype == np.float32
    with pytest.raises(TypeError, match="np.pad"):
        np.pad(x, 1, "reflect", reflect_type="odd")
    assert np.pad(gs.tensor([1, 2, 4]), 1, "mean").tolist() == np.pad([1, 2, 4], 1, "mean").tolist()


def test_functions_that_ask_for_the_form_alone_read_no_number():
    """So they answer of a row of a vmap, which has none, and are no branch of a compiled function."""
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 3, 4))
    by_values = {"min_scalar_type"}  # of an array without axes
    asked = []
    for name in sorted(set(dir(np)) - by_values):
        function = getattr(np, name)
        if not hasattr(function, "_implementation"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answers = [function(x) for x in (first, second, first[:1])]
            except (TypeError, ValueError, AttributeError, np.exceptions.AxisError):
                continue
        kinds = (int, bool, tuple, type, np.dtype)
        if not all(isinstance(answer, kinds) for answer in answers) or repr(answers[0]) != repr(answers[1]) or "array" in repr(answers):
            continue
        asked.append(name)
        rows = []

        def remembered(row):
            rows.append(function(row))  # noqa: B023
            return row * 1

        gs.vmap(remembered)(gs.asarray(first))
        assert rows == [function(first[0])], name
        compiled = gs.compile(lambda x: x * len(repr(function(x))), strict=True)  # noqa: B023
        for x in (first, second, first + 1, second + 1):
            compiled(gs.asarray(x))
        assert len(compiled.signatures) == 1
    assert {"ndim", "shape", "size", "iscomplexobj", "isrealobj"} <= set(asked), asked
