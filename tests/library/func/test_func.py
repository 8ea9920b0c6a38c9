"""gs.func: gradients, products and matrices as functions, and every order of applying one to another."""

import doctest
import importlib
import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec import func
from gradspec.autograd import forward_ad
from tests.asked import each

# Each takes a function of one number and gives its derivative, another such function.
DERIVATIVES = {
    "grad": func.grad,
    "value_and_grad": lambda f: lambda x: func.value_and_grad(f)(x)[1],
    "elementwise": func.elementwise_grad,
    "vjp": lambda f: lambda x: func.vjp(f, x)[1](1.0)[0],
    "jvp": lambda f: lambda x: func.jvp(f, x, 1.0)[1],
    "linearize": lambda f: lambda x: func.linearize(f, x)[1](1.0),
    "jacrev": func.jacrev,
    "jacfwd": func.jacfwd,
}
SECOND = {
    "hessian": func.hessian,
    "hvp": lambda f: lambda x: func.hvp(f, x, 1.0),
    "product": lambda f: lambda x: func.hessian_vector_product(f)(x, 1.0),
}
POINT = 0.3


def same(found, expected):
    assert isinstance(found, gs.Tensor) and not found.requires_grad
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-12), (found, expected)


def of_sine(order):
    return np.sin(POINT + order * np.pi / 2)


@each("word", list(itertools.product(DERIVATIVES, repeat=3)), ids="-".join)
def test_derivatives_of_derivatives_of_derivatives(word):
    f = gs.sin
    for name in word:
        f = DERIVATIVES[name](f)
    same(f(POINT), of_sine(3))


@each("word", list(itertools.product(SECOND, DERIVATIVES)), ids="-".join)
def test_second_derivatives_inside_and_outside(word):
    second, first = SECOND[word[0]], DERIVATIVES[word[1]]
    same(second(first(gs.sin))(POINT), of_sine(3))
    same(first(second(gs.sin))(POINT), of_sine(3))
    same(second(second(gs.sin))(POINT), of_sine(4))


@each("word", list(itertools.product(DERIVATIVES, repeat=2)), ids="-".join)
def test_perturbations_are_not_confused(word):
    """d/dx of x d/dy of g(x, y): what is differentiated inside is not what is differentiated outside."""
    outer, inner = (DERIVATIVES[name] for name in word)
    same(outer(lambda x: x * inner(lambda y: x + y)(1.0))(POINT), 1)
    same(outer(lambda x: x * inner(lambda y: x * y)(x))(POINT), 2 * POINT)
    same(outer(lambda x: inner(lambda y: x * x * y**3)(2.0))(POINT), 2 * POINT * 12)
    same(outer(lambda x: inner(lambda y: gs.sin(y))(x) * inner(lambda y: x * gs.exp(y))(x))(POINT),
         np.exp(POINT) * (np.cos(POINT) - POINT * np.sin(POINT) + POINT * np.cos(POINT)))  # fmt: skip


@each("word", list(itertools.product(DERIVATIVES, repeat=2)), ids="-".join)
def test_what_is_outside_sees_a_derivative(word):
    """A tensor that requires grad, as argument or from around the function; the tangent of a level; at any depth."""
    derivative = DERIVATIVES[word[1]](DERIVATIVES[word[0]](gs.sin))
    x = gs.tensor(POINT, requires_grad=True)
    derivative(x).backward()
    assert np.allclose(x.grad, of_sine(3))
    w = gs.tensor(2.0, requires_grad=True)
    found = DERIVATIVES[word[1]](DERIVATIVES[word[0]](lambda x: w**2 * gs.sin(x)))(POINT)
    found.backward()
    assert found.requires_grad and np.allclose(w.grad, 4 * of_sine(2))
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(derivative(forward_ad.make_dual(gs.tensor(POINT), gs.tensor(1.0)))).tangent
        same(tangent, of_sine(3))


@pytest.mark.parametrize("name", DERIVATIVES)
def test_no_grad_outside_changes_nothing_but_what_is_seen_from_there(name):
    x = gs.tensor(POINT, requires_grad=True)
    with gs.no_grad():
        same(DERIVATIVES[name](gs.sin)(x), of_sine(1))
        same(DERIVATIVES[name](DERIVATIVES[name](gs.sin))(x), of_sine(2))
        same(DERIVATIVES[name](lambda y: x * gs.sin(y))(x), POINT * of_sine(1))
    assert x.grad is None


NEST = {"a": np.array([0.3, 0.4]), "b": [2.0, (gs.tensor([[0.5]]),)]}


def of_nest(p):
    return (gs.sin(p["a"]) * p["b"][0] ** 2 * p["b"][1][0]).sum()


def flat(nest):
    from gradspec.support.pytree import flatten

    return [np.asarray(leaf) for leaf in flatten(nest)[0]]


def test_nests_of_tuples_lists_and_dictionaries():
    found = func.grad(of_nest)(NEST)
    a, b, c = NEST["a"], 2.0, 0.5
    expected = {"a": np.cos(a) * b**2 * c, "b": [np.sin(a).sum() * 2 * b * c, (np.array([[np.sin(a).sum() * b**2]]),)]}
    assert isinstance(found["b"], list) and isinstance(found["b"][1], tuple)
    for one, other in zip(flat(found), flat(expected)):
        assert np.allclose(one, other) and one.shape == other.shape
    slope = func.jvp(of_nest, (NEST,), (found,))[1]
    assert np.isclose(slope.item(), sum((leaf**2).sum() for leaf in flat(expected)))
    product = func.hvp(of_nest, NEST, found)
    assert np.allclose(np.concatenate([leaf.ravel() for leaf in flat(product)]),
                       np.concatenate([leaf.ravel() for leaf in flat(func.jvp(func.grad(of_nest), (NEST,), (found,))[1])]))  # fmt: skip
    matrix = func.hessian(of_nest)(NEST)
    assert matrix["a"]["b"][1][0].shape == (2, 1, 1) and np.allclose(matrix["b"][0]["b"][0], 2 * np.sin(a).sum() * c)
    assert np.allclose(matrix["a"]["b"][0], 2 * b * c * np.cos(a))


@pytest.mark.parametrize("matrix", [func.jacrev, func.jacfwd, func.jacobian])
def test_jacobians_of_several_arguments_and_outputs(matrix):
    def f(x, y, scale=1.0):
        return {"product": x * y * scale, "first": gs.asarray(x)}

    x, y = np.array([1.0, 2.0]), np.array(3.0)
    found = matrix(f, (0, 1))(x, y, scale=2.0)
    assert np.allclose(found["product"][0], np.diag([6.0, 6.0])) and np.allclose(found["product"][1], 2 * x)
    assert np.allclose(found["first"][0], np.eye(2)) and np.allclose(found["first"][1], [0, 0])
    assert np.allclose(matrix(f, -1)(x, y)["product"], x)


def test_argnums_aux_and_keywords():
    def f(x, y, *, power=1):
        return (x * y**power).sum(), {"twice": 2 * x, "name": "f"}

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    (by_y, by_x), aux = func.grad(f, (1, 0), has_aux=True)(x, y, power=2)
    assert np.allclose(by_y, 2 * x * y) and np.allclose(by_x, y**2)
    assert aux["name"] == "f" and np.allclose(aux["twice"], 2 * x) and not aux["twice"].requires_grad
    (value, aux), found = func.value_and_grad(f, has_aux=True)(x, y)
    assert value.item() == 11 and not value.requires_grad and np.allclose(found, y)
    found, (value, aux) = func.grad_and_value(f, has_aux=True)(x, y)
    assert value.item() == 11 and np.allclose(found, y)
    assert func.grad_and_aux(f)(x, y)[1]["name"] == "f"
    for matrix in (func.jacrev, func.jacfwd):
        found, aux = matrix(f, 1, has_aux=True)(x, y)
        assert np.allclose(found, x) and aux["name"] == "f"
    value, pullback, aux = func.vjp(lambda x: f(x, y), x, has_aux=True)
    assert np.allclose(pullback(2.0)[0], 2 * y) and aux["name"] == "f"
    value, slope, aux = func.jvp(lambda x: f(x, y), (x,), (x,), has_aux=True)
    assert value.item() == slope.item() == 11 and aux["name"] == "f"
    value, derivative, aux = func.linearize(lambda x: f(x, y), x, has_aux=True)
    assert derivative(x).item() == 11 and aux["name"] == "f"


def test_vjp_and_linearize_call_the_function_once():
    calls = []

    def f(x, y):
        calls.append(1)
        return x * y, gs.sin(x)

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    _, pullback = func.vjp(f, x, y)
    _, derivative = func.linearize(f, x, y)
    for scale in (1.0, 2.0):
        by_x, by_y = pullback((scale * np.ones(2), np.zeros(2)))
        assert np.allclose(by_x, scale * y) and np.allclose(by_y, scale * x)
        first, second = derivative(scale * x, np.zeros(2))
        assert np.allclose(first, scale * x * y) and np.allclose(second, scale * x * np.cos(x))
    assert len(calls) == 2


def test_a_pullback_is_differentiable_by_its_cotangent_and_by_what_is_around_it():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    v = gs.tensor([3.0, 4.0], requires_grad=True)
    _, pullback = func.vjp(lambda x: x**3, x)
    pullback(v)[0].sum().backward()
    assert np.allclose(v.grad, 3 * np.array([1, 4])) and np.allclose(x.grad, 6 * np.array([1, 2]) * [3, 4])
    same(func.grad(lambda v: (func.vjp(gs.sin, np.array([0.3]))[1](v)[0] ** 2).sum())(np.array([0.5])), np.cos(0.3) ** 2)
    same(func.jvp(func.linearize(gs.sin, POINT)[1], 2.0, 1.0)[1], np.cos(POINT))


def test_the_function_may_write_to_an_argument_that_is_seen_from_outside():
    def f(x):
        x[0] = 5.0
        return (x * x).sum()

    x = gs.tensor([1.0, 2.0], requires_grad=True) * 1
    assert func.grad(f)(x).tolist() == [0.0, 4.0] and x.tolist() == [1.0, 2.0]
    data = np.array([1.0, 2.0])
    func.jvp(f, (data,), (np.ones(2),))
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used in an in-place operation"):
        func.grad(f)(data)
    assert data.tolist() == [1.0, 2.0]


class Cube(gs.autograd.Function):
    """Without a jvp: forward mode has to be answered by reverse mode."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2


def test_functions_without_a_jvp():
    x = np.array([1.0, 2.0])
    value, slope = func.jvp(Cube.apply, (x,), (np.ones(2),))
    same(value, x**3)
    same(slope, 3 * x**2)
    same(func.jacfwd(Cube.apply)(x), np.diag(3 * x**2))
    same(func.hessian(lambda x: Cube.apply(x).sum())(x), np.diag(6 * x))


@pytest.mark.parametrize("name", DERIVATIVES)
def test_functions_that_return_what_they_get_or_something_else(name):
    same(DERIVATIVES[name](lambda x: x)(POINT), 1)
    same(DERIVATIVES[name](lambda x: gs.asarray(2.0))(POINT), 0)
    w = gs.tensor(2.0, requires_grad=True)
    assert np.allclose(DERIVATIVES[name](lambda x: w)(POINT).detach(), 0)
    assert np.allclose(DERIVATIVES[name](lambda x: w * x)(POINT).detach(), 2)


def test_complex_numbers_follow_pytorch():
    z = 1.0 + 2.0j
    same(func.grad(lambda z: gs.abs(z) ** 2)(z), 2 * z)
    same(func.vjp(lambda z: z * z, z)[1](1.0 + 0j)[0], np.conj(2 * z))
    same(func.jvp(lambda z: z * z, z, 1.0 + 0j)[1], 2 * z)


@each("by_reverse_mode", [func.jacrev, func.jacobian, func.elementwise_grad, lambda f: lambda x: gs.autograd.functional.jacobian(f, x),
                          lambda f: lambda x: gs.autograd.functional.jacobian(f, x, vectorize=True)])  # fmt: skip
@each("f", [lambda x: x * (1 + 2j), lambda x: gs.exp(1j * x), lambda x: gs.fft.fft(x), lambda x: gs.complex(x, x**2)])
def test_complex_results_of_real_arguments_are_refused_by_rows(by_reverse_mode, f):
    """A pass in reverse mode keeps the real part of the derivative; forward mode has all of it."""
    x = gs.tensor([0.5, -1.5])
    with pytest.raises(TypeError, match="the real part of the derivative only; write jacfwd"):
        by_reverse_mode(f)(x)
    steps = [(f(x + 1e-6 * e).numpy() - f(x - 1e-6 * e).numpy()) / 2e-6 for e in np.eye(2)]
    np.testing.assert_allclose(func.jacfwd(f)(x).numpy(), np.stack(steps, 1), rtol=1e-8, atol=1e-8)
    z = gs.tensor([0.5 + 1j, -1.5])
    assert by_reverse_mode(lambda z: z * z)(z).dtype == complex


def test_names_of_hips():
    f, x, v = (lambda x: (gs.sin(x) * x).sum()), np.array([0.3, 0.4]), np.array([1.0, 2.0])
    matrix = func.hessian(f)(x).numpy()
    same(func.make_hvp(f)(x)[0](v), matrix @ v)
    same(func.hessian_vector_product(f)(x, v), matrix @ v)
    same(func.vector_jacobian_product(gs.sin)(x, v), np.cos(x) * v)
    wide, rows = np.outer(x, v), np.arange(float(len(x)))  # a vector of the first axes alone
    same(func.vector_jacobian_product(lambda w: gs.sin(w) * 2)(wide, rows),
         np.einsum("i,ij,jk->jik", rows, 2 * np.cos(wide), np.eye(len(v))))  # fmt: skip
    same(func.make_vjp(gs.sin)(x)[0](v), np.cos(x) * v)
    same(func.make_jvp(gs.sin)(x)(v)[1], np.cos(x) * v)
    same(func.make_ggnvp(gs.sin)(x)(v), np.cos(x) ** 2 * v)
    same(func.grad_named(lambda a, b: (a * b).sum(), "b")(v, x), v)
    found = func.multigrad_dict(lambda a, b=2.0: a * a * b)(3.0)
    assert {name: value.item() for name, value in found.items()} == {"a": 12.0, "b": 9.0}
    same(func.grad(lambda a, b: (a * b).sum(), argnum=1)(v, x), v)


def test_a_derivative_along_ones_and_of_a_holomorphic_function():
    """HIPS autograd's `deriv` and `holomorphic_grad`, by differences and by the formula."""
    f = lambda x, y: gs.stack([gs.sin(x) * y, x**3 * y])  # noqa: E731
    same(func.deriv(f)(0.3, 2.0), np.array([2 * np.cos(0.3), 6 * 0.3**2]))
    same(func.deriv(f, 1)(0.3, 2.0), np.array([np.sin(0.3), 0.3**3]))
    same(func.deriv(lambda x: x**2)(np.array([1.0, 2.0])), np.array([2.0, 4.0]))
    same(func.deriv(func.deriv(gs.sin))(0.3), -np.sin(0.3))
    z = np.array([1.0 + 2.0j, -0.5 + 0.25j])
    same(func.holomorphic_grad(lambda z: (z**3 * (2 - 1j)).sum())(z), 3 * z**2 * (2 - 1j))
    same(func.holomorphic_grad(gs.exp)(1.0 + 2.0j), np.exp(1.0 + 2.0j))
    same(func.holomorphic_grad(lambda a, z: (a * gs.sin(z)).sum(), argnum=1)(2.0, z), 2 * np.cos(z))
    same(func.holomorphic_grad(func.holomorphic_grad(lambda z: z**4))(1.0 + 2.0j), 12 * (1 + 2j) ** 2)
    with pytest.raises(TypeError, match="holomorphic_grad: the argument must be complex; write grad"):
        func.holomorphic_grad(gs.sin)(1.0)
    assert func.tensor_jacobian_product is func.vector_jacobian_product


def weighted(a, b, power=2):
    """Linear in neither argument, and other by each."""
    return (a**power * b * b).sum()


NAMED = {  # what each gives at the arguments before `v`, by argument 0 and by argument 1
    func.make_vjp: (lambda f, a, b, v, **words: f(a, b, **words)[0](v.sum()), lambda p, a, b, v: (p * a ** (p - 1) * b * b * v.sum(), 2 * a**p * b * v.sum())),
    func.make_jvp: (lambda f, a, b, v, **words: f(a, b, **words)(v)[1], lambda p, a, b, v: ((p * a ** (p - 1) * b * b * v).sum(), (2 * a**p * b * v).sum())),
    func.make_hvp: (lambda f, a, b, v, **words: f(a, b, **words)[0](v), lambda p, a, b, v: (p * (p - 1) * a ** (p - 2) * b * b * v, 2 * a**p * v)),
    func.hessian_tensor_product: (lambda f, a, b, v, **words: f(a, b, v, **words), lambda p, a, b, v: (p * (p - 1) * a ** (p - 2) * b * b * v, 2 * a**p * v)),
    func.vector_jacobian_product: (lambda f, a, b, v, **words: f(a, b, v.sum(), **words),
                                   lambda p, a, b, v: (p * a ** (p - 1) * b * b * v.sum(), 2 * a**p * b * v.sum())),
}  # fmt: skip


@pytest.mark.parametrize("make", NAMED, ids=lambda make: make.__name__)
def test_names_of_hips_take_an_argument_and_keywords(make):
    """The first argument unless another is named, with what the function takes besides; they are called as the function is."""
    call, expected = NAMED[make]
    a, b, v = np.array([0.3, 0.4]), np.array([1.5, -2.0]), np.array([1.0, 2.0])
    for power in (2, 3):
        words = {} if power == 2 else {"power": power}
        by_a, by_b = expected(power, a, b, v)
        same(call(make(weighted), a, b, v, **words), by_a)
        same(call(make(weighted, 0), a, b, v, **words), by_a)
        same(call(make(weighted, 1), a, b, v, **words), by_b)
    assert make(weighted).__name__ == "weighted" and make(weighted).__doc__ == weighted.__doc__


def test_gauss_newton_of_an_argument_and_of_another_loss():
    a, b, v = np.array([0.3, 0.4]), np.array([1.5, -2.0]), np.array([1.0, 2.0])
    product = func.make_ggnvp(lambda a, b, scale=1.0: scale * a * gs.sin(b), lambda y: (y**3).sum(), 1)
    y, slope = 2 * a * np.sin(b), 2 * a * np.cos(b)
    same(product(a, b, scale=2.0)(v), slope * 6 * y * slope * v)
    assert func.make_ggnvp(weighted).__name__ == "weighted" and func.multigrad_dict(weighted).__name__ == "weighted"


REFUSED = {
    "integers": (lambda: func.grad(lambda x: x * x)(3), TypeError, "grad: argument 0 .* has dtype int64"),
    "integers in a nest": (lambda: func.grad(of_nest)({"a": np.arange(2)}), TypeError, r"argument 0 .*\['a'\] has dtype int64"),
    "a string": (lambda: func.jacrev(lambda a, x: x, 1)(1.0, ["s"]), TypeError, r"jacrev: argument 1 .*\[0\] is of type str"),
    "a float that lost its graph": (lambda: func.grad(lambda x: 2.0)(3.0), TypeError, "to return only tensors, got type <class 'float'>"),
    "a vector": (lambda: func.grad(lambda x: x)(np.ones(2)), RuntimeError, "given to grad should contain a single element"),
    "a truth value": (lambda: func.grad(lambda x: gs.allclose(x, x))(1.0), TypeError, r"real scalar outputs but got bool; .*has_aux"),
    "a place": (lambda: func.value_and_grad(gs.argmax)(np.ones(2)), TypeError, "real scalar outputs but got int64"),
    "a complex number": (lambda: func.hvp(lambda x: x * 1j, (1.0,), (1.0,)), TypeError, "outputs but got complex128; real, imag"),
    "truth values": (lambda: func.elementwise_grad(gs.isnan)(np.ones(2)), TypeError, "complex outputs but got bool"),
    "argnums beyond": (lambda: func.grad(gs.sin, 1)(2.0), ValueError, "argument 1, but only 1 positional inputs were given"),
    "argnums twice": (lambda: func.grad(gs.add, (0, -2))(2.0, 1.0), ValueError, "must be unique, and they name an argument twice"),
    "argnums of strings": (lambda: func.grad(gs.add, "x")(2.0, 1.0), TypeError, "argnums must be int or Tuple of ints, got 'x'"),
    "no pair": (lambda: func.grad(gs.sin, has_aux=True)(2.0), TypeError, "should be a tuple: .output, aux. .*, and it returned Tensor"),
    "tangents of another shape": (lambda: func.jvp(gs.sin, 1.0, np.ones(2)), RuntimeError, "tangents has invalid size"),
    "too few tangents": (lambda: func.jvp(gs.add, (1.0, 2.0), (1.0,)), TypeError, "expected 2 tangents, .* got 1"),
    "a tensor for tangents": (lambda: func.jvp(gs.add, (gs.ones((2,)), 2.0), gs.ones((2,))), TypeError, "a tuple of 2, .* got Tensor"),
    "cotangents": (lambda: func.vjp(gs.sin, 1.0)[1](np.ones(2)), RuntimeError, "^cotangents has invalid size"),
    "no argument": (lambda: func.vjp(gs.sin), TypeError, "vjp: there is nothing to differentiate by"),
    "no such name": (lambda: func.grad_named(lambda a: a, "b"), ValueError, "has no argument 'b'; it has a"),
    "no argnums": (lambda: func.grad(gs.sin, ())(2.0), ValueError, "argnums must be non-empty"),
    "no output": (lambda: func.vjp(lambda x: (), 1.0), TypeError, r"has non-empty output, got \(\)"),
    "several of elements": (lambda: func.elementwise_grad(lambda x: (x, x))(np.ones(2)), TypeError, "must return a single Tensor"),
    "a chunk of nothing": (lambda: func.jacrev(gs.sin, chunk_size=0), ValueError, "`chunk_size` should be greater than 0"),
    "a string for a tangent": (lambda: func.jvp(gs.sin, (1.0,), ("s",)), TypeError, "the given tangents.* is of type str"),
    "a tensor for a function": (lambda: func.grad(gs.ones(2)), TypeError, "a function is needed, got a Tensor"),
    "the point for argnums": (lambda: func.grad(gs.sin, gs.ones(())), TypeError, "the point is an argument of the result"),
    "both names": (lambda: func.grad(gs.sin, 1, argnum=1), TypeError, "argnums or argnum, not both"),
}


@each("case", REFUSED)
def test_what_is_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message) as caught:
        call()
    # PyTorch raises a RuntimeError; two of the names are not PyTorch's.
    assert isinstance(caught.value, RuntimeError) or case in ("no such name", "both names", "a tensor for a function", "the point for argnums")


def test_integers_move_and_are_moved_as_numbers():
    same(func.jvp(gs.sin, (0.3,), (2,))[1], 2 * np.cos(0.3))
    same(func.vjp(lambda x: x * [1.0, 2.0], 0.3)[1](np.array([1, 1]))[0], 3.0)


@pytest.mark.parametrize("module", ["gradients", "matrices", "products"])
def test_examples_of_docstrings_run(module):
    found = doctest.testmod(importlib.import_module(f"gradspec.func.{module}"))
    assert found.attempted and not found.failed


def test_every_name_is_there():
    assert {getattr(func, name).__module__.rpartition(".")[0] for name in func.__all__} == {"gradspec.func"}
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        func.nope  # noqa: B018


# What a function writes to, and where it is called from.

CALLS = {
    "grad": lambda f, w: func.grad(f)(w), "value_and_grad": lambda f, w: func.value_and_grad(f)(w)[1],
    "elementwise_grad": lambda f, w: func.elementwise_grad(f)(w), "jacrev": lambda f, w: func.jacrev(f)(w),
    "hessian": lambda f, w: func.hessian(f)(w), "hvp": lambda f, w: func.hvp(f, (w,), (w,))[0],
    "jvp": lambda f, w: func.jvp(f, (w,), (w,))[1], "jacfwd": lambda f, w: func.jacfwd(f)(w),
    "vjp": lambda f, w: func.vjp(f, w)[1](1.0)[0], "linearize": lambda f, w: func.linearize(f, w)[1](w),
    "grad of grad": lambda f, w: func.grad(lambda w: func.grad(f)(w).sum())(w),
    "vjp of vjp": lambda f, w: func.vjp(lambda w: func.vjp(f, w)[1](1.0)[0].sum(), w)[1](1.0)[0],
}  # fmt: skip


def nodes_behind(tensor):
    found, stack = set(), [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in found:
            found.add(node)
            stack += [following for following, _ in node.next_functions]
    return len(found)


@each("through_view", [False, True])
@each("used", [False, True])
@each("call", CALLS.values(), ids=CALLS)
def test_no_graphs_pile_up_behind_what_a_function_writes_to(call, used, through_view):
    x, w = gs.tensor([1.0, 2.0]), gs.tensor([1.0, 1.0])
    base = gs.zeros((3, 2))
    mean = base[0] if through_view else base

    def updated(m, w):
        return 0.9 * m + 0.1 * (w * x)

    def f(w):
        mean.mul_(0.9).add_(0.1 * (w * x))
        return (w * w * x * (mean if used else 1)).sum()

    counts = []
    for _ in range(5):
        m = mean.detach().numpy().copy()
        found = call(f, w)
        counts.append((nodes_behind(mean), nodes_behind(base)))
        assert np.allclose(found, call(lambda w, m=m: (w * w * x * (updated(m, w) if used else 1)).sum(), w)) and not found.requires_grad
        assert np.allclose(mean.detach(), updated(m, w))
    assert counts[1] == counts[-1] and max(counts[-1]) < 5


def test_what_is_written_keeps_a_history_that_somebody_can_differentiate():
    outside, w = gs.tensor([2.0, 3.0], requires_grad=True), gs.tensor([1.0, 1.0])
    kept = gs.zeros((2,))

    def f(w):
        kept.add_(w * outside)
        return (w * w).sum()

    func.grad(f)(w)
    assert kept.requires_grad
    kept.sum().backward()
    assert outside.grad.tolist() == [1.0, 1.0]


def test_a_view_loses_the_history_that_its_base_loses():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    base = x * 1
    view = base[0]
    view.mul_(3)
    base.detach_()
    assert view.item() == 3 and not view.requires_grad  # its own says nothing of the write


@pytest.mark.parametrize("make", [lambda x: func.make_vjp(gs.sin)(x)[0], lambda x: func.linearize(gs.sin, x)[1]], ids=["vjp", "linearize"])
def test_no_grad_around_a_product_holds(make):
    x, v = gs.tensor([1.0, 2.0], requires_grad=True), gs.tensor([1.0, 1.0], requires_grad=True)
    product = make(x)
    with gs.no_grad():
        assert not product(np.ones(2)).requires_grad and not product(v).requires_grad
        inside = make(x)
        assert not inside(np.ones(2)).requires_grad
    for one in (product, inside):  # where it was made says nothing about it, as in PyTorch
        assert one(np.ones(2)).requires_grad and one(v).requires_grad
        x.grad = None
        one(np.ones(2)).sum().backward()
        assert np.allclose(x.grad, -np.sin([1.0, 2.0]))
    with gs.no_grad():
        for value in (*func.vjp(lambda x: (x * v, x + v), x, has_aux=True)[::2], *func.linearize(lambda x: (x * v, x + v), x, has_aux=True)[::2]):
            assert not value.requires_grad


def test_jvp_writes_to_the_callers_tensor_as_pytorch_does():
    def doubled(x):
        return x.mul_(2).sum()

    x = gs.tensor([1.0, 2.0])
    value, tangent = func.jvp(doubled, (x,), (gs.ones((2,)),))
    assert (value.item(), tangent.item(), x.tolist()) == (6.0, 4.0, [2.0, 4.0]) and not x.requires_grad
    array = np.array([1.0, 2.0])
    func.jvp(doubled, (array,), (np.ones(2),))
    assert array.tolist() == [1.0, 2.0]
    leaf = gs.tensor([1.0, 2.0], requires_grad=True)
    assert func.jvp(doubled, (leaf,), (gs.ones((2,)),))[1].item() == 4.0 and leaf.tolist() == [1.0, 2.0]
    # It calls the function as often as the cache wants.
    assert func.jacfwd(doubled)(x).tolist() == [2.0, 2.0] and x.tolist() == [2.0, 4.0]


def test_a_direction_is_differentiated_by_through_all_that_differentiates_inside():
    """What forward mode gives is linear in the direction, so its gradient gives the value again."""
    A = np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 2.0], [0.3, 0.2, 0.1]])
    x, v, w = np.array([0.3, -0.5, 0.7]), np.array([1.0, 2.0, -0.5]), np.array([0.4, 1.0, -2.0])
    q = lambda x: (gs.sin(A @ x) ** 3).sum() + x.prod()  # noqa: E731
    f = lambda x: gs.tanh(A @ x) * x  # noqa: E731
    inside = {
        "grad": gs.grad(q), "value_and_grad": lambda x: gs.value_and_grad(q)(x)[1], "jacrev": lambda x: gs.jacrev(f)(x) @ w,
        "jacfwd": lambda x: gs.jacfwd(f)(x) @ w, "hessian": lambda x: gs.hessian(q)(x) @ w, "vjp": lambda x: gs.vjp(f, x)[1](x)[0],
        "vjp elsewhere": lambda x: gs.vjp(f, gs.asarray(w))[1](x)[0], "hvp": lambda x: gs.hvp(q, (x,), (x,))[0],
        "jvp": lambda x: gs.jvp(f, (x,), (x,))[1], "linearize": lambda x: gs.linearize(f, x)[1](x),
        "linearize elsewhere": lambda x: gs.linearize(f, w)[1](x), "elementwise_grad": gs.elementwise_grad(f),
        "grad twice": gs.grad(lambda x: (gs.grad(q)(x) * w).sum()), "jacobian": lambda x: gs.jacobian(f)(x) @ x,
        "vmap": lambda x: gs.vmap(gs.grad(lambda s: gs.sin(s) * s))(x),
    }  # fmt: skip
    for name, g in inside.items():
        along = lambda v, x=x, g=g: (gs.jvp(g, (x,), (v,))[1] * w).sum()  # noqa: E731
        gradient = gs.grad(along)(v)
        np.testing.assert_allclose((gradient * v).sum(), along(v), rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(gradient, gs.grad(lambda x, g=g: (g(x) * w).sum())(x), rtol=1e-10, err_msg=name)
        direction = gs.tensor(v, requires_grad=True)
        (slope,) = gs.autograd.grad(along(direction), direction)
        np.testing.assert_allclose(slope, gradient, err_msg=name)
        assert not along(v).requires_grad, name


def test_transposes_of_linear_functions():
    """Beside the matrix: of real and complex numbers, of nests, inside of other transforms; no conjugates."""
    rng = np.random.default_rng(2)
    a = rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))
    y = rng.normal(size=3) + 1j * rng.normal(size=3)
    np.testing.assert_allclose(func.linear_transpose(lambda x: a @ x, np.zeros(4, complex))(y)[0].tolist(), a.T @ y)
    transpose = func.linear_transpose(lambda d, x: {"a": 2 * d["u"] + x, "b": x.sum()}, {"u": np.zeros(2)}, np.ones(2))
    by_d, by_x = transpose({"a": gs.asarray([1.0, 5.0]), "b": 3.0})
    assert by_d["u"].tolist() == [2.0, 10.0] and by_x.tolist() == [4.0, 8.0]
    assert func.linear_transpose(lambda x: gs.cumsum(x), np.zeros(3, "f"))(np.ones(3, "f"))[0].tolist() == [3.0, 2.0, 1.0]

    def scaled(w):
        return func.linear_transpose(lambda x: gs.exp(w) * x, gs.zeros(2))(gs.asarray([1.0, 3.0]))[0]

    w = rng.normal(size=(3, 2))
    wanted = np.exp(w) * [1.0, 3.0]
    np.testing.assert_allclose(gs.vmap(scaled)(w).tolist(), wanted)
    np.testing.assert_allclose(gs.grad(lambda w: gs.vmap(scaled)(w).sum())(w).tolist(), wanted)
    np.testing.assert_allclose(gs.jvp(scaled, (w[0],), (np.ones(2),))[1].tolist(), wanted[0])


def test_functions_that_are_not_linear_have_no_transpose():
    for function in (lambda x: x**2, lambda x: x + 1, gs.absolute, gs.nn.relu, gs.sin, lambda x: x.sum() + 0 * x + 0.1):
        for dtype in ("f", "d"):
            with pytest.raises(ValueError, match="linear_transpose: the function is not linear"):
                func.linear_transpose(function, np.zeros(3, dtype))
    with pytest.raises(TypeError, match="argument 0"):
        func.linear_transpose(lambda x: 2 * x, np.zeros(3, int))


@pytest.mark.parametrize("transform", ["jvp", "hvp"])
def test_a_list_in_the_place_of_the_tuple_of_arguments_is_refused(transform):
    """It holds the arguments in JAX; as the only one it would be stacked."""
    x, call = gs.asarray([1.0, 2.0]), getattr(gs.func, transform)
    f = (lambda x: gs.sin(x).sum()) if transform == "hvp" else gs.sin
    with pytest.raises(TypeError, match=rf"{transform}: primals is a list; write a tuple"):
        call(f, [x], [x])
    g = lambda nest: (nest[0] * gs.sin(nest[1])).sum()  # noqa: E731
    found = call(g, ([x, x],), ([x, x],))
    assert len(found) == (2 if transform == "jvp" else 1)
