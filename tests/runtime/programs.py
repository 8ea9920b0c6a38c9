"""Random programs of views, formulas, in-place writes, no_grad and detach: run on tensors, and on plain arrays that carry a derivative.

A program is a list of steps over a pool of values.  The reference keeps beside each array `p` an array `t` with its derivative
along one direction; a view of a value is the same view of both, a write writes to both, so what shares memory shares its
derivative by NumPy's own rules.  `detach` shares `p` only.  In reverse mode what runs under no_grad has no derivative; in
forward mode it has.  Complex numbers in `p` and `t` give second derivatives (complex step): every operator is analytic.

    python -m tests.runtime.programs COUNT --seed SEED
"""

import argparse
import contextlib
import random
import sys

import numpy as np

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.methods.dual_level import batched_level

STEP = 1e-30  # of the complex step
SCALES = (1.0, 0.0, -2.0)  # the tangents of a batch, as multiples of the one that the reference carries
# What a step may be refused with, before anything has changed.
REFUSED_STEPS = (
    "leaf Variable", "is a view and", "A view was created in", "is a view of a view", "has been overwritten since it was read",
)  # fmt: skip


class Value:
    """An array and its derivative."""

    def __init__(self, p, t):
        self.p, self.t = np.asarray(p), np.asarray(t)


UNARY = {
    "sin": lambda v: Value(np.sin(v.p), np.cos(v.p) * v.t),
    "tanh": lambda v: Value(np.tanh(v.p), (1 - np.tanh(v.p) ** 2) * v.t),
    "square": lambda v: Value(v.p * v.p, 2 * v.p * v.t),
    "negative": lambda v: Value(-v.p, -v.t),
}
BINARY = {
    "add": lambda a, b: Value(a.p + b.p, a.t + b.t),
    "subtract": lambda a, b: Value(a.p - b.p, a.t - b.t),
    "multiply": lambda a, b: Value(a.p * b.p, a.t * b.p + a.p * b.t),
    "divide": lambda a, b: Value(a.p / (2 + b.p * b.p), a.t / (2 + b.p * b.p) - a.p * 2 * b.p * b.t / (2 + b.p * b.p) ** 2),
    "mse": lambda a, b: Value((a.p - b.p) ** 2, 2 * (a.p - b.p) * (a.t - b.t)),
}
CALLS = {"divide": lambda x, y: x / (2 + y * y), "mse": lambda x, y: gs.nn.functional.mse_loss(x, y, reduction="none")}
TERNARY = {
    "lerp": lambda a, b, c: Value(a.p + c.p * (b.p - a.p), a.t + c.t * (b.p - a.p) + c.p * (b.t - a.t)),
    "addcmul": lambda a, b, c: Value(a.p + b.p * c.p, a.t + b.t * c.p + b.p * c.t),
}


def constant(number):
    return Value(np.asarray(number), np.zeros(()))


# What a program may do.  Each kind draws its details from the shapes in the pool, so that the steps fit.


def basic_index(rng, shape):
    index = []
    for n in shape:
        kind = rng.randrange(5)
        if kind == 0:
            index.append(rng.randrange(-n, n))
        elif kind == 1:
            index.append(slice(None, None, rng.choice([-1, 1, 2])))
        elif kind == 2:
            start = rng.randrange(n)
            index.append(slice(start, rng.randrange(start + 1, n + 1)))
        elif kind == 3:
            index.append(slice(None))
        else:
            break
    if rng.random() < 0.2:
        index.insert(rng.randrange(len(index) + 1), None)
    return (*index, ...)  # a view even of one element


def any_index(rng, shape):
    kind = rng.randrange(4)
    if kind == 0 and shape:
        return [rng.randrange(shape[0]) for _ in range(rng.randrange(1, 4))]
    if kind == 1 and shape:
        return np.array([rng.random() < 0.5 for _ in range(int(np.prod(shape)))]).reshape(shape)
    return basic_index(rng, shape)


def diagonal(a):
    """That of a matrix, by strides."""
    array = a.detach().numpy() if isinstance(a, gs.Tensor) else a
    shape, stride = (min(array.shape),), (sum(array.strides),)
    if isinstance(a, gs.Tensor):
        return gs.as_strided(a, shape, tuple(n // array.itemsize for n in stride))
    return np.lib.stride_tricks.as_strided(a, shape, stride)


VIEWS = {
    "getitem": (lambda rng, v: (basic_index(rng, v.p.shape),), lambda a, i: a[i]),
    "transpose": (lambda rng, v: (), lambda a: a.T),
    "swap": (lambda rng, v: (rng.randrange(v.p.ndim), rng.randrange(v.p.ndim)) if v.p.ndim else None,
             lambda a, i, j: a.swapaxes(i, j)),
    "flat": (lambda rng, v: ((v.p.size,),) if v.p.flags.c_contiguous and v.t.flags.c_contiguous else None,
             lambda a, s: a.reshape(s)),
    "fold": (lambda rng, v: ((2, v.p.size // 2),)
             if v.p.flags.c_contiguous and v.t.flags.c_contiguous and v.p.size % 2 == 0 else None, lambda a, s: a.reshape(s)),
    "diagonal": (lambda rng, v: () if v.p.ndim == 2 else None, diagonal),
    "row": (lambda rng, v: (rng.randrange(v.p.shape[0]),) if v.p.ndim else None,
            lambda a, i: gs.unstack(a)[i] if isinstance(a, gs.Tensor) else a[i, ...]),
}  # fmt: skip
KINDS = ["view"] * 6 + ["unary"] * 2 + ["binary"] * 3 + ["ternary"] * 3 + ["inplace"] * 7 + ["setitem"] * 5 + ["zeros", "copy", "detach"]


class Machine:
    """Runs a program on tensors and on the reference side by side, step by step."""

    def __init__(self, seed, primal, direction, x, forward, second=None):
        self.rng = random.Random(seed)
        p = primal if second is None else primal + 1j * STEP * second
        self.forward, self.dtype = forward, p.dtype
        self.pool = [(x, Value(p.copy(), direction.astype(p.dtype)))]
        self.pool.append((x * 1, Value(p.copy(), direction.astype(p.dtype))))
        self.refused, self.unrecorded, self.log = [], False, []

    def step(self):
        rng = self.rng
        kind = rng.choice(KINDS)
        silent = rng.random() < 0.06
        make = getattr(self, kind)(rng)
        if make is None:
            return
        on_tensors, on_reference, text = make
        self.log.append(("no_grad: " if silent else "") + text)
        try:
            if silent:
                with gs.no_grad():
                    result = on_tensors()
            else:
                result = on_tensors()
        except RuntimeError as error:
            if not any(words in str(error) for words in REFUSED_STEPS):
                raise
            self.refused.append(str(error))
            self.log[-1] += "  # refused"
            return
        if silent:
            self.unrecorded = True
        found = on_reference(lost=silent and not self.forward)
        if result is not None:
            self.pool.append((result, found))

    def pick(self, rng):
        i = rng.randrange(len(self.pool))
        return i, *self.pool[i]

    def view(self, rng):
        i, x, v = self.pick(rng)
        name = rng.choice(list(VIEWS))
        draw, take = VIEWS[name]
        args = draw(rng, v)
        if args is None or take(v.p, *args).size == 0:
            return None
        return lambda: take(x, *args), lambda lost: Value(take(v.p, *args), self.hidden(take(v.t, *args), lost)), f"v{len(self.pool)} = {name}(v{i}, {args})"

    def hidden(self, t, lost):
        """A derivative that is lost from here on: zeros in memory of their own."""
        return np.zeros(t.shape, t.dtype) if lost else t

    def unary(self, rng):
        i, x, v = self.pick(rng)
        name = rng.choice(list(UNARY))

        def reference(lost):
            y = UNARY[name](v)
            return Value(y.p, self.hidden(y.t, lost))
        return lambda: getattr(gs, name)(x), reference, f"v{len(self.pool)} = {name}(v{i})"

    def operands(self, rng):
        """Two values that broadcast, the second maybe a number."""
        i, x, v = self.pick(rng)
        if rng.random() < 0.2:
            number = rng.choice([0.5, -1.5, 2.0])
            return i, x, v, number, number, constant(number)
        return i, x, v, *self.fitting(rng, v)

    def fitting(self, rng, v):
        """A value that broadcasts to the shape of another one."""
        j, y, w = rng.choice([(j, *both) for j, both in enumerate(self.pool) if fits(both[1].p.shape, v.p.shape)])
        return f"v{j}", y, w

    def binary(self, rng):
        i, x, v, j, y, w = self.operands(rng)
        name = rng.choice(list(BINARY))

        def tensors():
            return CALLS[name](x, y) if name in CALLS else getattr(gs, name)(x, y)

        def reference(lost):
            z = BINARY[name](v, w)
            return Value(z.p, self.hidden(z.t, lost))
        return tensors, reference, f"v{len(self.pool)} = {name}(v{i}, {j})"

    def ternary(self, rng):
        """A formula of three values, which writes to the first one or not."""
        i, x, v = self.pick(rng)
        (j, y, w), (k, z, u) = self.fitting(rng, v), self.fitting(rng, v)
        name, written = rng.choice(list(TERNARY)), i > 0 and rng.random() < 0.6

        def tensors():
            if not written:
                return getattr(gs, name)(x, y, z)
            self.note(x, y, z)
            getattr(x, name + "_")(y, z)

        def reference(lost):
            found = TERNARY[name](v, w, u)
            if not written:
                return Value(found.p, self.hidden(found.t, lost))
            v.p[...] = found.p
            if not lost:
                v.t[...] = found.t
        return tensors, reference, f"v{i}.{name}_({j}, {k})" if written else f"v{len(self.pool)} = {name}(v{i}, {j}, {k})"

    def inplace(self, rng):
        i, x, v, j, y, w = self.operands(rng)
        name = rng.choice([*UNARY, "add", "subtract", "multiply", "add", "multiply", "copy", "zero", "fill"])
        if i == 0:
            return None  # the leaf

        def tensors():
            self.note(x, y if name in ("add", "subtract", "multiply", "copy") else 0.0)
            if name in UNARY or name == "zero":
                getattr(x, name + "_")()
            elif name == "fill":
                x.fill_(0.25)
            elif name == "copy":
                x.copy_(y)
            else:
                getattr(x, name + "_")(y)

        def reference(lost):
            if name in UNARY:
                z = UNARY[name](v)
            elif name == "zero":
                z = constant(0.0)
            elif name == "fill":
                z = constant(0.25)
            elif name == "copy":
                z = Value(w.p.copy(), w.t.copy())
            else:
                z = BINARY[name](v, w)
            v.p[...] = z.p
            if not lost:
                v.t[...] = z.t
        return tensors, reference, f"v{i}.{name}_({j})"

    def setitem(self, rng):
        i, x, v = self.pick(rng)
        index = any_index(rng, v.p.shape)
        if i == 0 or v.p[index].size == 0:
            return None
        place = v.p[index].shape
        if rng.random() < 0.2:
            j = y = rng.choice([0.5, -1.0])
            w = constant(y)
        else:
            fitting = [(j, *both) for j, both in enumerate(self.pool) if fits(both[1].p.shape, place)]
            if not fitting:
                return None
            j, y, w = rng.choice(fitting)
        if isinstance(index, list) and len(set(index)) < len(index):
            return None  # which of the values stays is NumPy's affair

        def tensors():
            self.note(x, y)
            x[index] = y

        def reference(lost):
            p, t = np.broadcast_to(w.p, place).copy(), np.broadcast_to(w.t, place).copy()
            v.p[index] = p
            if not lost:
                v.t[index] = t
        return tensors, reference, f"v{i}[{index}] = {j if isinstance(j, float) else f'v{j}'}"

    def note(self, *operands):
        """A write that nothing records may leave backward without what it needs."""
        if not any(isinstance(y, gs.Tensor) and y.requires_grad for y in operands):
            self.unrecorded = True

    def zeros(self, rng):
        shape = rng.choice([(2, 3), (3,), (2,), (3, 2)])
        return lambda: gs.zeros(shape), lambda lost: Value(np.zeros(shape, self.dtype), np.zeros(shape, self.dtype)), f"v{len(self.pool)} = zeros({shape})"

    def copy(self, rng):
        i, x, v = self.pick(rng)
        return lambda: gs.copy(x), lambda lost: Value(v.p.copy(order="K"), self.hidden(v.t.copy(order="K"), lost)), f"v{len(self.pool)} = copy(v{i})"

    def detach(self, rng):
        i, x, v = self.pick(rng)
        self.unrecorded = True  # a write through it is none to a leaf, which a node may have saved
        return lambda: x.detach(), lambda lost: Value(v.p, np.zeros_like(v.t)), f"v{len(self.pool)} = v{i}.detach()"

    def result(self):
        """A sum over everything that can still be read, with weights, and its derivative."""
        total, p, t = 0.0, 0.0, 0.0
        for k, (x, v) in enumerate(self.pool):
            np.testing.assert_allclose(x.detach().numpy(), v.p.real, rtol=1e-9, atol=1e-12, err_msg=f"value of v{k}")
            weights = np.cos(np.arange(v.p.size) + k).reshape(v.p.shape)
            try:
                term = (x * weights).sum()
            except RuntimeError as error:
                if "view" not in str(error):
                    raise
                continue
            total, p, t = total + term, p + (v.p * weights).sum(), t + (v.t * weights).sum()
        return total, p, t


def fits(shape, other):
    try:
        return np.broadcast_shapes(shape, other) == tuple(other)
    except ValueError:
        return False


def close(found, expected, what):
    scale = 1.0 + abs(expected)
    assert abs(found - expected) <= 1e-7 * scale, f"{what}: {found} instead of {expected}"


REFUSED = "has been modified by an inplace operation"


def run(seed, mode, steps=9):
    """One program in one mode; what it came to: "equal" or "refused"."""
    rng = np.random.default_rng(seed)
    primal, direction, second = rng.normal(size=(3, 2, 3))
    machine = None
    try:
        with np.errstate(all="ignore"):
            if mode == "reverse":
                x = gs.tensor(primal, requires_grad=True)
                machine = Machine(seed, primal, direction, x, False)
                for _ in range(steps):
                    machine.step()
                total, _, t = machine.result()
                if not np.isfinite(t) or abs(t) > 1e8:
                    return "too large"
                (g,) = grad(total, x)
                close((g.numpy() * direction).sum(), t, "gradient")
            elif mode in ("forward", "forward in batches"):
                with level_of(mode) as (push, tangents):
                    x = push(gs.tensor(primal), direction)
                    machine = Machine(seed, primal, direction, x, True)
                    for _ in range(steps):
                        machine.step()
                    total, _, t = machine.result()
                    if not np.isfinite(t) or abs(t) > 1e8:
                        return "too large"
                    for scale, tangent in tangents(total):
                        close(tangent.sum(), scale * t, "tangent")
            elif mode in ("forward over reverse", "forward over reverse in batches"):
                with level_of(mode) as (push, tangents):
                    leaf = gs.tensor(primal, requires_grad=True)
                    x = push(leaf, second)
                    machine = Machine(seed, primal, direction, x, False, second)
                    machine.rng.random = no_silence(machine.rng)
                    for _ in range(steps):
                        machine.step()
                    total, _, t = machine.result()
                    if any("detach" in line for line in machine.log):
                        return "not comparable"
                    if not np.isfinite(t) or abs(t) > 1e8 or abs(t.imag / STEP) > 1e8:
                        return "too large"
                    (g,) = grad(total, leaf)
                    close((g.detach().numpy() * direction).sum(), t.real, "gradient")
                    for scale, tangent in tangents(g):
                        close((tangent * direction).sum(), scale * t.imag / STEP, "tangent of the gradient")
            else:
                x = gs.tensor(primal, requires_grad=True)
                machine = Machine(seed, primal, direction, x, False, second)
                machine.rng.random = no_silence(machine.rng)
                for _ in range(steps):
                    machine.step()
                total, _, t = machine.result()
                if any("detach" in line for line in machine.log):
                    return "not comparable"
                if not np.isfinite(t) or abs(t) > 1e8 or abs(t.imag / STEP) > 1e8:
                    return "too large"
                (g,) = grad(total, x, create_graph=True)
                close((g.detach().numpy() * direction).sum(), t.real, "gradient")
                (gg,) = grad((g * direction).sum(), x, allow_unused=True) if g.requires_grad else (None,)
                close(0.0 if gg is None else (gg.numpy() * second).sum(), t.imag / STEP, "second derivative")
    except Exception as error:
        if isinstance(error, RuntimeError) and REFUSED in str(error) and machine.unrecorded:
            return "refused"
        error.add_note(f"seed {seed}, {mode}:\n" + "\n".join(machine.log if machine else []))
        raise
    return "equal"


@contextlib.contextmanager
def level_of(mode):
    """A dual level: how a tangent is pushed in, and what comes out, as pairs of a factor and the tangent that it multiplies."""
    if not mode.endswith("in batches"):
        with forward_ad.dual_level():
            yield (lambda x, t: forward_ad.make_dual(x, gs.tensor(t)),
                   lambda y: [(1.0, read(forward_ad.unpack_dual(y).tangent, y.shape))])
        return
    with batched_level(len(SCALES)) as level:
        yield (lambda x, t: level.push(x, gs.tensor(np.multiply.outer(SCALES, t))),
               lambda y: zip(SCALES, read(level.pushed(y).tangent, (len(SCALES), *y.shape)), strict=True))


def read(tangent, shape):
    if tangent is None:
        return np.zeros(shape)
    assert tangent.shape == shape
    return tangent.detach().numpy()


def no_silence(rng):
    """Second derivatives are compared without no_grad: what is lost there is lost once in one mode and twice in the other."""
    draw = rng.random
    return lambda: max(draw(), 0.061)


MODES = ["reverse", "forward", "forward over reverse", "reverse over reverse", "forward in batches", "forward over reverse in batches"]

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--keep-going", action="store_true")
    given = parser.parse_args()
    tally, failures = {}, 0
    for seed in range(given.seed, given.seed + given.count):
        mode = given.mode or MODES[seed % len(MODES)]
        try:
            outcome = run(seed, mode)
        except Exception as error:
            failures += 1
            outcome = f"FAILED: {type(error).__name__}"
            if failures <= 5:
                print(f"{type(error).__name__}: {error}", *getattr(error, "__notes__", []), sep="\n", end="\n\n")
        key = (mode, outcome)
        tally[key] = tally.get(key, 0) + 1
    for key, count in sorted(tally.items()):
        print(*key, count)
    sys.exit(bool(failures))
