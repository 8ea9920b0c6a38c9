"""Training steps with every feature, again and again: nothing may be left of a step when it is over.

Each feature is a function that does one small step with it on parameters that live on.  The collector is off: what only it
could free counts as left.  Arrays that the library keeps for the next results, in bounds, do not.

    python -m tests.runtime.soak 10000
"""

import argparse
import gc
import sys
import threading
import time
import warnings

import numpy as np

import gradspec as gs
from gradspec.autograd import Function, backward, forward_ad, functional, grad, graph
from gradspec.autograd.checkpoint import checkpoint
from gradspec.kernels.loops.memory import empty_cache


class Scale(Function):
    """Doubles in place, and saves what it wrote."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 + 0 * x

    @staticmethod
    def jvp(ctx, x_t):
        return x_t.mul_(2)


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("on purpose")


class State:
    """What a training keeps from step to step."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.w = gs.tensor(rng.standard_normal((4, 4)) / 4, requires_grad=True)
        self.v = gs.tensor(rng.standard_normal(4) / 4, requires_grad=True)
        self.x = gs.tensor(rng.standard_normal((6, 4)))

    def update(self):
        with gs.no_grad():
            for p in (self.w, self.v):
                if p.grad is not None:
                    p.sub_(1e-3 * p.grad)
                    p.grad = None


def layers(s, x):
    return (x @ s.w).tanh() @ s.v


def plain(s):
    layers(s, s.x).sum().backward()


def views_and_writes(s):
    y = s.w * 1
    rows = gs.zeros((6, 4))
    early = rows[1:3]
    for i in range(6):
        rows[i] = (s.x[i] @ y).sin()
    y[0].mul_(2)
    y.T[1:, 0].add_(1)
    y[:, 1], y[:, 2] = y[:, 2].clone(), y[:, 1].clone()
    y[[0, 2]] = s.v
    turned = y.clone()
    turned.swapaxes_(0, 1).unsqueeze_(0)
    ((rows @ y).sum() + early.sum() + turned.sum()).backward()


def snapshots(s):
    y = (s.w / 3).exp()
    z = y * y
    y[0] = 0
    y += 1
    (z + y * y).sum().backward()


def hooks(s):
    seen = []
    y = s.x @ s.w
    handles = [
        y.register_hook(lambda g: g * 2),
        y.grad_fn.register_prehook(lambda grads: seen.append(len(grads))),
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append(len(inputs))),
        s.w.register_hook(lambda g: g / 2),
        s.w.register_post_accumulate_grad_hook(lambda p: seen.append(p.shape)),
        graph.register_multi_grad_hook((s.w, s.v), lambda grads: seen.append(len(grads))),
        graph.register_multi_grad_hook((y, s.v), lambda g: seen.append(1), mode="any"),
    ]
    y.retain_grad()
    (y.tanh() @ s.v).sum().backward()
    for handle in handles:
        handle.remove()
    assert len(seen) == 5 and y.grad is not None


def duals(s):
    with forward_ad.dual_level():
        w = forward_ad.make_dual(s.w, gs.ones_like(s.w))
        y = (s.x @ w).tanh()
        y[0] *= 3
        primal, tangent = forward_ad.unpack_dual((y @ s.v).sum())
        (primal + tangent).backward()
        with forward_ad.dual_level():
            forward_ad.unpack_dual((forward_ad.make_dual(w * 1, gs.ones_like(s.w)) ** 3).sum())


def second_order(s):
    (g,) = grad(layers(s, s.x).sum(), s.w, create_graph=True)
    (g * g).sum().backward()
    functional.hvp(lambda v: (v**3).sum(), s.v.detach(), gs.ones((4,)))
    functional.jacobian(lambda v: v.sin(), s.v.detach())


def checkpoints(s):
    def region(x):
        return checkpoint(lambda z: (z @ s.w).tanh(), (x @ s.w).sin(), use_reentrant=False)

    y = checkpoint(region, s.x, use_reentrant=False)
    z = checkpoint(lambda w: (s.x @ w).tanh(), s.w, use_reentrant=True)
    ((y + z) @ s.v).sum().backward()


def packed(s):
    with graph.saved_tensors_hooks(lambda t: t.numpy().copy() if not t.requires_grad else (t,), unpack):
        layers(s, s.x).sum().backward()
    with graph.allow_mutation_on_saved_tensors():
        y = s.w * 2
        z = (y * y).sum()
        y.zero_()
        z.backward()


def unpack(kept):
    return kept[0] if isinstance(kept, tuple) else gs.asarray(kept)


def to_disk(s):
    with graph.save_to_disk():
        layers(s, s.x).sum().backward()


def functions(s):
    y, z = s.w * 1, s.w * 3
    Scale.apply(y)
    Scale.apply(z[1:])
    (y + z).sum().backward()
    with forward_ad.dual_level():
        Scale.apply(forward_ad.make_dual(gs.ones((2,)), gs.ones((2,))))


def failures(s):
    y = Fails.apply(s.w * 2).exp()
    try:
        y.sum().backward()
    except ValueError:
        pass
    try:
        s.w.add_(1)
    except RuntimeError:
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with gs.autograd.detect_anomaly():
            try:
                (s.v * 0 / gs.zeros((4,))).sum().backward()
            except RuntimeError:
                pass


def several_passes(s):
    y = (s.x @ s.w).tanh()
    z = (y @ s.v).sum()
    z.backward(retain_graph=True, inputs=[s.v])
    grad(z, [y, s.w], retain_graph=True)
    edge = graph.get_gradient_edge(y)
    backward([z, y], [None, gs.ones_like(y)])
    assert edge.node is y.grad_fn

    def again(g):
        with gs.enable_grad():
            layers(s, s.x).sum().backward()

    y = s.v * 2
    y.register_hook(again)
    y.sum().backward()


def modes(s):
    with gs.inference_mode():
        a = s.x * 2
        a[0] = 1
        s.w[0]
    with gs.no_grad():
        s.v.copy_(s.v.clone())
        s.v.data = s.v.detach().clone()
        s.v.set_(s.v.clone())
    (s.x + a).sum()
    gs.ones((3,), requires_grad=True).detach().resize_(5)


def threads(s):
    shared = (s.x @ s.w).tanh()
    total = (shared @ s.v).sum()

    def one():
        layers(s, s.x).sum().backward()
        total.backward(retain_graph=True)

    workers = [threading.Thread(target=one) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


FEATURES = [
    plain, views_and_writes, snapshots, hooks, duals, second_order, checkpoints, packed, to_disk, functions, failures,
    several_passes, modes, threads,
]  # fmt: skip


def resident():
    """Bytes of memory that the process has; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        return 0


def growth(features, steps, warm=50, rounds=3):
    """What each round of `steps` steps left behind: Python's blocks, what only the collector could free, the process's bytes.

    A step that leaves something leaves it in every round.  What an interpreter or a store of dead objects keeps for itself, in
    bounds, it keeps once, and nobody knows when: of blocks and bytes the round with the fewest counts, of garbage all of it.
    """
    state = State()
    enabled = gc.isenabled()
    gc.disable()
    try:
        run(features, state, warm)
        blocks, garbage, memory = zip(*(run(features, state, steps) for _ in range(rounds)), strict=True)
        return min(blocks), max(garbage), min(memory)
    finally:
        if enabled:
            gc.enable()


def run(features, state, steps):
    gc.collect()  # empties the interpreter's lists of free tuples, too
    empty_cache()
    blocks, memory = sys.getallocatedblocks(), resident()
    for _ in range(steps):
        for feature in features:
            feature(state)
            state.update()
    garbage = gc.collect()
    empty_cache()
    return sys.getallocatedblocks() - blocks, garbage, resident() - memory


def main():
    parser = argparse.ArgumentParser(description="Training steps with every feature, the collector off.")
    parser.add_argument("steps", type=int)
    steps = parser.parse_args().steps
    for feature in FEATURES:
        report(feature.__name__, max(steps // 10, 1), growth([feature], max(steps // 10, 1)))
    start = time.perf_counter()
    blocks, garbage, memory = left = growth(FEATURES, steps)
    report("all of them", steps, left)
    print(f"{time.perf_counter() - start:.0f} s")
    return 0 if blocks < max(100, steps / 10) and garbage == 0 and memory < 2**23 else 1


def report(name, steps, left):
    blocks, garbage, memory = left
    print(f"{name:20} {steps} steps: {blocks:6} blocks, {garbage} for the collector, {memory / 2**20:6.2f} MB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
