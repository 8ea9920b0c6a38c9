"""gs.sparse: values are SciPy's and PyTorch's, derivatives are held to differences and to PyTorch's, in every mode."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck
from tests.asked import each
from tests.later import later

sp = later("scipy.sparse", "SciPy is not installed")

RANDOM = np.random.default_rng(0)
ROWS, COLUMNS = np.array([2, 0, 1, 0, 2, 0]), np.array([3, 1, 0, 1, 2, 0])  # (0, 1) is stored twice, not in order
DATA = RANDOM.normal(size=6)
VECTOR, MATRIX, BATCH, LEFT = (RANDOM.normal(size=size) for size in (4, (4, 2), (5, 4, 2), (2, 3)))
FORMATS = ["coo", "csr", "csc", "lil", "dok", "dia", "bsr"]


def made(values, rows=ROWS, columns=COLUMNS, shape=(3, 4)):
    return gs.sparse.coo(values, (rows, columns), shape)


def leaf(array):
    return gs.tensor(array, requires_grad=True)


def complex_of(array):
    return array + 1j * RANDOM.normal(size=array.shape)


def dense_of(found):
    return found.to_dense() if isinstance(found, gs.sparse.SparseTensor) else found


# What is done with a sparse matrix A and a dense array, and the same with a dense A.
CALLS = {
    "A @ vector": (lambda A, x: A @ x, VECTOR),
    "A @ matrix": (lambda A, x: A @ x, MATRIX),
    "A @ batch": (lambda A, x: A @ x, BATCH),
    "vector @ A": (lambda A, x: x @ A, LEFT[0]),
    "matrix @ A": (lambda A, x: x @ A, LEFT),
    "A.T @ x": (lambda A, x: A.T @ x, LEFT.T),
    "A.mH @ x": (lambda A, x: A.mH @ x, LEFT.T),
    "A * matrix": (lambda A, x: A * x, RANDOM.normal(size=(3, 4))),
    "row * A": (lambda A, x: x * A, VECTOR),
    "A * column": (lambda A, x: A * x, RANDOM.normal(size=(3, 1))),
    "A / matrix": (lambda A, x: A / x, 1 + RANDOM.random(size=(3, 4))),
    "A * number": (lambda A, x: A * x, np.array(1.5)),
    "A + dense": (lambda A, x: A + x, RANDOM.normal(size=(3, 4))),
    "dense - A": (lambda A, x: x - A, RANDOM.normal(size=(3, 4))),
    "A + A.T.T * x": (lambda A, x: A + A.T.T * x - A * 0.5, RANDOM.normal(size=(1, 4))),
    "A @ A.T": (lambda A, x: (A @ A.T) @ x, LEFT[0]),
    "A.multiply(A)": (lambda A, x: (A * A) @ x, VECTOR),
    "sum": (lambda A, x: A.sum() * x, VECTOR),
    "sum along 0": (lambda A, x: A.sum(axis=0) * x, VECTOR),
    "sum along -1": (lambda A, x: A.sum(axis=-1) * x, LEFT[0]),
    "-A, abs": (lambda A, x: (-abs(A)) @ x, VECTOR),
    "diagonal": (lambda A, x: A.diagonal() * x, LEFT[0]),
    "trace": (lambda A, x: A.trace() * x, LEFT[0]),
}  # fmt: skip


def of_dense(name, A, x):
    """The same call of a dense A."""
    if "sum" in name:
        return {"sum": A.sum(), "sum along 0": A.sum(axis=0), "sum along -1": A.sum(axis=-1)}[name] * x
    return CALLS[name][0](A, x)


@each("name", CALLS)
@each("dtype", [float, complex, np.float32])
def test_as_the_dense_matrix(name, dtype):
    function, x = CALLS[name]
    data, x = (complex_of(array) if dtype is complex else array.astype(dtype) for array in (DATA, x))
    found = dense_of(function(made(gs.tensor(data)), gs.tensor(x)))
    dense = np.zeros((3, 4), dtype)
    np.add.at(dense, (ROWS, COLUMNS), data)
    expected = of_dense(name, gs.tensor(dense), gs.tensor(x))
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-13 if dtype is not np.float32 else 1e-5, atol=1e-6 * (dtype is np.float32))


@each("name", CALLS)
@each("complex_numbers", [False, True])
def test_derivatives(name, complex_numbers):
    function, x = CALLS[name]
    data, x = (complex_of(array) if complex_numbers else array for array in (DATA, x))

    def call(values, x):
        return dense_of(function(made(values), x))

    assert gradcheck(call, (leaf(data), leaf(x)), check_forward_ad=True, check_batched_grad=not complex_numbers)
    if not complex_numbers:
        assert gradgradcheck(call, (leaf(data), leaf(x)), check_fwd_over_rev=True, check_rev_over_rev=True)


@each("name", CALLS)
def test_a_vmap_is_its_rows(name):
    function, x = CALLS[name]
    data, xs = RANDOM.normal(size=(3, 6)), RANDOM.normal(size=(3, *x.shape)) + 3

    def call(values, x):
        return dense_of(function(made(values), x))

    for in_dims in ((0, 0), (None, 0), (0, None)):
        args = [batch if dim == 0 else batch[0] for batch, dim in zip((data, xs), in_dims)]
        found = gs.vmap(call, in_dims=in_dims)(*args)
        rows = [call(*(gs.tensor(arg[i] if dim == 0 else arg) for arg, dim in zip(args, in_dims))) for i in range(3)]
        np.testing.assert_allclose(found.numpy(), np.stack([row.numpy() for row in rows]), rtol=1e-12, atol=1e-14)


# SciPy's arrays as they are, beside tensors.


@each("form", FORMATS)
@each("kind", ["array", "matrix"])
@each("dtype", [np.float64, np.float32, np.complex128])
def test_scipys_arrays_are_operands(form, kind, dtype):
    A = getattr(sp, f"{form}_{kind}")(sp.random(3, 4, 0.6, random_state=0).astype(dtype))
    dense = A.toarray()
    calls = {
        "A @ x": (lambda A, x: A @ x, VECTOR), "A @ X": (lambda A, x: A @ x, MATRIX), "x @ A": (lambda A, x: x @ A, LEFT[0]),
        "X @ A": (lambda A, x: x @ A, LEFT), "A.T @ x": (lambda A, x: A.T @ x, LEFT[0]),
        "A + X": (lambda A, x: A + x, RANDOM.normal(size=(3, 4))), "X - A": (lambda A, x: x - A, RANDOM.normal(size=(3, 4))),
    }  # fmt: skip
    if form != "coo":  # whose `dot` asks for an ndarray
        calls["A.dot(x)"] = lambda A, x: A.dot(x), VECTOR
    if kind == "array":
        calls |= {"A * X": (lambda A, x: A * x, RANDOM.normal(size=(3, 4))), "x * A": (lambda A, x: x * A, VECTOR),
                  "A / X": (lambda A, x: A / x, 1 + RANDOM.random(size=(3, 4)))}  # fmt: skip
    else:
        calls |= {"A * x of matrices": (lambda A, x: A * x, VECTOR)}
    for name, (function, x) in calls.items():
        expected = dense @ x if "of matrices" in name else np.asarray(function(dense, x))
        for requires_grad in (False, True):
            x_ = gs.tensor(x.astype(np.float32 if dtype == np.float32 else float), requires_grad=requires_grad)
            found = dense_of(function(A, x_))
            assert type(found) is gs.Tensor and found.requires_grad == requires_grad, name
            assert found.dtype == np.result_type(dtype, x_.dtype), name
            np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-5 if dtype == np.float32 else 1e-13, atol=1e-6 * (dtype == np.float32))
        if dtype == np.float64:
            assert gradcheck(lambda x, function=function: dense_of(function(A, x)), (leaf(x),), check_forward_ad=True), name
            assert gradgradcheck(lambda x, function=function: dense_of(function(A, x)) ** 2, (leaf(x),)), name


def test_scipys_arrays_inside_of_transforms():
    A = sp.csr_array(sp.random(4, 4, 0.6, random_state=1))
    dense = A.toarray()
    np.testing.assert_allclose(gs.func.jacrev(lambda x: A @ x)(VECTOR), dense)
    np.testing.assert_allclose(gs.func.jacfwd(lambda x: x @ A)(VECTOR), dense.T)
    np.testing.assert_allclose(gs.func.hessian(lambda x: (A @ x) @ x)(VECTOR), dense + dense.T)
    np.testing.assert_allclose(gs.vmap(lambda x: A @ x)(BATCH[..., 0]), BATCH[..., 0] @ dense.T)
    np.testing.assert_allclose(gs.vmap(gs.grad(lambda x: ((A @ x) ** 2).sum()))(BATCH[..., 0]), 2 * BATCH[..., 0] @ dense.T @ dense)
    (found,) = [gs.compile(lambda x: A @ x * 2)(gs.tensor(VECTOR)) for _ in range(1)]
    np.testing.assert_allclose(found.numpy(), 2 * dense @ VECTOR)


def test_what_scipy_would_detach_is_refused():
    """SciPy's own functions ask for an ndarray; `multiply` gives what it gets from its operator as it is, so it asks as well."""
    A, x = sp.csr_array(np.eye(3, 4)), leaf(VECTOR)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        A.multiply(x)
    with pytest.raises(ValueError, match="unrecognized csr_array constructor input"):  # SciPy's words for the same
        sp.csr_array(leaf(MATRIX))
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        sp.linalg.spsolve(sp.csc_array(np.eye(4)), x)
    with gs.autograd.forward_ad.dual_level():
        with pytest.raises(RuntimeError, match="carries a tangent"):
            A.multiply(gs.autograd.forward_ad.make_dual(gs.tensor(VECTOR), gs.tensor(VECTOR)))
    assert type(A.multiply(x.detach())) is not type(NotImplemented)
    with pytest.raises(TypeError, match="unsupported operand"):
        A % x
    assert np.asarray(gs.tensor(VECTOR)).dtype == float  # any other caller has the array


# PyTorch's functions.


def torch_pair(values, x=None, csr=False):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    data = torch.tensor(values, requires_grad=True)
    A = torch.sparse_coo_tensor(np.stack([ROWS, COLUMNS]), data, (3, 4), check_invariants=True)
    return torch, data, A, None if x is None else torch.tensor(x, requires_grad=True)


def test_mm_as_pytorch():
    torch, data_, A_, x_ = torch_pair(DATA, MATRIX)
    data, x = leaf(DATA), leaf(MATRIX)
    weight = RANDOM.normal(size=(3, 2))
    (torch.sparse.mm(A_, x_) * torch.tensor(weight)).sum().backward()
    (gs.sparse.mm(made(data), x) * weight).sum().backward()
    np.testing.assert_allclose(data.grad.numpy(), data_.grad.numpy(), rtol=1e-13)
    np.testing.assert_allclose(x.grad.numpy(), x_.grad.numpy(), rtol=1e-13)


@each("name", ["softmax", "log_softmax"])
@each("dim", [0, 1, -1])
def test_softmax_as_pytorch(name, dim):
    torch, _, A_, _ = torch_pair(DATA)
    found = getattr(gs.sparse, name)(made(DATA), dim)
    expected = getattr(torch.sparse, name)(A_, dim).coalesce()
    assert (found.indices().numpy() == expected.indices().numpy()).all()
    np.testing.assert_allclose(found.values().numpy(), expected.values().detach().numpy(), rtol=1e-13)
    call = lambda values: getattr(gs.sparse, name)(made(values), dim).values()  # noqa: E731
    assert gradcheck(call, (leaf(DATA),), check_forward_ad=True) and gradgradcheck(call, (leaf(DATA),))


def test_addmm_and_sampled_addmm():
    A, left, right = made(DATA).coalesce(), RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(5, 4))
    mat = RANDOM.normal(size=(3, 2))
    found = gs.sparse.addmm(mat, A, MATRIX, beta=2.0, alpha=-0.5)
    np.testing.assert_allclose(found.numpy(), 2 * mat - 0.5 * A.to_dense().numpy() @ MATRIX, rtol=1e-13)
    found = gs.sparse.sampled_addmm(made(DATA), left, right, beta=2.0, alpha=-0.5)
    rows, columns = A.indices().numpy()
    np.testing.assert_allclose(found.values().numpy(), 2 * A.values().numpy() - 0.5 * (left @ right)[rows, columns], rtol=1e-13)

    def call(data, left, right):
        return gs.sparse.sampled_addmm(made(data), left, right, alpha=3.0).to_dense()

    assert gradcheck(call, (leaf(DATA), leaf(left), leaf(right)), check_forward_ad=True)
    assert gradgradcheck(call, (leaf(DATA), leaf(left), leaf(right)))
    with pytest.raises(ValueError, match="have no product of the shape"):
        gs.sparse.sampled_addmm(made(DATA), right, left)


def test_sum_and_the_other_names():
    A = gs.sparse.sparse_coo_tensor([ROWS, COLUMNS], DATA, (3, 4), requires_grad=True)
    assert gs.sparse_coo_tensor is gs.sparse.sparse_coo_tensor and A.requires_grad and A.is_sparse and A.nnz == 6
    assert gs.sparse_coo_tensor([ROWS, COLUMNS], DATA, (3, 4), device="cpu").shape == (3, 4)
    with pytest.raises(TypeError, match="device"):
        gs.sparse_coo_tensor([ROWS, COLUMNS], DATA, (3, 4), device="cuda")
    gs.sparse.sum(A, 1)[0].backward()
    assert A.grad.values().tolist() == (ROWS == 0).astype(float).tolist()
    coalesced = A.coalesce()
    assert A.is_coalesced() is False and coalesced.is_coalesced() is True and coalesced.nnz == 5
    assert coalesced.coalesce() is coalesced
    np.testing.assert_array_equal(coalesced.to_dense().detach().numpy(), A.to_dense().detach().numpy())
    B = A.to_sparse_csr()
    expected = sp.coo_array((DATA, (ROWS, COLUMNS)), (3, 4)).tocsr()
    assert B.crow_indices().tolist() == expected.indptr.tolist() and B.col_indices().tolist() == expected.indices.tolist()
    again = gs.sparse_csr_tensor(B.crow_indices(), B.col_indices(), B.values(), (3, 4), device="cpu")
    np.testing.assert_array_equal(again.to_dense().detach().numpy(), A.to_dense().detach().numpy())
    assert again.is_coalesced() and again.layout == "csr" and not again.is_sparse and again.to_sparse_coo().is_sparse
    assert repr(again).startswith("SparseTensor(shape=(3, 4), nnz=5, dtype=float64, layout=csr, grad_fn=<")


@each("form", FORMATS)
def test_from_scipy_and_back(form):
    A = getattr(sp, f"{form}_array")(sp.random(3, 4, 0.6, random_state=0))
    B = gs.sparse.from_scipy(A)
    assert B.layout == ("csr" if form == "csr" else "coo") and (B.to_scipy() != A).nnz == 0
    B = gs.sparse.from_scipy(A, requires_grad=True)
    (B @ VECTOR).sum().backward()
    np.testing.assert_allclose(B.grad.values().numpy(), VECTOR[B.indices().numpy()[1]])
    with pytest.raises(RuntimeError, match="requires grad"):
        B.to_scipy()
    assert (B.detach().to_scipy() != A).nnz == 0


def test_from_dense():
    x = leaf([[0.0, 2.0], [3.0, 0.0]])
    A = gs.sparse.from_dense(x)
    assert A.nnz == 2 and A.is_coalesced()
    (A * A).sum().backward()
    assert x.grad.tolist() == [[0.0, 4.0], [6.0, 0.0]]


def test_shape_by_default():
    assert made([1.0, 2.0], [1, 0], [4, 0], None).shape == (2, 5)
    assert gs.sparse.csr([1.0, 2.0], [4, 0], [0, 1, 1, 2]).shape == (3, 5)
    assert made([], [], [], None).shape == (0, 0)
    empty = made([], [], [])
    assert (empty @ VECTOR).tolist() == [0.0] * 3 and empty.to_dense().shape == (3, 4) and empty.sum().item() == 0


def test_a_write_to_the_callers_places_moves_nothing():
    rows = ROWS.copy()
    A = made(DATA, rows)
    before = A.to_dense().numpy().copy()
    rows[:] = 0
    np.testing.assert_array_equal(A.to_dense().numpy(), before)


# spsolve

SQUARE = np.array([0, 1, 2, 3, 0, 1, 3, 0]), np.array([0, 1, 2, 3, 2, 3, 0, 2])  # (0, 2) is stored twice
SOLVED = np.array([4.0, 5.0, 6.0, 7.0, 1.0, -1.0, 0.5, 0.25])


def system(values):
    return gs.sparse.coo(values, SQUARE, (4, 4))


@each("b", [VECTOR, MATRIX])
@each("kinds", ["dd", "fd", "ff", "DD", "dD", "Dd"])
def test_spsolve(b, kinds):
    values, b = (array.astype(kind) if kind in "fd" else complex_of(array) for array, kind in zip((SOLVED, b), kinds))
    A = sp.coo_array((values, SQUARE), (4, 4))
    x = gs.sparse.spsolve(system(values), b)
    assert x.dtype == np.result_type(values, b) and x.shape == b.shape
    np.testing.assert_allclose(A @ x.numpy(), b, rtol=1e-5 if "f" in kinds else 1e-13, atol=1e-6 if "f" in kinds else 1e-14)
    if "f" not in kinds:
        call = lambda values, b: gs.sparse.spsolve(system(values), b)  # noqa: E731
        assert gradcheck(call, (leaf(values), leaf(b)), check_forward_ad=True)
        assert gradgradcheck(call, (leaf(values), leaf(b)), check_fwd_over_rev=kinds == "dd")


def test_spsolve_inside_of_transforms():
    rights, many = RANDOM.normal(size=(3, 4)), SOLVED + RANDOM.random(size=(3, 8)) / 4
    call = lambda values, b: gs.sparse.spsolve(system(values), b)  # noqa: E731
    for in_dims, args in (((None, 0), (SOLVED, rights)), ((0, None), (many, VECTOR)), ((0, 0), (many, rights))):
        rows = [call(*(arg[i] if dim == 0 else arg for arg, dim in zip(args, in_dims))).numpy() for i in range(3)]
        np.testing.assert_allclose(gs.vmap(call, in_dims=in_dims)(*args).numpy(), rows, rtol=1e-12)
        grads = [gs.grad(lambda v, b: (call(v, b) ** 2).sum())(*(arg[i] if dim == 0 else arg for arg, dim in zip(args, in_dims))).numpy()
                 for i in range(3)]  # fmt: skip
        found = gs.vmap(gs.grad(lambda v, b: (call(v, b) ** 2).sum()), in_dims=in_dims)(*args)
        np.testing.assert_allclose(found.numpy(), grads, rtol=1e-11)


def test_spsolve_factors_once(monkeypatch):
    import scipy.sparse.linalg as linalg

    made_of, splu = [], linalg.splu
    monkeypatch.setattr(linalg, "splu", lambda A: (made_of.append(A), splu(A))[1])
    values, b = leaf(SOLVED), leaf(VECTOR)
    x = gs.sparse.spsolve(system(values), b)
    grads = gs.autograd.grad((x**2).sum(), [values, b], create_graph=True)
    gs.autograd.grad(sum((grad**2).sum() for grad in grads), [values, b])
    assert len(made_of) == 1


def test_spsolve_of_written_values_is_refused():
    values = leaf(SOLVED)
    kept = values * 1.0
    x = gs.sparse.spsolve(gs.sparse.coo(kept, SQUARE, (4, 4)), VECTOR)
    with gs.no_grad():
        kept[0] = 9.0
    x.sum().backward()  # the values were copied: the gradient is that of what was solved
    expected = leaf(SOLVED)
    gs.sparse.spsolve(system(expected), VECTOR).sum().backward()
    np.testing.assert_array_equal(values.grad.numpy(), expected.grad.numpy())


A = made(DATA)
REFUSED = {
    "a nonzero number added": (lambda: A + 1.0, TypeError, "write A.to_dense\\(\\) \\+ number"),
    "an ndarray of it": (lambda: np.asarray(A), TypeError, "write A.to_dense\\(\\)"),
    "an operator of it": (lambda: gs.exp(A), TypeError, "SparseTensor|to_dense"),
    "an index": (lambda: A[0], TypeError, "no items"),
    "a loop": (lambda: list(A), TypeError, "no items"),
    "a truth value": (lambda: bool(A), TypeError, "truth value"),
    "a quotient of two": (lambda: A / A, TypeError, "NaN wherever"),
    "a quotient by one": (lambda: 1.0 / A, TypeError, "infinite wherever"),
    "a power": (lambda: A**2, TypeError, "with_values"),
    "a number in a product": (lambda: A @ 2.0, ValueError, "write \\* instead"),
    "another length": (lambda: A @ np.ones(5), ValueError, "dimension mismatch of the shapes \\(3, 4\\) and \\(5,\\)"),
    "another length on the left": (lambda: np.ones(5) @ A, ValueError, "dimension mismatch"),
    "another length of a sparse one": (lambda: A @ A, ValueError, "dimension mismatch"),
    "another shape": (lambda: A + A.T, ValueError, "inconsistent shapes"),
    "another shape of factors": (lambda: A * A.T, ValueError, "inconsistent shapes"),
    "a factor that is larger": (lambda: A * np.ones((2, 3, 4)), ValueError, "does not broadcast"),
    "a factor that does not fit": (lambda: A * np.ones(3), ValueError, "does not broadcast"),
    "other values": (lambda: A.with_values([1.0]), ValueError, "6 elements are stored"),
    "rows of another layout": (lambda: A.crow_indices(), RuntimeError, "expected sparse row compressed"),
    "an axis": (lambda: A.sum(2), IndexError, "axis 2"),
    "more axes": (lambda: gs.sparse.coo([1.0], ([0], [0], [0]), (1, 1, 1)), ValueError, "matrices alone"),
    "a shape of more axes": (lambda: gs.sparse.coo([1.0], ([0], [0]), (1, 1, 1)), ValueError, "matrices alone"),
    "a row outside": (lambda: gs.sparse.coo([1.0], ([3], [0]), (3, 4)), ValueError, "size is inconsistent with indices: row 3"),
    "a negative column": (lambda: gs.sparse.coo([1.0], ([0], [-1]), (3, 4)), ValueError, "column -1"),
    "places that are no integers": (lambda: gs.sparse.coo([1.0], ([0.5], [0]), (3, 4)), TypeError, "integers"),
    "hybrid values": (lambda: gs.sparse.coo([[1.0, 2.0]], ([0], [0]), (3, 4)), ValueError, "do not belong to values of shape"),
    "indptr that falls": (lambda: gs.sparse.csr([1.0], [0], [0, 2, 1], (2, 2)), ValueError, "indptr must rise"),
    "indptr of other rows": (lambda: gs.sparse.csr([1.0], [0], [0, 1], (2, 2)), ValueError, "2 rows have 3 numbers in indptr"),
    "a dense matrix as sparse": (lambda: gs.sparse.softmax(MATRIX, 0), TypeError, "write gs.sparse.from_dense"),
    "two dense ones": (lambda: gs.sparse.matmul(LEFT, LEFT), TypeError, "expected a sparse matrix"),
    "no array": (lambda: gs.sparse.multiply(A, "x"), TypeError, "expected a sparse matrix"),
    "mm of a vector": (lambda: gs.sparse.mm(A, VECTOR), RuntimeError, "expected two matrices"),
    "from_scipy of an ndarray": (lambda: gs.sparse.from_scipy(MATRIX), TypeError, "expected a scipy.sparse array"),
    "from_dense of a vector": (lambda: gs.sparse.from_dense(VECTOR), ValueError, "expected a matrix"),
    "a sparse right side": (lambda: gs.sparse.spsolve(system(SOLVED), A), TypeError, "b is dense"),
    "a system that is not square": (lambda: gs.sparse.spsolve(A, VECTOR), ValueError, "a square matrix"),
    "a singular matrix": (lambda: gs.sparse.spsolve(gs.sparse.coo([1.0], ([0], [0]), (2, 2)), [1.0, 2.0]), np.linalg.LinAlgError, "singular"),
    "something else beside it": (lambda: A @ "x", TypeError, "unsupported operand"),
    "transpose with an axis": (lambda: A.transpose(0, 0), ValueError, "axes 0 and 1"),
}  # fmt: skip


@each("name", REFUSED)
def test_refused(name):
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()


# What is written to a matrix between the passes.

WRITTEN = {
    "A @ x": lambda A, x: A @ x, "A @ X": lambda A, x: A @ gs.outer(x, x), "x @ A": lambda A, x: x @ A, "A.T @ x": lambda A, x: A.T @ x,
    "A + X": lambda A, x: A + gs.outer(x, x), "X - A": lambda A, x: (gs.outer(x, x) - A) ** 2, "A * x": lambda A, x: A * x,
    "x * A": lambda A, x: x * A, "A / x": lambda A, x: A / x, "A ** of a product": lambda A, x: (A @ x) ** 3,
    "matmul": lambda A, x: gs.sparse.matmul(A, x), "multiply": lambda A, x: gs.sparse.multiply(A, x), "mm": lambda A, x: gs.sparse.mm(A, x[:, None]),
    "addmm": lambda A, x: gs.sparse.addmm(gs.outer(x, x), A, gs.outer(x, x)), "sum": lambda A, x: gs.sparse.sum(A) * x,
    "sampled_addmm": lambda A, x: gs.sparse.sampled_addmm(A, gs.outer(x, x), gs.outer(x, x)), "softmax": lambda A, x: gs.sparse.softmax(A, 1) @ x,
    "spsolve": lambda A, x: gs.sparse.spsolve(A, x * x), "from_scipy": lambda A, x: gs.sparse.from_scipy(A) @ x * x,
    "cg": lambda A, x: gs.scipy.sparse.linalg.gmres(A, x * x, rtol=1e-13)[0],
}  # fmt: skip


@pytest.mark.slow
@each("name", WRITTEN)
@each("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@each("kind", ["array", "matrix"])
@each("outer", ["backward", "derivatives of a derivative", "compiled"])
def test_writes_between_the_passes_are_not_seen(name, form, kind, outer):
    """A recorded product holds the numbers that the matrix had."""
    function, x = WRITTEN[name], np.array([1.0, 2.0, 4.0])

    def fresh(scale=1.0):
        A = sp.csr_array([[4.0, 2, 0], [0, 3, 1], [1, 0, 5]]) * scale
        return getattr(sp, f"{form}_{kind}")(A)

    def write(A):
        for array in vars(A).values():
            if isinstance(array, np.ndarray) and array.dtype.kind == "f":
                array[:] = 100
        for array in vars(A).values():  # places, each of which stays inside
            for part in array if isinstance(array, tuple) else (array,):
                if isinstance(part, np.ndarray) and part.dtype.kind == "i" and form in ("csr", "csc", "coo", "bsr"):
                    part[:] = 0
        if form in ("lil", "dok"):
            A[0, 0] = 100

    def loss(x, A):
        y = dense_of(function(A, x))
        return (y * y).sum()

    if kind == "matrix" and name in ("A * x", "x * A"):
        return  # the product of matrices, which is above
    wanted = gs.grad(lambda x: loss(x, fresh()))(x)
    if outer == "backward":
        A, leaf_ = fresh(), leaf(x)
        y = loss(leaf_, A)
        write(A)
        y.backward()
        np.testing.assert_allclose(leaf_.grad, wanted, rtol=1e-11)
    elif outer == "compiled":
        A = fresh()
        compiled = gs.compile(lambda x: gs.grad(lambda x: loss(x, A))(x))
        for scale in (1.0, 1.0, 2.0, 3.0):
            if form in ("csr", "csc", "coo", "bsr", "dia"):
                A.data[:] = fresh(scale).data
                np.testing.assert_allclose(compiled(gs.asarray(x)), gs.grad(lambda x, s=scale: loss(x, fresh(s)))(x), rtol=1e-9)
    else:
        A, leaf_ = fresh(), leaf(x)
        (first,) = gs.autograd.grad(loss(leaf_, A), [leaf_], create_graph=True)
        second_ = gs.grad(lambda x: gs.grad(lambda x: loss(x, fresh()))(x).sum())(x)
        write(A)
        (second,) = gs.autograd.grad(first.sum(), [leaf_])
        np.testing.assert_allclose(second, second_, rtol=1e-9, atol=1e-9)
