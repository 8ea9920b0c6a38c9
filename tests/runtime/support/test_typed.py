"""What people type: spellings of PyTorch and NumPy that work, and what the others are answered with."""

import copy
import inspect
import pickle
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import gradspec as gs
from gradspec.generated.op_info import OPS
from gradspec.support.error_hints import answering
from tests.asked import each

X = np.arange(1.0, 7.0).reshape(2, 3) / 4


def functions():
    """Every public function, with the names of its arguments."""
    for op in OPS:
        if "function" in op.variants and not op.name.startswith("_"):
            namespace = getattr(gs, f"_{op.namespace}", None) or getattr(gs, op.namespace) if op.namespace else gs
            function = getattr(namespace, op.name)
            yield pytest.param(function, [name for name, *_ in op.arguments], id=op.name)


@each(("function", "names"), list(functions()))
def test_a_misspelt_keyword_is_answered_with_the_nearest(function, names):
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        with pytest.raises(TypeError, match=f"{function.__name__}: expected ints or .*=..., got the keywords"):
            function(2, sahpe=3)
        return
    required = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    for name in [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]:
        with pytest.raises(TypeError, match="unexpected keyword argument") as caught:
            function(*[1.0] * len(required), **{f"{name}_{name[-1]}": 1})
        assert f"did you mean '{name}'?" in str(caught.value) or len(name) == 1


SAID = [
    (lambda x: gs.sum(self=x), "'self'; write the array, or the arrays, as the first argument"),
    (lambda x: gs.multiply(x, x, alpha=2), r"'alpha'; write alpha \* b for the second argument b"),
    (lambda x: gs.pad(x, 1, mod="edge"), "did you mean 'mode'"),
    (lambda x: gs.tensor(X, device="cuda"), "'device'; write nothing: every tensor is in memory"),
    (lambda x: gs.arange(3, device="cuda"), "'device'; write nothing: every tensor is in memory"),
    (lambda x: gs.zeros(2, device="cuda"), "got the keywords device as well as ints; write nothing: every tensor is in memory"),
    (lambda x: gs.exp(x, inplace=True), r"'inplace'; write the name with a final underscore"),
    (lambda x: gs.where(x > 1), r"\(1 given\); write nonzero\(mask\)"),
]


@pytest.mark.parametrize(("call", "says"), SAID, ids=[says for _, says in SAID])
def test_keywords_of_other_libraries_are_answered(call, says):
    with pytest.raises(TypeError, match=says):
        call(gs.asarray(X))


def test_calls_with_too_much():
    x = gs.asarray(X)
    for name in ("max_pool2d", "adaptive_max_pool3d"):
        with pytest.raises(TypeError, match=f"'return_indices'; write {name}_with_indices"):
            getattr(gs.nn, name)(x, 2, return_indices=True)
    with pytest.raises(TypeError, match=r"'foo'; its arguments are x, axis"):
        gs.mean(x, foo=1)
    with pytest.raises(TypeError, match=r"positional arguments? \(4 given\); its arguments are x, axis"):
        gs.logsumexp(x, 0, True, 3)


SHAPES = {"ints": ((2, 3), {}), "a tuple": (((2, 3),), {}), "a list": (([2, 3],), {}), "a keyword": ((), {"shape": (2, 3)})}


@each("name", ["zeros", "ones", "empty", "randn"])
@each("given", SHAPES)
def test_shapes_as_ints_or_as_a_tuple(name, given):
    ints, keyword = SHAPES[given]
    x = getattr(gs, name)(*ints, dtype=np.float32, requires_grad=True, **keyword)
    assert x.shape == (2, 3) and x.dtype == np.float32 and x.requires_grad
    assert getattr(gs, name)(4).shape == (4,) and getattr(gs, name)(()).shape == ()


@pytest.mark.parametrize(("name", "dtype"), [("float", "f4"), ("double", "f8"), ("half", "f2"), ("int", "i4"), ("long", "i8"), ("bool", "?")])
def test_dtypes_as_methods(name, dtype):
    x = gs.tensor(X, requires_grad=True)
    y = getattr(x, name)()
    assert y.dtype == dtype and np.array_equal(y.detach(), X.astype(dtype)) and y.requires_grad == (y.dtype.kind == "f")
    if y.requires_grad:
        y.sum().backward()
        assert np.array_equal(x.grad, np.ones((2, 3)))


def test_conjugate_transposes():
    z = gs.asarray(X + 1j)
    assert np.array_equal(z.mH, (X + 1j).conj().T) and np.array_equal(z.adjoint(), z.mH) and np.array_equal(gs.mH(z), z.mH)


@pytest.mark.parametrize("other", [2.0, X[0], gs.asarray(X + 0.1)])
def test_round_and_divmod(other):
    x = gs.tensor(X, requires_grad=True)
    assert np.array_equal(round(x).detach(), np.round(X)) and np.array_equal(round(x, 1).detach(), np.round(X, 1))
    quotient, rest = divmod(x, other)
    assert np.array_equal(quotient.detach(), X // np.asarray(other)) and np.array_equal(rest.detach(), X % np.asarray(other))
    rest.sum().backward()
    assert np.array_equal(x.grad, np.ones((2, 3)))
    if not isinstance(other, np.ndarray):
        quotient, rest = divmod(other, x)
        assert np.allclose((quotient * x + rest).detach(), np.broadcast_to(np.asarray(other), (2, 3)))


def test_size_is_a_number_and_is_called():
    x = gs.asarray(X)
    assert x.size == 6 and isinstance(x.size, int) and type(x.size + 0) is int and repr(x.size) == "6"
    assert type(pickle.loads(pickle.dumps(x.size))) is int
    assert x.size() == x.shape == (2, 3) and x.size(0) == 2 and x.size(dim=-1) == 3 and gs.ones(()).size() == ()
    with pytest.raises(IndexError):
        x.size(2)


@pytest.mark.parametrize(("name", "answer"), [
    ("summ", "did you mean 'sum'"), ("requires_gradd", "did you mean 'requires_grad'"),
    ("fill", r"write x\.fill_\(value\)"), ("cuda", "write nothing: every tensor is in memory"),
])  # fmt: skip
def test_a_missing_attribute_is_answered(name, answer):
    x = gs.asarray(X)
    with pytest.raises(AttributeError, match=f"^'Tensor' object has no attribute '{name}'; {answer}"):
        getattr(x, name)
    assert not hasattr(x, name) and getattr(x, name, 1) == 1
    error = pytest.raises(AttributeError, getattr, x, name).value
    assert type(error).__name__ == "AttributeError" and str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(("line", "near"), [("gs.sqrtt", "sqrt"), ("gs.nn.relo", "relu"), ("gs.linalg.cholesk", "cholesky"), ("gs.optim.Adan", "Adam")])
def test_a_missing_name_of_a_module_is_answered(line, near):
    found = subprocess.run([sys.executable, "-c", f"import gradspec as gs; {line}"], capture_output=True, text=True)
    assert f"has no attribute '{line.rpartition('.')[2]}'; did you mean '{near}'?" in found.stderr


def test_activations_are_in_both_places():
    both = [op.name for op in OPS if op.family == "activations" and not op.name.startswith("_")]
    assert len(both) > 15
    assert [name for name in both if getattr(gs, name, 0) is not getattr(gs.nn, name, 1)] == []


def test_copies():
    x = gs.tensor(X, requires_grad=True)
    y = copy.copy(x)
    assert y.is_leaf and y.requires_grad and not np.shares_memory(y.detach().numpy(), x.detach().numpy())
    z = copy.copy(x * 2)
    z.sum().backward()
    assert np.array_equal(x.grad, np.full((2, 3), 2.0)) and y.grad is None


def test_notebooks_show_values_shape_and_dtype():
    html = (gs.tensor(X, requires_grad=True) < 1)._repr_html_()
    assert "2&times;3 bool" in html and "True,  True" in html
    assert "grad_fn=&lt;MultiplyBackward&gt;" in (gs.tensor(X, requires_grad=True) * 2)._repr_html_()


@pytest.mark.parametrize(
    "tensor, shown",
    [
        (gs.tensor(1.5), "Tensor number float64</small><pre>tensor(1.5)"),
        (gs.zeros((0, 3)), "Tensor 0&times;3 float64</small><pre>tensor([], shape=(0, 3))"),
        (gs.zeros((2000, 2000)), "2000&times;2000 float64</small><pre>tensor([[0., 0., 0., ..., 0., 0., 0.],"),
        (gs.tensor([1 + 2j]), "Tensor 1 complex128</small><pre>tensor([1.+2.j], dtype=complex128)"),
        (gs.tensor([1.0], requires_grad=True), "tensor([1.], requires_grad=True)"),
        (gs.nn.Parameter(gs.ones(2)), "Parameter containing:\ntensor([1., 1.], requires_grad=True)"),
    ],
)
def test_notebooks_show_any_tensor(tensor, shown):
    html = tensor._repr_html_()
    assert shown in html and len(html) < 1000
    ElementTree.fromstring(html.replace("&times;", " by "))



SEVERAL = [op for op in OPS if len([name for name, *_ in op.outputs if not name.startswith("_")]) > 1 and not op.name.startswith("_")]


CALLS = {  # of those that take more than a matrix and numbers
    "lstm_cell": lambda f, a: f(a, (a, a), gs.ones((8, 2)), gs.ones((8, 2))),
    "lstsq": lambda f, a: f(a, a),
    "lu_unpack": lambda f, a: f(*gs.linalg.lu_factor(a)),
    "polydiv": lambda f, a: f(a[0], a[1]),
    "std_mean": lambda f, a: f(a, correction=1),
    "var_mean": lambda f, a: f(a, correction=1),
    "triangular_solve": lambda f, a: f(a, a),
    "adaptive_max_pool3d_with_indices": lambda f, a: f(gs.reshape(a, (1, 1, 2, 2)), 1),
    "max_pool3d_with_indices": lambda f, a: f(gs.reshape(a, (1, 1, 1, 2, 2)), 1),
}


@each("op", SEVERAL, ids=lambda op: op.name)
def test_results_of_several_arrays_have_names(op):
    a = gs.tensor(X[:, :2] @ X[:, :2].T + np.eye(2), requires_grad=True)
    function = getattr(getattr(gs, op.namespace) if op.namespace else gs, op.name)
    required = [1] * len([default for _, _, default, _ in op.arguments[1:] if default is None])
    fields = [name for name, *_ in op.outputs if not name.startswith("_")]
    calls = [CALLS[op.name](function, a)] if op.name in CALLS else [function(a, *required)] + ([getattr(a, op.name)(*required)] if "method" in op.variants else [])
    for result in calls:
        assert isinstance(result, tuple) and len(result) == len(fields) and list(result._fields) == fields
        assert all(getattr(result, name) is item for name, item in zip(fields, result))
        assert list(result._asdict()) == fields and all(result._asdict()[name] is getattr(result, name) for name in fields)
        assert repr(result).startswith(f"{type(result).__name__}({fields[0]}=tensor(")
        plain = type(result)(*[item.detach() for item in result])
        again = pickle.loads(pickle.dumps(plain))
        assert type(again) is type(result) and all(np.array_equal(one, other) for one, other in zip(again, plain))
        recorded = [abs(item).sum() for item in result if item.requires_grad]
        if recorded:
            sum(recorded).backward()
    with pytest.raises(TypeError, match=f"{type(result).__name__}: expected {fields[0]}, .*, got 1 items"):
        type(result)(1)


def test_names_of_results_as_people_know_them():
    a = gs.asarray(X[:, :2] @ X[:, :2].T + np.eye(2))
    assert np.allclose(gs.linalg.slogdet(a).logabsdet, np.linalg.slogdet(a.numpy()).logabsdet)
    assert np.allclose(gs.linalg.eigh(a).eigenvalues, np.linalg.eigh(a.numpy()).eigenvalues)
    assert np.allclose(gs.linalg.svd(a).S, np.linalg.svd(a.numpy()).S)
    values, vectors = gs.linalg.eigh(a)
    assert np.allclose(vectors @ gs.diag(values) @ vectors.mH, a) and gs.linalg.qr(a).R.shape == (2, 2)


@pytest.mark.parametrize("word", ["floor", "trunc"])
def test_quotients_are_rounded_on_request(word):
    round_it = {"floor": np.floor, "trunc": np.trunc}[word]
    a, b = np.array([7, -7, 2**62 + 1, -(2**62) - 1]), np.array([2, 2, -3, 3])
    exact = [
        {"floor": p // q, "trunc": abs(p) // abs(q) * (1 if p * q > 0 else -1)}[word] for p, q in zip(a.tolist(), b.tolist())
    ]
    assert gs.div(a, b, rounding_mode=word).tolist() == exact
    x = gs.tensor(np.array([7.5, -7.5]))
    assert x.div_(2, rounding_mode=word).tolist() == round_it([3.75, -3.75]).tolist()
    for array, mode, message in (
        (gs.tensor([1j]), word, "complex|not supported"),
        (x, "ceil", "rounding_mode must be None, 'floor' or 'trunc'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            array.div(2, rounding_mode=mode)


def test_scipys_linear_solvers_take_a_tensor_for_a_matrix():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    a, b = np.array([[2.0, 1j], [0.0, 4.0], [1.0, 1.0]]), np.array([1.0, 2.0, 3.0])
    operator = linalg.aslinearoperator(gs.tensor(a))
    np.testing.assert_array_equal(operator.matvec(b[:2]), a @ b[:2])
    np.testing.assert_array_equal(operator.rmatvec(b), a.conj().T @ b)
    np.testing.assert_array_equal(operator.matvec(b[:2, None]), a @ b[:2, None])
    np.testing.assert_allclose(linalg.lsmr(gs.tensor(a.real), b, atol=1e-14, btol=1e-14)[0], np.linalg.lstsq(a.real, b)[0], rtol=1e-9)


def test_a_function_of_python_reads_other_spellings_as_operators_do():
    @answering
    def along(x, axis=0, *, keepdims=False):
        return x, axis, keepdims

    assert along(1, dim=2, keepdim=True) == (1, 2, True)
    with pytest.raises(TypeError, match="did you mean 'axis'"):
        along(1, axs=2)
