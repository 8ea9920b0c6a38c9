"""Random functions under random nests of transforms: `vmap` gives what the loop over the rows gives.

    python -m tests.runtime.mapped_programs 20000 [SEED]

A function of a vector is made of operators, views, writes and indices; two or three transforms are put around it, among them
vmap.  The same nest with a loop in the place of vmap, and nested levels of forward mode in that of jet, says what is right.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

import gradspec as gs

LENGTH = 4
# What docs/taylor.md says that a series has not: writes of what differs from row to row into a coefficient that does not.
REFUSED = "because a tensor that is the same for all rows of the batch would get"
NESTED = "because it writes a series into a tensor without coefficients"  # the same of a jet, and of one inside of another


def steps(random):
    """One step of a function: a function of a vector, to a vector of the same length."""
    w = gs.asarray(random.normal(size=(LENGTH, LENGTH)) / 2)
    v = gs.asarray(random.normal(size=LENGTH))
    order = random.permutation(LENGTH)
    i, j = (int(n) for n in random.integers(0, LENGTH, 2))

    def written(x):
        y = gs.zeros_like(x)
        y[i] = x[j] * 2
        y[1:] += x[:-1] * v[1:]
        return y

    def in_place(x):
        y = x * 1.5
        y[order[:2]] = gs.sin(x[order[1:3]])
        y.mul_(v)
        return y

    def by_value(x):
        return x[gs.argsort(x)] * v

    def taken(x):
        rank = gs.argsort(x * v)
        return gs.take_along_axis(x, rank, axis=0) + gs.take(x, rank[: LENGTH // 2], axis=0).sum()

    def viewed(x):
        y = gs.reshape(x, (2, 2))
        return gs.reshape(gs.tanh(y.mT @ y) + y[:, :1] * y[None, 0], (LENGTH,))

    def turned_in_place(x):
        y = gs.reshape(x * v, (1, 2, 2))
        row = y[0, 0]
        y.squeeze_(0).swapaxes_(0, 1)
        y[0] *= 2  # a column of what `row` looks at
        return gs.reshape(y, (LENGTH,)) + row.sum()

    def fresh(x):
        y = x.new_zeros(LENGTH)
        y[i] = x[j]
        y += gs.sin(x)
        return y * x

    forms = [
        lambda y, x: y.__setitem__((0, i), x[j]), lambda y, x: y.add_(x, alpha=2), lambda y, x: y[1].mul_(gs.sin(x)),
        lambda y, x: y.__setitem__((slice(None), order[:2]), x[order[2:]]), lambda y, x: y[0].copy_(x * x),
        lambda y, x: y.mT[1:3, 0].add_(x[:2]), lambda y, x: y.__setitem__(gs.asarray([False, True]), x),
        lambda y, x: y[1].__setitem__(gs.argsort(x)[:2], x[0]), lambda y, x: y.__imul__(gs.cos(x)), lambda y, x: y.mul_(2),
        lambda y, x: y.index_put_((gs.asarray([1, 1]),), x[:1], accumulate=True), lambda y, x: y[:, j].fill_(x[i]),
        lambda y, x: y.clamp_max_(x[i]), lambda y, x: y.masked_fill_(x > v, 0.5), lambda y, x: y[0].zero_(),
    ]  # fmt: skip
    chosen = [forms[int(n)] for n in random.integers(0, len(forms), 4)]
    maker = [lambda: gs.zeros((2, LENGTH)), lambda: gs.outer(gs.arange(2.0), v), lambda: gs.asarray([[1.0] * LENGTH] * 2),
             lambda: gs.linspace(0, 1, 2 * LENGTH).reshape(2, LENGTH)][int(random.integers(4))]  # fmt: skip

    def made_inside(x):
        y = maker()
        row, column, part = y[0], y[:, j], y.mT[1:, :1]
        for form in chosen[:2]:
            form(y, x)
        row.add_(x)
        after = y[1, :2]
        for form in chosen[2:]:
            form(y, x)
        return y.sum(axis=0) * v + row + column.sum() + part.sum() + after.sum()

    return [
        lambda x: gs.tanh(w @ x), lambda x: x @ w, lambda x: gs.sin(x) * v, lambda x: gs.softmax(x, -1) + x,
        lambda x: gs.cumsum(x, 0) / LENGTH, lambda x: x - x.mean(), lambda x: gs.where(x > v, x * x, gs.exp(-x * x)),
        lambda x: gs.flip(x, 0) + gs.roll(x, 1, 0), lambda x: gs.concat([x[2:], x[:2] * 2]), lambda x: x * gs.linalg.norm(x + 3),
        lambda x: gs.einsum("i,ij->j", x, w), lambda x: gs.outer(x, v).sum(axis=0), lambda x: gs.stack([x, v]).max(axis=0) + x * x,
        lambda x: gs.linalg.solve(gs.eye(LENGTH) * 4 + gs.outer(v, v), x), lambda x: gs.nn.gelu(x), lambda x: gs.clip(x, -1, 1) + x / 3,
        lambda x: x[order] * x[i], written, in_place, by_value, taken, viewed, turned_in_place, fresh, made_inside,
        lambda x: gs.stop_gradient(gs.cos(x)) * x + gs.sin(x).detach(),
    ]  # fmt: skip


def function(random):
    chosen = [steps(random)[int(n)] for n in random.integers(0, len(steps(random)), int(random.integers(2, 5)))]

    def f(x):
        for step in chosen:
            x = step(x)
        return x

    return f


def looped(f):
    return lambda x: gs.stack([f(x[i]) for i in range(x.shape[0])])


def bend(f, x, slope, curve):
    """The second derivative of f along a path from x, by levels of forward mode in each other."""
    path = lambda t: f(x + t * slope + t * t / 2 * curve)  # noqa: E731
    return gs.jvp(lambda t: gs.jvp(path, (t,), (1.0,))[1], (0.0,), (1.0,))[1]


def transforms(random):
    """Pairs of a transform and the same one with loops, and whether the argument gets one more axis."""
    scale = float(random.normal())
    alike = {
        "grad": lambda f: gs.grad(lambda x: (gs.sin(f(x)) * scale).sum()),
        "jvp": lambda f: lambda x: gs.jvp(f, (x,), (gs.cos(x) * scale,))[1],
        "vjp": lambda f: lambda x: (lambda y, pull: pull(gs.cos(y))[0])(*gs.vjp(f, x)),
        "jacrev": lambda f: lambda x: gs.jacrev(f)(x).sum(axis=-1),
        "jacfwd": lambda f: lambda x: gs.jacfwd(f)(x).sum(axis=-1),
        "value_and_grad": lambda f: lambda x: (lambda v, g: v + g)(*gs.value_and_grad(lambda x: (f(x) ** 2).mean())(x)),
        "hessian": lambda f: lambda x: gs.hessian(lambda x: (f(x) * gs.cos(x)).sum())(x).sum(axis=-1),
        "checkpoint": lambda f: lambda x: gs.utils.checkpoint.checkpoint(f, x, use_reentrant=False),
    }
    chunk = None if random.random() < 0.8 else 2
    found = {name: (change, change, 0) for name, change in alike.items()}
    found["jet"] = (lambda f: lambda x: gs.func.jet(f, (x,), ([gs.cos(x) * scale, x * x],))[1][1],
                    lambda f: lambda x: bend(f, x, gs.cos(x) * scale, x * x), 0)  # fmt: skip
    found["laplacian"] = (gs.func.laplacian, lambda f: lambda x: sum(bend(f, x, one, 0) for one in gs.eye(LENGTH)), 0)
    found["vmap"] = (lambda f: gs.vmap(f, chunk_size=chunk), looped, 1)
    return found


def outcome(seed):
    """What is wrong with one program, None where nothing is."""
    random = np.random.default_rng(seed)
    f = function(random)
    mapped = loop = f
    names, shape = [], (LENGTH,)
    wanted = ["vmap", *(str(name) for name in random.choice([*transforms(random)], int(random.integers(1, 3))))]
    for name in random.permutation(wanted):
        change, by_loop, axes = transforms(random)[name]
        mapped, loop = change(mapped), by_loop(loop)
        shape = (int(random.integers(1, 4)),) * axes + shape
        names.append(str(name))
    x = gs.asarray(random.normal(size=shape))
    try:
        expected = loop(x)
    except Exception:  # a nest that autograd refuses
        return "refused"
    try:
        found = mapped(x)
    except Exception as error:
        jets = sum(name in ("jet", "laplacian") for name in names)
        if jets and (REFUSED in str(error) or NESTED in str(error)):
            return "refused"
        return f"{seed}: {' of '.join(reversed(names))}: {type(error).__name__}: {str(error)[:300]}"
    a, b = found.detach().numpy(), expected.detach().numpy()
    near = 1e-9 * max(1.0, np.abs(b).max(initial=0))
    if a.shape == b.shape and a.dtype == b.dtype and not np.allclose(a, b, rtol=1e-7, atol=near):
        # As far as the loop's own result moves where the last digits of the argument change, digits mean nothing.
        moved = loop(gs.asarray(np.nextafter(x.numpy(), np.inf))).detach().numpy()
        near += 10 * np.abs(moved - b).max(initial=0)
    if a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, rtol=1e-7, atol=near):
        return f"{seed}: {' of '.join(reversed(names))}: {a.shape} {a.ravel()[:3]} in place of {b.shape} {b.ravel()[:3]}"
    return None


def run(count, first=0):
    """How many programs were refused, and what is wrong with the others."""
    wrong, refused = [], 0
    for seed in range(first, first + count):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = outcome(seed)
        refused += found == "refused"
        if found not in (None, "refused"):
            wrong.append(found)
        if sys.stdout.isatty() and seed % 100 == 0:
            print(f"\r{seed - first} of {count}", end="", flush=True)
    return refused, wrong


if __name__ == "__main__":
    count, first = int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    refused, wrong = run(count, first)
    print(f"\n{count} programs, {refused} refused, {len(wrong)} wrong", *wrong[:20], sep="\n")
    sys.exit(bool(wrong))
