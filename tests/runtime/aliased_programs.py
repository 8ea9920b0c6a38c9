"""Random programs of memory that is known by many names, compiled: a replay leaves and returns what the function does.

Arguments are views of one another (negative strides, steps, no elements, no axes, one object twice, read-only, arrays and
tensors), and of what the function holds; they lie otherwise in a later call.  A program takes views of views, writes through them,
and returns views, arguments and what it holds.  A step may be one of the steps before, so that values are equal.  Each call is made of the function itself as well, on memory of its own; results,
all memory, and which results share memory are compared.

    python -m tests.runtime.aliased_programs COUNT --seed SEED
"""

import argparse
import random
import sys
import warnings

import numpy as np

import gradspec as gs
from gradspec.compiler.tracing.traced import same_bits
from gradspec.compiler.tracing.values import held

ROOM = 24  # elements of each block of memory
BLOCKS = 3
ERRORS = (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError)  # of a step, which then has done nothing
RELATIONS = (0, 0, 1, 0, 2, 1)  # of the calls: how their arguments lie


class Place:
    """A part of a block: where an argument lies."""

    def __init__(self, rng, shape=None):
        if shape is None:
            shape = tuple(rng.choice([0, 1, 2, 2, 3, 3, 4]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))
        order = rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.3 else range(len(shape) - 1, -1, -1)
        strides, step = [0] * len(shape), rng.choice([1, 1, 1, 2])
        for axis in order:
            strides[axis] = step * rng.choice([1, 1, 1, -1])
            step *= max(shape[axis], 1)
        self.shape, self.strides = shape, tuple(strides)
        self.block, self.offset = rng.randrange(BLOCKS), 0
        low = sum((n - 1) * stride for n, stride in zip(shape, strides) if stride < 0 and n)
        high = sum((n - 1) * stride for n, stride in zip(shape, strides) if stride > 0 and n)
        self.low, self.high = -low, ROOM - 1 - high
        self.fits = self.low <= self.high
        self.far = rng.random() < 0.2  # in a view whose base NumPy does not tell
        if self.fits:
            self.move(rng)

    def move(self, rng):
        self.block, self.offset = rng.randrange(BLOCKS), rng.randint(self.low, self.high)

    def of(self, blocks):
        block = blocks[self.block]
        strides = tuple(8 * stride for stride in self.strides)
        if self.far:
            return np.lib.stride_tricks.as_strided(block[self.offset :], self.shape, strides)
        return np.ndarray(self.shape, np.float64, block, 8 * self.offset, strides)


class World:
    """Memory, what the function holds, and the arguments of each call."""

    def __init__(self, seed):
        rng = random.Random(seed)
        places = [place for place in (Place(rng) for _ in range(8)) if place.fits]
        self.kinds = [rng.choice(["array", "array", "tensor", "tensor", "read-only", "again"]) for _ in range(rng.randint(1, 4))]
        self.places = places[: len(self.kinds)]
        self.kinds, self.seed = self.kinds[: len(self.places)], seed
        numbers = np.random.default_rng((seed, 3))
        self.blocks = [numbers.normal(size=ROOM) for _ in range(BLOCKS)]
        whole = gs.asarray(self.blocks[0])
        self.held = [whole, whole[rng.randrange(4) : rng.randrange(6, ROOM)], gs.asarray(self.blocks[1])[:: rng.choice([1, -1, 2])]]
        self.held = self.held[: rng.randrange(4)]
        self.leaf = gs.tensor(numbers.normal(size=(2, 3)), requires_grad=True)

    def arguments(self, number):
        """Those of a call, with new numbers in all memory."""
        relation = RELATIONS[number]
        rng = random.Random(self.seed * 10 + relation)
        numbers = np.random.default_rng((self.seed, 4, number))
        for block in self.blocks:
            block[...] = numbers.normal(size=ROOM)
        found = []
        for kind, place in zip(self.kinds, self.places):
            place.move(rng)
            if kind == "again" and found:
                found.append(rng.choice(found) if relation else found[-1])
                continue
            array = place.of(self.blocks)
            if kind == "read-only":
                array.flags.writeable = False
            found.append(gs.asarray(array) if kind == "tensor" else array)
        return found


def part(rng, n):
    """An index of one axis, often of nothing."""
    kind = rng.randrange(6)
    if kind == 0 and n:
        return rng.randrange(-n, n)
    if kind == 1:
        return slice(None, None, rng.choice([-1, 2, -2]))
    if kind == 2:
        start = rng.randint(0, n)
        return slice(start, start)
    if kind == 3:
        return slice(rng.randint(0, n), None)
    return slice(None)


def index(rng, y):
    found = [part(rng, n) for n in y.shape[: rng.randint(0, y.ndim)]]
    if rng.random() < 0.2:
        found.insert(rng.randint(0, len(found)), None)
    return (*found, ...)


def axis(rng, y):
    return rng.randrange(-y.ndim, y.ndim)


class Outside(Exception):
    """A view by strides leaves its array, which hangs on where that lies: the call fails, and a later one need not."""


def strided(rng, y):
    shape = tuple(rng.choice([0, 1, 2, 3]) for _ in range(rng.randrange(3)))
    try:
        return gs.as_strided(y, shape, tuple(rng.choice([1, 1, 2, 3]) for _ in shape), rng.choice([None, 0, 1, 2, 5, 9]))
    except ERRORS as error:
        raise Outside from error


VIEWS = [
    *[lambda rng, y: y[index(rng, y)]] * 6,
    lambda rng, y: y.T if y.ndim == 2 else y.swapaxes(0, -1),
    lambda rng, y: y.reshape(-1),
    lambda rng, y: y.reshape((1, *y.shape)),
    lambda rng, y: y.unsqueeze(axis(rng, y)),
    lambda rng, y: y.squeeze(),
    lambda rng, y: gs.diagonal(y),
    lambda rng, y: rng.choice(gs.unstack(y, axis=axis(rng, y))),
    lambda rng, y: rng.choice(y.split(rng.choice([1, 2]), axis(rng, y))),
    lambda rng, y: y.expand(2, *y.shape),
    lambda rng, y: y.detach(),
    lambda rng, y: y.flip(axis(rng, y)),
    lambda rng, y: y.real,
    lambda rng, y: y.contiguous(),
    lambda rng, y: y.to(gs.float64),
    strided,
]
NEW = [
    lambda rng, y, z: y * z,
    lambda rng, y, z: y + 0.5,
    lambda rng, y, z: gs.sin(y),
    lambda rng, y, z: y - z.sum(),
    lambda rng, y, z: y.sum(axis=axis(rng, y)),
    lambda rng, y, z: gs.concat([y.reshape(-1), z.reshape(-1)]),
    lambda rng, y, z: gs.concat([y, z], axis=axis(rng, y)),
    lambda rng, y, z: gs.where(y > 0, y, z),
    lambda rng, y, z: y @ z.T,
    lambda rng, y, z: y.clone(),
    lambda rng, y, z: gs.maximum(y, z),
    lambda rng, y, z: gs.softmax(y, axis(rng, y)),
    lambda rng, y, z: y.cumsum(axis(rng, y)),
    lambda rng, y, z: gs.zeros(y.shape),
]


def set_part(rng, y, z):
    y[index(rng, y)] = rng.choice([1.5, z, z[..., :1] if z.ndim else z])


WRITES = [
    *[set_part] * 3,
    lambda rng, y, z: y.add_(z),
    lambda rng, y, z: y.mul_(1.5),
    lambda rng, y, z: y.copy_(z),
    lambda rng, y, z: y.fill_(rng.choice([2.0, 3.0])),
    lambda rng, y, z: y.zero_(),
    lambda rng, y, z: y.masked_fill_(y > 0, 0.25),
    lambda rng, y, z: y.sin_(),
    lambda rng, y, z: y.sub_(z.sum()),
    lambda rng, y, z: y.swapaxes(0, -1).add_(z),
    lambda rng, y, z: y.t_(),
    lambda rng, y, z: y.squeeze_(),
    lambda rng, y, z: gs.add(y.detach(), z.detach(), out=y.detach()),
    lambda rng, y, z: gs.multiply(z.detach(), 2.0, out=y.detach()[index(rng, y)]),
    lambda rng, y, z: gs.exp(z.detach(), out=y.detach()),
]


def program(seed, world):
    """The function of a seed, over what a world holds."""
    kept, leaf, graded = world.held, world.leaf, seed % 3 == 0

    def function(*arguments):
        rng = random.Random(seed + 5)
        pool = [*arguments, *kept]
        if graded:
            pool += [leaf, leaf * 2]
        done = []
        for _ in range(rng.randint(3, 10)):
            kind = rng.choice(["view", "view", "new", "write"])
            y, z = rng.choice(pool), rng.choice(pool)
            step, chosen = rng.choice({"view": VIEWS, "new": NEW, "write": WRITES}[kind]), rng.random()
            if done and rng.random() < 0.3:
                kind, y, z, step, chosen = rng.choice(done)
            done.append((kind, y, z, step, chosen))
            inner = random.Random(chosen)
            try:
                found = step(inner, y) if kind == "view" else step(inner, y, z)
            except ERRORS:
                continue
            if found is not None and kind != "write":
                pool.append(found)
        returned = rng.sample(pool, rng.randint(0, len(pool)))
        if graded:
            try:
                loss = sum((gs.sin(y) * 0.5).sum() for y in pool if y.dtype == gs.float64)
                returned = [y.detach() for y in returned] + list(gs.autograd.grad(loss, [leaf], allow_unused=True))
            except ERRORS:
                returned = [y.detach() for y in returned]
        return returned

    return function


def results_of(function, arguments):
    """The results of a call; none where it fails."""
    try:
        return function(*arguments)
    except Outside:
        return []


def shared(result, world):
    """Which results share memory with one another, or with a block."""
    arrays = [held(y) for y in result if y is not None]
    others = [*arrays, *world.blocks]
    return [(i, j) for i, a in enumerate(arrays) for j, b in enumerate(others) if i != j and np.shares_memory(a, b)]


def compare(found, wanted, what):
    assert len(found) == len(wanted), what
    for number, (a, b) in enumerate(zip(found, wanted)):
        if (a is None) != (b is None) or a is not None and not same_bits(held(a), held(b)):
            raise AssertionError(f"{what} {number}: replayed {a}, the function {b}")


def run(seed):
    """One program; what it came to: "equal", "nothing" (no call came to an end), or why it ran as it is."""
    mine, theirs = World(seed), World(seed)
    if not mine.places:
        return "nothing"
    eager, compiled = program(seed, mine), gs.compile(program(seed, theirs))
    earlier = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(len(RELATIONS)):
            arguments, others = mine.arguments(number), theirs.arguments(number)
            wanted, found = results_of(eager, [gs.asarray(item) for item in arguments]), results_of(compiled, others)
            compare(found, wanted, f"call {number}, result")
            compare([gs.asarray(block) for block in theirs.blocks], [gs.asarray(block) for block in mine.blocks], f"call {number}, block")
            a, b = shared(found, theirs), shared(wanted, mine)
            if a != b:
                raise AssertionError(f"call {number} shares memory: replayed {a}, the function {b}")
            kept = [*theirs.blocks, held(theirs.leaf)]
            fresh = [y for y in found if y is not None and not any(np.shares_memory(held(y), array) for array in kept)]
            for ys, numbers in earlier:
                for y, before in zip(ys, numbers):
                    if held(y).tobytes() != before:
                        raise AssertionError(f"call {number} wrote to an earlier result")
            earlier.append((fresh, [held(y).tobytes() for y in fresh]))
    reasons = [signature.reason for signature in compiled.signatures if signature.reason]
    if reasons:
        return "as it is: " + reasons[0].split(" at ")[0]
    return "equal" if compiled.program is not None else "nothing"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tally, failures = {}, 0
    for seed in range(given.seed, given.seed + given.count):
        try:
            outcome = run(seed)
        except Exception as error:
            failures += 1
            outcome = f"FAILED: {type(error).__name__}"
            if failures <= 8:
                print(f"seed {seed}: {type(error).__name__}: {str(error)[:1500]}", end="\n\n", flush=True)
        tally[outcome] = tally.get(outcome, 0) + 1
    for key, count in sorted(tally.items()):
        print(key, count, sep="\t")
    sys.exit(failures > 0)
