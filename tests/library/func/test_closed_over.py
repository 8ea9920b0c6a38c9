"""One law: what a function reads without being given it has its derivative, or is refused.

Every public function that takes a function has a row, found by what its docstring and its signature say, so that a new one without
a row fails.  A row calls it with a function that closes over a number c; its derivative by c is held to differences, however c moves.
"""

import importlib
import inspect
import re
import types
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec import scipy as gss
from gradspec.autograd import functional
from tests.asked import each

pytest.importorskip("scipy", reason="SciPy is not installed")

NAMESPACES = [
    "", "autograd", "autograd.functional", "autograd.graph", "func", "extend", "utils", "utils.checkpoint", "scipy", "scipy.integrate",
    "scipy.interpolate", "scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse", "scipy.special", "scipy.stats",
    "sparse", "nested", "compat", "distributed", "distributions", "distributions.constraints", "distributions.transforms", "utils.data", "debug", "nn", "nn.functional", "optim", "optim.lr_scheduler", "random", "linalg", "fft", "signal",
    "special", "tree_util", "operators", "profiler", "test_util", "scipy.fft", "scipy.sparse.linalg", "autograd.checkpoint",
    "autograd.forward_ad", "autograd.profiler", "autograd.profiler_util", "nn.init", "nn.modules", "nn.parameter", "nn.utils", "nn.utils.fusion",
    "nn.utils.parametrizations", "nn.utils.parametrize", "nn.utils.prune", "nn.utils.rnn", "nn.utils.stateless", "optim.swa_utils", "signal.windows", "scipy.signal.windows",
    "scipy.cluster", "scipy.cluster.hierarchy", "scipy.cluster.vq", "scipy.differentiate", "scipy.odr", "scipy.sparse.csgraph", "scipy.spatial",
    "scipy.spatial.distance", "scipy.spatial.transform",
]  # fmt: skip
ONE, X = gs.ones(()), np.array([0.5, 1.25])


def takes_functions(thing):
    """Whether a parameter of a function or a class is a function."""
    docs = (inspect.getdoc(thing) or "") + "\n" + (inspect.getdoc(thing.__init__) or "" if inspect.isclass(thing) else "")
    if re.search(r"^\*{0,2}\w[\w, *\\]* : [^\n]*callable", docs.split("Returns\n")[0], re.M):
        return True
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return False
    return any("Callable" in str(p.annotation) or p.name in ("f", "fun", "func", "function", "fn", "callback") for p in parameters)


def public(module, known):
    """The modules that are reached from one by public names, and have public names themselves."""
    known.add(module)
    for name in dir(module):
        thing = None if name.startswith("_") else getattr(module, name, None)
        if isinstance(thing, types.ModuleType) and thing.__name__.startswith("gradspec.") and thing not in known:
            public(thing, known)
    return {one for one in known if hasattr(one, "__all__")}


def found():
    """The functions that take functions, each under one name."""
    names, modules = {}, [importlib.import_module(f"gradspec.{space}".rstrip(".")) for space in NAMESPACES]
    assert not public(gs, set()) - set(modules), "namespaces that are not listed"
    for space, module in zip(NAMESPACES, modules):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and takes_functions(thing):
                names.setdefault(id(thing), f"{space}.{name}".lstrip("."))
    return set(names.values())


# Rows: c is a tensor of shape (), and the result is summed up.


def custom_jvp(c):
    f = gs.custom_jvp(lambda x: x * c)
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * c))
    return f(ONE)


def custom_vjp(c):
    f = gs.custom_vjp(lambda x: x * c)
    f.defvjp(lambda x: (x * c, None), lambda kept, g: (g * c,))
    return f(ONE)


def custom_vmap(c):
    f = gs.custom_vmap(lambda x: x * c)
    f.def_vmap(lambda size, batched, x: (x * c, True))
    return gs.vmap(f)(X)


def with_primitive(define):
    """sin(x), with a derivative by a rule that reads c."""

    def row(c):
        f = gs.primitive(np.sin)
        define(f, c)
        return gs.grad(f)(0.5)

    return row


def slope_read(c):
    f = gs.primitive(np.sin)
    gs.defjvp(f, lambda g, ans, x: g * c * x)
    return f


def newton(f, x):
    for _ in range(30):
        x = x - f(x) / gs.grad(f)(x)
    return x


def numbers(array):
    """What a matrix of SciPy's gives, from which nothing can be differentiated."""
    return gs.asarray(array)


def of_layer(layer):
    for parameter in layer.parameters():
        parameter.requires_grad_(False)
    return layer(gs.asarray(X.reshape(1, 1, 2)))[..., 0]


def solution(**options):
    """Of dy/dt = -c y."""
    options = options if "step" in options else dict(rtol=1e-6, atol=1e-9, **options)
    return lambda c: gss.integrate.solve_ivp(lambda t, y: -c * y, (0, 1), [1.0], t_eval=[0.5, 1.0], **options).y[0]


def event(c):
    crossing = lambda t, y: y[0] - c  # noqa: E731
    return gss.integrate.solve_ivp(lambda t, y: -y, (0, 2), [1.0], events=crossing, rtol=1e-8, atol=1e-10).t_events[0]


def constrained(c):
    limit = {"type": "eq", "fun": lambda x: x.sum() - c}
    return gss.optimize.minimize(lambda x: (x**2).sum() * (1 + c), [1.0, 0.0], constraints=limit, tol=1e-12).x @ X


def bracket(name):
    return lambda c: getattr(gss.optimize, name)(lambda x: x**3 - c, 0.1, 2.0)


def krylov(name):
    return lambda c: getattr(gss.sparse.linalg, name)(lambda x: x * (1 + c) + x.sum(), X, rtol=1e-10)[0] @ X


def quadratic(x, c):
    return (1 + c) * (x[0] - c) ** 2


BOX = [(-1.0, 2.0)]

ROWS = {
    "associative_scan": lambda c: gs.associative_scan(lambda a, b: a * b * c, gs.asarray(X)),
    "checkpoint": lambda c: gs.checkpoint(lambda x: gs.sin(x * c))(ONE),
    "closure_convert": lambda c: (lambda converted, closed: converted(2.0, *closed))(*gs.closure_convert(lambda x: gs.sin(x * c), 1.0)),
    "compile": lambda c: gs.compile(lambda x: gs.sin(x * c))(ONE),
    "jit": lambda c: gs.jit(lambda x: gs.sin(x * c))(ONE),
    "cond": lambda c: gs.cond(True, lambda x: x * c, lambda x: x, ONE) + gs.cond(False, lambda x: x, lambda x: x * c**2, ONE),
    "switch": lambda c: gs.switch(1, [lambda x: x, lambda x: gs.sin(c * x)], ONE),
    "custom_jvp": custom_jvp,
    "custom_vjp": custom_vjp,
    "custom_vmap": custom_vmap,
    "sequential_vmap": lambda c: gs.vmap(gs.sequential_vmap(lambda x: x * c))(X),
    "primitive": lambda c: gs.primitive(lambda x: np.sin(x) * c)(ONE),
    "defvjp": with_primitive(lambda f, c: gs.defvjp(f, lambda ans, x: lambda g: g * c * x)),
    "defvjp_argnum": with_primitive(lambda f, c: gs.defvjp_argnum(f, lambda i, ans, args, kwargs: lambda g: g * c)),
    "defvjp_argnums": with_primitive(lambda f, c: gs.defvjp_argnums(f, lambda i, ans, args, kwargs: lambda g: (g * c,))),
    "defjvp": with_primitive(lambda f, c: gs.defjvp(f, lambda g, ans, x: g * c * x)),
    "defjvp_argnum": with_primitive(lambda f, c: gs.defjvp_argnum(f, lambda i, g, ans, args, kwargs: g * c)),
    "defjvp_argnums": with_primitive(lambda f, c: gs.defjvp_argnums(f, lambda i, g, ans, args, kwargs: g[0] * c)),
    "defjvp, forward": lambda c: gs.jvp(slope_read(c), (0.5,), (1.0,))[1],
    "custom_linear_solve": lambda c: gs.custom_linear_solve(lambda x: (1 + c) * x, X, lambda f, b: b / f(gs.ones(2)), symmetric=True),
    "custom_root": lambda c: gs.custom_root(lambda x: x**3 - c, 1.0, newton, lambda g, y: y / g(gs.ones_like(y))),
    "fixed_point": lambda c: gs.fixed_point(lambda a: lambda x: (x + a * c / x) / 2, 2.0, 1.0, lambda x, y: abs(x - y), 1e-12),
    "implicit": lambda c: gs.implicit(lambda a: np.cbrt(a.numpy() * c.detach().numpy()), lambda x, a: x**3 - a * c)(2.0),
    "elementwise_grad": lambda c: gs.elementwise_grad(lambda x: gs.sin(c * x))(X),
    "deriv": lambda c: gs.deriv(lambda x: gs.sin(c * x))(0.5),
    "holomorphic_grad": lambda c: gs.holomorphic_grad(lambda x: gs.sin(c * x))(0.5 + 0.25j).real,
    "grad": lambda c: gs.grad(lambda x: gs.sin(c * x))(0.5),
    "grad_and_aux": lambda c: gs.grad_and_aux(lambda x: (gs.sin(c * x), c * x))(0.5)[1],
    "grad_and_value": lambda c: sum(gs.grad_and_value(lambda x: gs.sin(c * x))(0.5)),
    "value_and_grad": lambda c: sum(gs.value_and_grad(lambda x: gs.sin(c * x))(0.5)),
    "grad_named": lambda c: gs.grad_named(lambda x: gs.sin(c * x), "x")(0.5),
    "multigrad_dict": lambda c: gs.multigrad_dict(lambda x: gs.sin(c * x))(0.5)["x"],
    "hessian": lambda c: gs.hessian(lambda x: gs.sin(c * x).sum())(X),
    "jacfwd": lambda c: gs.jacfwd(lambda x: gs.sin(c * x))(X),
    "jacrev": lambda c: gs.jacrev(lambda x: gs.sin(c * x))(X),
    "jacobian": lambda c: gs.jacobian(lambda x: gs.sin(c * x))(X),
    "hvp": lambda c: gs.hvp(lambda x: gs.sin(c * x).sum(), X, X),
    "jvp": lambda c: sum(gs.jvp(lambda x: gs.sin(c * x), (X,), (X,))),
    "vjp": lambda c: (lambda y, pull: y + pull(X)[0])(*gs.vjp(lambda x: gs.sin(c * x), X)),
    "linearize": lambda c: (lambda y, push: y + push(X))(*gs.linearize(lambda x: gs.sin(c * x), X)),
    "make_vjp": lambda c: gs.make_vjp(lambda x: gs.sin(c * x))(X)[0](X),
    "make_jvp": lambda c: gs.make_jvp(lambda x: gs.sin(c * x))(X)(X)[1],
    "make_hvp": lambda c: gs.make_hvp(lambda x: gs.sin(c * x).sum())(X)[0](X),
    "make_ggnvp": lambda c: gs.make_ggnvp(lambda x: gs.sin(c * x))(X)(X),
    "linear_transpose": lambda c: gs.linear_transpose(lambda x: gs.sin(c) * x, X)(X)[0],
    "hessian_tensor_product": lambda c: gs.hessian_tensor_product(lambda x: gs.sin(c * x).sum())(X, X),
    "tensor_jacobian_product": lambda c: gs.vector_jacobian_product(lambda x: gs.sin(c * x))(X, X),
    "jet": lambda c: gs.jet(lambda x: gs.sin(c * x), (X,), ([X, X],))[1][1],
    "laplacian": lambda c: gs.laplacian(lambda x: gs.sin(c * x).sum())(X),
    "value_and_laplacian": lambda c: sum(gs.value_and_laplacian(lambda x: gs.sin(c * x).sum())(X)),
    "fori_loop": lambda c: gs.fori_loop(0, 3, lambda i, x: gs.sin(c * x), 1.0),
    "while_loop": lambda c: gs.while_loop(lambda x: x < 3, lambda x: x * 2 + c, ONE),
    "scan": lambda c: gs.scan(lambda x, y: (x * c, x + y), 1.0, X)[1] + gs.scan(lambda x, y: (x * c, x + y), 1.0, X, checkpoint=True)[1],
    "map": lambda c: gs.map(lambda x: gs.sin(c * x), X),
    "vmap": lambda c: gs.vmap(lambda x: gs.sin(c * x))(X),
    "pure": lambda c: gs.func.pure(lambda x: x * c)(ONE),
    "pure_callback": lambda c: gs.pure_callback(lambda x: x * c, ONE, ONE),
    "io_callback": lambda c: gs.io_callback(lambda x: x * c, ONE, ONE),
    "jacobian_operator": lambda c: numbers(gs.jacobian_operator(lambda x: gs.sin(c * x), X).matvec(X)),
    "hessian_operator": lambda c: numbers(gs.hessian_operator(lambda x: gs.sin(c * x).sum(), X).matvec(X)),
    "gauss_newton_operator": lambda c: numbers(gs.gauss_newton_operator(lambda x: gs.sin(c * x), X).matvec(X)),
    "fisher_operator": lambda c: numbers(gs.fisher_operator(lambda x: gs.sin(c * x), X, family="bernoulli").matvec(X)),
    "sparse_jacobian": lambda c: numbers(gs.sparse_jacobian(lambda x: gs.sin(c * x))(X).toarray()),
    "sparse_hessian": lambda c: numbers(gs.sparse_hessian(lambda x: gs.sin(c * x).sum())(X).toarray()),
    "sparse_plan": lambda c: numbers(gs.sparse_plan(lambda x: gs.sin(c * x), X)(X).toarray()),
    "autograd.functional.hessian": lambda c: functional.hessian(lambda x: gs.sin(c * x).sum(), gs.asarray(X), create_graph=True),
    "autograd.functional.jacobian": lambda c: functional.jacobian(lambda x: gs.sin(c * x), gs.asarray(X), create_graph=True),
    "autograd.functional.hvp": lambda c: functional.hvp(lambda x: gs.sin(c * x).sum(), gs.asarray(X), gs.asarray(X), create_graph=True)[1],
    "autograd.functional.vhp": lambda c: functional.vhp(lambda x: gs.sin(c * x).sum(), gs.asarray(X), gs.asarray(X), create_graph=True)[1],
    "autograd.functional.jvp": lambda c: functional.jvp(lambda x: gs.sin(c * x), gs.asarray(X), gs.asarray(X), create_graph=True)[1],
    "autograd.functional.vjp": lambda c: functional.vjp(lambda x: gs.sin(c * x), gs.asarray(X), gs.asarray(X), create_graph=True)[1],
    "utils.checkpoint.checkpoint": lambda c: gs.utils.checkpoint.checkpoint(lambda x: gs.sin(c * x), ONE, use_reentrant=False),
    "utils.checkpoint.checkpoint_sequential": lambda c: gs.utils.checkpoint.checkpoint_sequential(
        [lambda x: gs.sin(c * x), lambda x: gs.exp(c * x)], 2, ONE, use_reentrant=False
    ),
    "scipy.integrate.solve_ivp": solution(),
    "scipy.integrate.solve_ivp, LSODA": solution(method="LSODA"),
    "scipy.integrate.solve_ivp, discrete": solution(adjoint="discrete"),
    "scipy.integrate.solve_ivp, forward": solution(adjoint="forward"),
    "scipy.integrate.solve_ivp, RK4": solution(method="RK4", step=0.2),
    "scipy.integrate.solve_ivp, event": event,
    "scipy.integrate.odeint": lambda c: gss.integrate.odeint(lambda y, t: -c * y, [1.0], [0.0, 1.0])[-1, 0],
    "scipy.integrate.solve_bvp": lambda c: gss.integrate.solve_bvp(
        lambda x, y: [y[1], -c * y[0]], lambda a, b: [a[0], b[0] - c], np.linspace(0, 1, 5), np.zeros((2, 5)), tol=1e-6
    ).y[0, 2],
    "scipy.integrate.quad": lambda c: gss.integrate.quad(lambda x: gs.exp(-c * x), 0, 1)[0],
    "scipy.integrate.quad_vec": lambda c: gss.integrate.quad_vec(lambda x: gs.exp(-c * x * X), 0, 1)[0],
    "scipy.integrate.fixed_quad": lambda c: gss.integrate.fixed_quad(lambda x: gs.exp(-c * x), 0, 1)[0],
    "scipy.integrate.nquad": lambda c: gss.integrate.nquad(lambda y, x: c * x * y, [lambda x: (0, c), (0, 1)], opts={"epsabs": 1e-3, "epsrel": 1e-3})[0],
    "scipy.optimize.minimize": lambda c: gss.optimize.minimize(quadratic, [0.5], args=(c,), tol=1e-12).x
    + gss.optimize.minimize(lambda x: quadratic(x, c), [0.5], tol=1e-12).x,
    "scipy.optimize.minimize, constrained": constrained,
    "scipy.optimize.minimize_scalar": lambda c: gss.optimize.minimize_scalar(lambda x: (x - c) ** 2 + x * c**3, tol=1e-12).x,
    "scipy.optimize.basinhopping": lambda c: gss.optimize.basinhopping(lambda x: quadratic(x, c), [0.5], niter=1).x,
    "scipy.optimize.differential_evolution": lambda c: gss.optimize.differential_evolution(
        lambda x: quadratic(x, c), BOX, seed=0, maxiter=20, popsize=4
    ).x,
    "scipy.optimize.dual_annealing": lambda c: gss.optimize.dual_annealing(lambda x: quadratic(x, c), BOX, seed=0, maxiter=3).x,
    "scipy.optimize.shgo": lambda c: gss.optimize.shgo(lambda x: quadratic(x, c), BOX).x,
    "scipy.optimize.least_squares": lambda c: gss.optimize.least_squares(lambda x: gs.stack([x[0] - c, c * x[0] - 1]), [0.5], xtol=1e-14).x,
    "scipy.optimize.curve_fit": lambda c: gss.optimize.curve_fit(lambda x, a: gs.exp(c * x) * a, X, X + 1, [1.0], xtol=1e-14)[0],
    "scipy.optimize.root": lambda c: gss.optimize.root(lambda x: x**3 - c, [1.0], tol=1e-13).x,
    "scipy.optimize.fsolve": lambda c: gss.optimize.fsolve(lambda x: x**3 - c, [1.0], xtol=1e-13),
    "scipy.optimize.root_scalar": lambda c: gss.optimize.root_scalar(lambda x: x**3 - c, bracket=(0.1, 2.0)).root,
    **{f"scipy.optimize.{name}": bracket(name) for name in ("brentq", "brenth", "bisect", "ridder", "toms748")},
    "scipy.optimize.newton": lambda c: gss.optimize.newton(lambda x: x**3 - c, 1.0, tol=1e-13),
    "scipy.optimize.fixed_point": lambda c: gss.optimize.fixed_point(lambda x: (x + c / x) / 2, 1.0, xtol=1e-12),
    **{f"scipy.sparse.linalg.{name}": krylov(name) for name in ("cg", "bicgstab", "cgs", "gmres", "minres")},
    "nested.vmap": lambda c: gs.nested.vmap(lambda x: gs.sin(c * x))(gs.nested.nested_tensor([X, X[:1]])).values(),
    "nn.triplet_margin_with_distance_loss": lambda c: gs.nn.triplet_margin_with_distance_loss(
        gs.asarray(X[:, None]), gs.asarray(2 * X[:, None]), gs.asarray(X[:, None] + 0.5),
        distance_function=lambda a, b: c * ((a - b) ** 2).sum(-1),
    ),
    "scipy.ndimage.generic_laplace": lambda c: gss.ndimage.generic_laplace(X, lambda x, axis, *rest: x * c),
    "scipy.ndimage.generic_gradient_magnitude": lambda c: gss.ndimage.generic_gradient_magnitude(X, lambda x, axis, *rest: x * c),
    "scipy.signal.resample": lambda c: gss.signal.resample(X, 4, window=lambda frequencies: 1 + c * frequencies**2),
    "scipy.stats.gaussian_kde": lambda c: gss.stats.gaussian_kde(X, lambda kde: c)(0.7),
    "tree_util.tree_map_with_path": lambda c: gs.tree_util.tree_map_with_path(lambda path, x: x * c, [X])[0],
    "tree_util.tree_map": lambda c: gs.tree_util.tree_map(lambda x: x * c, [X])[0],
    "tree_util.tree_reduce": lambda c: gs.tree_util.tree_reduce(lambda a, b: a * c + b, [1.0, 2.0]),
}  # fmt: skip
OTHERS = {
    "SparsePlan": "what sparse_plan gives",
    "def_linear": "takes a primitive, no function",
    **dict.fromkeys(["distributed.Step", "distributed.value_and_grad"], "test_shards.py: all of it is refused"),
    **dict.fromkeys(["enable_grad", "inference_mode", "no_grad"], "decorates a function with a mode"),
    **dict.fromkeys(["autograd.gradcheck", "autograd.gradgradcheck", "test_util.check_grads"], "compares, and gives no numbers"),
    **dict.fromkeys(["autograd.saved_tensors_hooks", "autograd.graph.register_multi_grad_hook"], "takes hooks, which give no values of a function"),
    "autograd.once_differentiable": "decorates a backward, and refuses its derivative",
    "debug.callback": "drops what the function gives",
    "register_nest": "takes a nest apart and puts it together",
    **dict.fromkeys([f"scipy.special.{name}" for name in ("ncfdtr", "ncfdtridfd", "ncfdtridfn", "ncfdtrinc")], "f is a number"),
    "sparsity": "gives a pattern, no numbers",
    **dict.fromkeys(["operator", "operators.define", "operators.Operator"], "test_definitions.py: a kernel that gives a tensor is refused"),
    **dict.fromkeys(["scipy.objective", "scipy.Objective"], "made to hand numbers to SciPy"),
    **dict.fromkeys(["scipy.integrate.dblquad", "scipy.integrate.tplquad"], "nquad of two variables, and of three"),
    "scipy.linalg.leslie": "f is an array",
    **dict.fromkeys(["nn.Transformer", "nn.TransformerDecoderLayer", "nn.TransformerEncoderLayer"], "calls the activation as it is"),
    "nn.TripletMarginWithDistanceLoss": "calls the distance as it is",
    **dict.fromkeys(["optim.lr_scheduler.CyclicLR", "optim.lr_scheduler.LambdaLR", "optim.lr_scheduler.MultiplicativeLR"], "of numbers of steps"),
    **dict.fromkeys(["profiler.profile", "autograd.profiler.profile"], "takes no function of tensors"),
    "optim.swa_utils.AveragedModel": "averages numbers",
    "distributions.constraints.dependent_property": "decorates a property of a class",
    "utils.data.DataLoader": "of functions of samples, which are read and not differentiated",
}  # fmt: skip


def test_every_function_that_takes_functions_has_a_row():
    rows, names = {name.partition(",")[0] for name in ROWS}, found()
    assert not names - rows - set(OTHERS), "functions without a row"
    assert not (rows | set(OTHERS)) - names, "rows of what is no such function"


# How c moves, and what comes out: the derivative, or (by rows) the values.

AT, ROWS_OF_C = 0.7, np.array([0.65, 0.8])


def total(row):
    return lambda c: gs.sum(row(c))


def leaf(f):
    c = gs.tensor(AT, requires_grad=True)
    y = f(c)
    return gs.autograd.grad(y, c)[0] if y.requires_grad else 0 * c.detach()


WAYS = {
    "leaf": leaf,
    "grad": lambda f: gs.grad(f)(AT),
    "jvp": lambda f: gs.jvp(f, (AT,), (1.0,))[1],
    "jacfwd": lambda f: gs.jacfwd(f)(AT),
    "jet": lambda f: gs.jet(f, (AT,), ([1.0],))[1][0],
    "outer tangent": lambda f: gs.jvp(lambda c: gs.jvp(lambda x: x * f(c), (1.0,), (1.0,))[1], (AT,), (1.0,))[1],
    "grad of vmap": lambda f: gs.grad(lambda c: gs.vmap(lambda x: x * f(c))(gs.asarray([0.25, 0.75])).sum())(AT),
    "vmap": lambda f: gs.vmap(f)(ROWS_OF_C),
    "vmap of grad": lambda f: gs.vmap(gs.grad(f))(ROWS_OF_C),
    "vmap of jvp": lambda f: gs.vmap(lambda c: gs.jvp(f, (c,), (1.0,))[1])(ROWS_OF_C),
    "jacrev of vmap": lambda f: gs.jacrev(lambda c: gs.vmap(f)(c))(ROWS_OF_C).diagonal(),
    "compiled": lambda f: gs.compile(gs.grad(f))(AT),
    "grad of grad": lambda f: gs.grad(gs.grad(f))(AT),
    "jvp of grad": lambda f: gs.jvp(gs.grad(f), (AT,), (1.0,))[1],
    "grad of jvp": lambda f: gs.grad(lambda c: gs.jvp(f, (c,), (1.0,))[1])(AT),
}


def expected(row):
    """The value, and the first and second derivatives at places, by differences of values."""
    f, e = lambda c: total(row)(gs.asarray(c)).item(), 2e-2
    value, slope, curve = {}, {}, {}
    for c in (AT, *ROWS_OF_C):
        far, near, here, after, beyond = (f(c + k * e) for k in (-2, -1, 0, 1, 2))
        value[c], slope[c] = here, (8 * (after - near) - (beyond - far)) / (12 * e)
        curve[c] = (16 * (after + near) - (beyond + far) - 30 * here) / (12 * e * e)
    return value, slope, curve


READS = "requires grad,? or has a tangent"
RULE = "its rule reads a tensor that requires grad|a row of a vmap is read"
NUMBERS = "SciPy matrix has no derivative|numpy\\(\\)"
REFUSED = {
    r"checkpoint: grad of jvp|utils.checkpoint.*: grad of jvp": "Reverse mode over forward mode",
    r"custom_[jv][vj]p: (?!jet|vmap$).*": READS,
    r"(primitive|pure_callback|io_callback): .*": READS,
    r"def[vj][jv]p[^,]*: (leaf|grad|jet|compiled|vmap.*|grad of vmap|jacrev of vmap|grad of grad)": RULE + "|jet: _Primitive.apply",
    r"(custom_linear_solve|custom_root|fixed_point|scipy.optimize.*|scipy.sparse.*): jet": "jet: .* is not possible",
    r"scipy.integrate.(?!fixed_quad|.*RK4).*: jet": "jet: (solve_ivp|odeint|solve_bvp|quad|quad_vec|item\\(\\)|numpy\\(\\)) ",
    r"scipy.integrate.solve_ivp, event: (vmap.*|jacrev of vmap)": "each row takes steps of its own",
    r"implicit: (jet|vmap.*|jacrev of vmap)": "numpy",
    r"while_loop: (vmap.*|jacrev of vmap)": "data-dependent control flow",
    r"(jacobian|hessian|gauss_newton|fisher)_operator: .*": NUMBERS,
    r"sparse_.*: .*": NUMBERS,
}
SLOW = {"scipy.integrate.nquad": {"leaf"}}
SLOW |= dict.fromkeys([
    *[f"scipy.integrate.solve_ivp, {name}" for name in ("LSODA", "forward", "event")],
    *[f"scipy.optimize.{name}" for name in ("minimize, constrained", "differential_evolution", "shgo")],
], {"leaf", "jvp", "vmap", "vmap of grad"})  # fmt: skip


@pytest.mark.slow
@each("name", ROWS)
def test_derivatives_by_what_is_closed_over(name):
    row, wrong = ROWS[name], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, slope, curve = expected(row)
        for way, call in WAYS.items():
            if way not in SLOW.get(name, WAYS):
                continue
            at = [AT] if "vmap" not in way or way == "grad of vmap" else ROWS_OF_C
            wanted = [(value if way == "vmap" else curve if way.count("grad") + way.count("jvp") == 2 else slope)[c] for c in at]
            refusal = next((text for pattern, text in REFUSED.items() if re.fullmatch(pattern, f"{name}: {way}")), None)
            try:
                got = np.ravel(call(total(row)).detach().numpy())
            except Exception as error:
                if refusal is None or not re.search(refusal, str(error)):
                    wrong.append(f"{way}: {type(error).__name__}: {error}")
                continue
            if refusal is not None:
                wrong.append(f"{way}: is not refused")
            elif not np.allclose(got, wanted, rtol=2e-4, atol=2e-4):
                wrong.append(f"{way}: {got}, expected {wanted}")
    assert not wrong, "\n".join(wrong)
