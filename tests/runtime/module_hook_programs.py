"""Random programs of modules with backward hooks, that run on gradspec and on PyTorch, and what the hooks have to see.

A program is a list of calls of modules over a pool of values, then a list of passes over the one graph that they leave: with
and without create_graph, of some inputs or all, of the results, of values that were put aside inside a forward, and of the
gradients of earlier passes. Nothing here compares: `run` gives a log of numbers.
"""

import random

import numpy as np


def programs(seed):
    """The description of a random program."""
    draw = random.Random(seed)
    calls, count = [], 3  # the pool begins with two leaves and a constant
    for _ in range(draw.randint(1, 4)):
        kind = draw.choice(["one", "one", "two", "several", "weight", "aside", "same", "nested", "keyword", "number"])
        args = [draw.randrange(count) for _ in range(2)]
        hook = draw.choice(["seen", "seen", "scaled", "pre", "pre scaled", "both", "none"])
        calls.append((kind, args, hook, draw.choice([None, None, None, "checkpoint"])))
        count += 2 if kind == "several" else 1
    passes = []
    for _ in range(draw.randint(1, 4)):
        loss = draw.choice(["results", "results", "aside", "both", "penalty", "first result"])
        inputs = draw.choice([(0, 1), (0,), (1,), "weights", "backward"])
        passes.append((loss, inputs, draw.random() < 0.5))
    return calls, passes


def classes(library, hooked):
    """The modules of the programs; `hooked` registers a hook on one."""
    nn = library.nn

    class One(nn.Module):
        def forward(self, a, b):
            return a * a + library.sin(a)

    class Two(nn.Module):
        def forward(self, a, b):
            return a * library.tanh(b) + 1

    class Several(nn.Module):
        def forward(self, a, b):
            return a * b, library.cos(a)

    class Weight(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(library.tensor([0.5, -1.5, 2.0], dtype=library.float64))

        def forward(self, a, b):
            return library.tanh(a * self.weight)

    class Aside(nn.Module):
        def forward(self, a, b):
            self.aside = library.exp(a) * b
            return a * b * b

    class Same(nn.Module):
        def forward(self, a, b):
            return a

    class Nested(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Weight()
            hooked(self.inner, "seen")

        def forward(self, a, b):
            return self.inner(a * 2, b) * self.inner(b, a)

    class Keyword(nn.Module):
        def forward(self, a, b=None):
            return a * b

    class Number(nn.Module):
        def forward(self, a, n):
            return a * n

    return {kind.__name__.lower(): kind for kind in (One, Two, Several, Weight, Aside, Same, Nested, Keyword, Number)}


def run(library, checkpoint, seed, hooks=True):
    """The log of a program: one row for each hook that ran, one for each pass.

    Parameters
    ----------
    library : module
        gradspec or torch.
    checkpoint : callable
        Its checkpoint of a function.
    seed : int
    hooks : bool
        False: hooks only look and no hook is registered, for the gradients without any.

    Returns
    -------
    list of tuple
        ("hook", name of the call, name of the hook, gradients...) and ("pass", gradients...) in order.
    """
    calls, passes = programs(seed)
    log = []

    def numbers(values):
        return tuple(None if value is None else np.array(value.detach().tolist()) for value in values)

    def hooked(module, kind):
        name = len(log_names)
        log_names.append(kind)
        if not hooks:
            return
        scaled = "scaled" in kind

        def before(module, grad_output):
            log.append(("hook", name, "pre", *numbers(grad_output)))
            if scaled:
                return tuple(None if grad is None else grad * 3 for grad in grad_output)

        def after(module, grad_input, grad_output):
            log.append(("hook", name, "full", *numbers(grad_input), "of", *numbers(grad_output)))
            if scaled:
                return tuple(None if grad is None else grad * -2 for grad in grad_input)

        if kind.startswith("pre") or kind == "both":
            module.register_full_backward_pre_hook(before)
        if kind in ("seen", "scaled", "both"):
            module.register_full_backward_hook(after)

    log_names: list = []
    kinds = classes(library, hooked)
    pool = [library.tensor([0.3, -0.7, 1.1], dtype=library.float64, requires_grad=True),
            library.tensor([-0.2, 0.9, 0.4], dtype=library.float64, requires_grad=True),
            library.tensor([1.5, 0.5, -1.0], dtype=library.float64)]  # fmt: skip
    leaves, weights, aside, results = pool[:2], [], [], []
    for kind, (a, b), hook, stored in calls:
        module = kinds[kind]()
        hooked(module, hook)
        weights += list(module.parameters())
        if kind == "keyword":
            found = module(pool[a], b=pool[b])
        elif kind == "number":
            found = module(pool[a], 2.5)
        elif stored and kind != "aside":
            found = checkpoint(module, pool[a], pool[b])
        else:
            found = module(pool[a], pool[b])
        if kind == "aside":
            aside.append(module.aside)
        found = found if isinstance(found, tuple) else (found,)
        pool += found
        results.append(found)
    earlier: list = []
    for loss, inputs, create in passes:
        terms = []
        if loss in ("results", "both", "penalty"):
            terms += [value for found in results for value in found]
        if loss == "first result":
            terms += [results[-1][0]]
        if loss in ("aside", "both"):
            terms += aside
        if loss == "penalty":
            terms += earlier
        total = sum(((term * term).sum() for term in terms if term.requires_grad), start=library.zeros((), dtype=library.float64))
        if not total.requires_grad:
            continue
        if inputs == "backward":
            for leaf in (*leaves, *weights):
                leaf.grad = None
            total.backward(retain_graph=True)
            grads = [leaf.grad for leaf in (*leaves, *weights)]
        else:
            wanted = weights if inputs == "weights" else [leaves[place] for place in inputs]
            if not wanted:
                continue
            grads = library.autograd.grad(total, wanted, retain_graph=True, create_graph=create, allow_unused=True)
            if create:
                earlier += [grad for grad in grads if grad is not None and grad.requires_grad]
        log.append(("pass", *numbers(grads)))
    return log
