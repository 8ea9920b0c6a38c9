"""Sparse Jacobians of random programs whose indices are computed: in every form, at several points, with closures that change."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.tracing.traced import trace_call
from gradspec.func import sparse_hessian, sparse_jacobian, sparse_plan, sparsity

pytest.importorskip("scipy")
SIZE = 5

# Integers of no axes that are computed from numbers, and that are held.
NUMBERS = {
    "argmax": lambda x, k: gs.argmax(x),
    "argmin of a part": lambda x, k: gs.argmin(x[1:4]) + 1,
    "first of argsort": lambda x, k: gs.argsort(x)[0],
    "last of argsort": lambda x, k: gs.argsort(x)[-1],
    "of argwhere": lambda x, k: gs.argwhere(x > gs.min(x))[0, 0],
    "count": lambda x, k: gs.count_nonzero(x > 0) % SIZE,
    "searched": lambda x, k: gs.searchsorted(np.linspace(-1, 1, SIZE - 1), x[0]),
    "rounded": lambda x, k: gs.astype(gs.clip(gs.round(x[2] * 2), 0, SIZE - 1), int),
    "where": lambda x, k: gs.where(x[0] > x[1], 1, 3),
    "negative": lambda x, k: -1 - gs.argmax(x),
    "tensor": lambda x, k: gs.asarray(k),
    "array": lambda x, k: np.array(k),
    "scalar": lambda x, k: np.int64(k),
    "number": lambda x, k: k,
}  # fmt: skip

# What is made of such an integer `i`, and of another one `j`.
READ = {
    "item": lambda x, i, j: x[i],
    "item of a view": lambda x, i, j: x[::-1][i],
    "nested": lambda x, i, j: x[(i,)],
    "with an ellipsis": lambda x, i, j: x[..., i],
    "two": lambda x, i, j: gs.outer(x, x)[i, j],
    "a row": lambda x, i, j: gs.outer(x, x**2)[i],
    "a column": lambda x, i, j: gs.outer(x, x**2)[:, i],
    "beside a list": lambda x, i, j: gs.outer(x, x**2)[i, [0, 2]],
    "beside a mask": lambda x, i, j: gs.outer(x, x**2)[np.arange(SIZE) > 2, i],
    "beside an array": lambda x, i, j: gs.outer(x, x)[gs.argsort(x), i],
    "take": lambda x, i, j: gs.take(x, i),
    "take along": lambda x, i, j: gs.take(gs.outer(x, x**2), i, axis=1),
    "stacked": lambda x, i, j: x[gs.stack([gs.asarray(i), gs.asarray(j)])],
    "a list of them": lambda x, i, j: gs.concat([gs.reshape(x[[i]], (1,)), gs.reshape(x[[j]], (1,))]),
    "one_of_one": lambda x, i, j: x[gs.reshape(gs.asarray(i), (1,))],
    "where": lambda x, i, j: gs.where(np.arange(SIZE) == i, x, x**2),
    "of what was read": lambda x, i, j: x[gs.argsort(x)[i]],
    "put": lambda x, i, j: gs.index_put(x * 2, (gs.asarray(i),), x[j]),
    "added": lambda x, i, j: gs.index_add(x * 2, 0, gs.reshape(gs.asarray(i), (1,)), x[j] * gs.ones(1)),
    "written": lambda x, i, j: written(x, i, j),
}  # fmt: skip


def written(x, i, j):
    y = x * 2
    y[i] = x[j] ** 2
    y[j] += x[0]
    return y


def program(random):
    """A random function of numbers and of a held integer: results of two readings multiplied with each other."""
    ways = [[list(READ.values())[random.integers(len(READ))], *random.choice(list(NUMBERS), 2)] for _ in range(2)]

    def f(x, k):
        parts = [read(gs.sin(x) + x, NUMBERS[i](x, k), NUMBERS[j](x, k)) for read, i, j in ways]
        return gs.concat([gs.reshape(parts[0] * gs.sum(parts[1]), (-1,)), gs.reshape(parts[1], (-1,))])

    return f


def points(random, count):
    return [random.permutation(SIZE) * 0.4 - 0.8 + random.random(SIZE) * 0.1 for _ in range(count)]


@pytest.mark.parametrize("number", NUMBERS)
def test_each_form_of_an_index(number):
    compared = []
    for read in READ:
        of_form(read, number, compared)
    assert np.mean(compared) > 0.7


def of_form(read, number, compared):
    random = np.random.default_rng(len(read))

    def f(x):
        return x * gs.sum(READ[read](x, NUMBERS[number](x, 1), NUMBERS["argmax"](x, 1)))

    everywhere, traced, matrix = sparsity(f, points(random, 1)[0]), trace_call(f, points(random, 1)[0]), sparse_jacobian(f, check="never")
    slope = trace_call(lambda x: f(x).sum(), points(random, 1)[0]).derivative()
    for x in points(random, 4):
        wanted = gs.jacobian(f)(x).numpy()
        assert not wanted[~everywhere.toarray()].any()
        np.testing.assert_allclose(matrix(x).toarray(), wanted, rtol=1e-13, atol=1e-13)
        if not traced.notes:  # which say that two views were one
            assert np.array_equal(traced.run(x), f(gs.asarray(x)))
        if not slope.notes:
            np.testing.assert_allclose(slope.run(x)[1], wanted.sum(0), rtol=1e-13, atol=1e-13)
        compared.append(not slope.notes)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("local", [False, True])
def test_random_programs_with_an_integer_that_changes(seed, local):
    random = np.random.default_rng(seed)
    f, held = program(random), {"k": 0}
    jacobian = sparse_jacobian(lambda x: f(x, held["k"]), local=local)
    hessian = sparse_hessian(lambda x: gs.sum(f(x, held["k"]) ** 2), local=local)
    for x in points(random, 4):
        for held["k"] in random.permutation(SIZE)[:2].tolist():
            np.testing.assert_allclose(jacobian(x).toarray(), gs.jacobian(lambda x: f(x, held["k"]))(x), rtol=1e-12, atol=1e-12)
            wanted = gs.hessian(lambda x: gs.sum(f(x, held["k"]) ** 2))(x)
            np.testing.assert_allclose(hessian(x).toarray(), wanted, rtol=1e-12, atol=1e-12)


def test_an_index_that_is_written_to_between_the_passes_is_the_number_that_it_was():
    def f(x):
        i, found = gs.asarray(np.array(0)), []
        for _ in range(3):
            found.append(x[i] ** 2)
            i += 1
        return gs.stack(found)

    x = np.arange(1.0, 6.0)
    wanted = np.diag(2 * x)[:3]
    assert np.array_equal(gs.jacrev(f)(x), wanted) and np.array_equal(sparse_jacobian(f)(x).toarray(), wanted)
    assert np.array_equal(sparse_hessian(lambda x: f(x).sum())(x).toarray(), np.diag([2, 2, 2, 0, 0]))
    slope = trace_call(lambda x: f(x).sum(), x).derivative()
    assert np.array_equal(slope.run(x + 1)[1], 2 * (x + 1) * [1, 1, 1, 0, 0])


def test_views_that_are_one_at_the_first_point_are_two_at_another():
    first, second = np.array([0.1, 0.2, 1.0, 0.3, 0.4]), np.array([0.1, 2.0, 1.0, 0.3, 0.4])
    for f in (lambda x: x[2] * x[gs.argmax(x)], lambda x: x[gs.argmax(x)] * x[2], lambda x: x[gs.argmax(x)] * x[::-1][gs.argmax(x)]):
        jacobian = sparse_jacobian(lambda x, f=f: gs.reshape(f(x), (1,)), check="never")
        for x in (first, second):
            assert np.array_equal(jacobian(x).toarray(), gs.jacobian(lambda x, f=f: gs.reshape(f(x), (1,)))(x))
        traced = trace_call(f, first)
        assert "at a computed place" in str(traced) or np.array_equal(traced.run(second), f(gs.asarray(second)))


COMPILED = {
    "read": lambda x, i, j: x[i] * x[j] * 3,
    "read what is computed": lambda x, i, j: (x * 2)[i] + (x * 2)[j],
    "read what is held": lambda x, i, j: HELD[i] * x + HELD[j],
    "written": lambda x, i, j: written(x, i, j),
    "written to a number": lambda x, i, j: (y := x * 2, y.__setitem__(i, 5.0), y * y[j])[-1],
    "views that are written to": lambda x, i, j: (y := x * 2, a := y[i], b := y[j], a.add_(1), b.mul_(3), y)[-1],
    "a gradient": lambda x, i, j: gs.grad(lambda x: (x[i] * (x * 3)[j]).sum())(x),
    "a tangent": lambda x, i, j: gs.func.jvp(lambda x: (x * x)[i] * x[j], (x,), (x * 2,))[1],
}  # fmt: skip
HELD = gs.asarray(np.linspace(0.5, 2, SIZE))


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.filterwarnings("ignore:compile")
def test_compiled_functions_follow_a_computed_index(name, computed):
    """A view of memory of its own begins where the index of the call says, as one of what it was given."""
    f = COMPILED[name]
    if computed:
        f = lambda x, i, j: COMPILED[name](x, gs.argmax(x + i * 0), gs.argmin(x * (1 + 0 * j)))  # noqa: E731
    for seed in range(4):
        random, compiled = np.random.default_rng(seed), gs.compile(f)
        for _ in range(8):
            x, (i, j) = gs.asarray(random.random(SIZE)), (gs.asarray(random.integers(SIZE)) for _ in range(2))
            for _ in range(2):
                assert np.array_equal(compiled(x, i, j), f(x, i, j))


# Plans, and functions that change.

CHANGES = {
    "a shift": (lambda x, k: gs.roll(x**2, k), [1, 3, 1, 2]),
    "an index": (lambda x, k: x * x[k], [0, 4, 2, 2]),
    "an array": (lambda x, k: x * x[k], list(np.eye(SIZE, dtype=int))),
    "a mask": (lambda x, k: x**2 * k, [np.eye(SIZE)[i] for i in range(SIZE)]),
    "a matrix": (lambda x, k: k @ x**2, [np.eye(SIZE), np.eye(SIZE, k=1), np.ones((SIZE, SIZE)), np.eye(SIZE)]),
    "a branch": (lambda x, k: x * 2 if k else x[::-1] * 3, [True, False, True]),
    "another function": (lambda x, k: k(x), [gs.sin, lambda x: gs.cumsum(x**2, 0), gs.exp]),
    "a length": (lambda x, k: x[:k] ** 2, [3, 5, 1]),
    "nothing at first": (lambda x, k: gs.ones(SIZE) + x * k, [0.0, 1.0, 0.0]),
    "a little": (lambda x, k: x**2 + k * x[::-1], [0.0, 1e-9, 0.0, 1e-11]),
    "a branch of numbers": (lambda x, k: x * 2 if x[k] > x[k - 1] else x[::-1] * 3, [0, 1, 2, 3, 4]),
    "a kink": (lambda x, k: gs.maximum(x, gs.roll(x, k)), [1, 2, 3]),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("local", [False, True])
def test_a_plan_is_used_again_only_where_it_holds(name, local):
    if name == "a branch of numbers" and not local:
        return  # is refused, see test_patterns
    f, values = CHANGES[name]
    held = {"k": values[0]}
    jacobian = sparse_jacobian(lambda x: f(x, held["k"]), local=local)
    hessian = sparse_hessian(lambda x: gs.sum(f(x, held["k"]) ** 2), local=local)
    plan = sparse_plan(lambda x: f(x, held["k"]), points(np.random.default_rng(0), 1)[0], local=local)
    for seed, held["k"] in enumerate(values):
        for x in points(np.random.default_rng(seed), 3):
            wanted = gs.jacobian(lambda x: f(x, held["k"]))(x).numpy()
            np.testing.assert_allclose(jacobian(x).toarray(), wanted, rtol=1e-13, atol=1e-13)
            wanted_ = gs.hessian(lambda x: gs.sum(f(x, held["k"]) ** 2))(x)
            np.testing.assert_allclose(hessian(x).toarray(), wanted_, rtol=1e-12, atol=1e-12)
            if plan.pattern.shape == wanted.shape and not wanted[~plan.pattern.toarray()].any():
                np.testing.assert_allclose(plan(x).toarray(), wanted, rtol=1e-13, atol=1e-13)
            else:
                with pytest.raises(ValueError, match="does not hold at these arguments|was made for a matrix of shape"):
                    plan(x)


def test_a_plan_of_rows_is_compared_from_the_left():
    held = {"k": 1.0}
    plan = sparse_plan(lambda x: gs.reshape((x[:4] ** 2).sum() + held["k"] * 0, (1,)), np.ones(SIZE))
    assert plan.products == 1 and plan.rows.tolist() == [0]
    plan(np.ones(SIZE))
    plan.func = lambda x: gs.reshape((x**2).sum(), (1,))
    with pytest.raises(ValueError, match="column 4 of the Jacobian"):
        plan(np.ones(SIZE))


def test_rounding_is_told_from_other_elements():
    """Rounding that is larger than usual costs one look at the pattern, and is expected from then on."""
    noisy = lambda x: gs.concat([(1e6 * x + x[::-1]) - 1e6 * x, x * 1e-3])  # noqa: E731
    jacobian = sparse_jacobian(noisy)
    for x in points(np.random.default_rng(0), 3):
        np.testing.assert_allclose(jacobian(x).toarray(), gs.jacobian(noisy)(x), rtol=1e-8, atol=1e-8)
    single = sparse_jacobian(lambda x: gs.cumsum(x, 0) ** 2)
    x = np.linspace(0.1, 1, 300, dtype=np.float32)
    np.testing.assert_allclose(single(x).toarray(), gs.jacobian(lambda x: gs.cumsum(x, 0) ** 2)(x), rtol=1e-4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_infinite_slopes_are_in_the_matrix():
    found = sparse_jacobian(lambda x: gs.sqrt(x) * x[0])(np.array([1.0, 0.0, 4.0]))
    assert found.toarray().tolist()[0] == [1.5, 0, 0] and found[1, 1] == np.inf
