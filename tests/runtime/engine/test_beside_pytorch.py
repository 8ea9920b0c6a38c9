"""What autograd does and says beside PyTorch: each program is run with both libraries, and each error has PyTorch's key phrases.

The programs are of the behaviours of docs/contract.md; what differs on purpose is in its last table and in no program here.
Where PyTorch is not installed the errors are checked alone.
"""

import gc
import re
import warnings
import weakref

import numpy as np
import pytest

import gradspec as gs
import gradspec.autograd.forward_ad
from tests.asked import each

try:
    import torch
    import torch.utils.checkpoint
except ImportError:
    torch = None

LIBRARIES = [gs] if torch is None else [gs, torch]


@pytest.fixture(autouse=True)
def _double():
    if torch is None:
        yield
        return
    before, always = torch.get_default_dtype(), torch.is_warn_always_enabled()
    torch.set_default_dtype(torch.float64)
    torch.set_warn_always(True)
    yield
    torch.set_default_dtype(before)
    torch.set_warn_always(always)


def plain(value):
    """Tensors as nested lists, so that results of two libraries can be compared."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if hasattr(value, "detach"):
        return np.round(np.asarray(value.detach().numpy()), 12).tolist()
    return value


def leaf(lib, *values):
    return lib.tensor([float(value) for value in values], requires_grad=True)


def scaled(lib, by=3.0):
    """A custom Function that multiplies, and whose backward says so twice as strongly."""

    class Scaled(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * by

        @staticmethod
        def backward(ctx, grad):
            return grad * (2 * by)

    return Scaled


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return found


# Programs: functions of the library that give what is compared.


def order_of_hooks_at_a_node(lib):
    log, x = [], leaf(lib, 1)
    y = x * 2
    y.grad_fn.register_hook(lambda inputs, outputs: log.append(("post", plain(inputs[0]), plain(outputs[0]))))
    y.grad_fn.register_prehook(lambda grads: log.append("pre") or (grads[0] * 5,))
    y.register_hook(lambda grad: log.append("tensor") or grad + 1)
    y.retain_grad()
    y.register_hook(lambda grad: log.append("later tensor") or grad * 2)
    y.sum().backward()
    return log, y.grad, x.grad


def order_of_hooks_at_a_leaf(lib):
    log, x = [], leaf(lib, 1)
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    node.register_hook(lambda inputs, outputs: log.append(("post", inputs, plain(outputs))))
    node.register_prehook(lambda grads: log.append("pre"))
    x.register_post_accumulate_grad_hook(lambda tensor: log.append(("accumulated", plain(tensor.grad))))
    x.register_hook(lambda grad: log.append("tensor") or grad * 10)
    y.sum().backward(retain_graph=True)
    lib.autograd.grad(y.sum(), x)
    return log, x.grad


def hooks_that_remove_each_other(lib):
    log, x = [], leaf(lib, 1)
    y = x * 2
    handles = []
    y.grad_fn.register_prehook(lambda grads: [handle.remove() for handle in handles] and None)
    handles.append(y.grad_fn.register_prehook(lambda grads: log.append("removed meanwhile")))
    handles.append(y.grad_fn.register_prehook(lambda grads: log.append("removed before")))
    handles[1].remove()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return log


def hooks_stay_with_the_value_before_a_write(lib):
    log, x = [], leaf(lib, 1)
    y = x.clone()
    y.register_hook(lambda grad: log.append(("before", plain(grad))) or grad * 2)
    y.mul_(4)
    y.register_hook(lambda grad: log.append(("after", plain(grad))) or grad * 3)
    y.retain_grad()
    y.sum().backward()
    return log, x.grad, y.grad


def hooks_on_several_gradients(lib):
    found = {"all": [], "any": []}
    a, b, c = leaf(lib, 1), leaf(lib, 2), leaf(lib, 3)
    for mode, log in found.items():
        if mode == "all":
            hook = lambda grads, log=log: log.append([grad is not None for grad in grads])  # noqa: E731
        else:
            hook = lambda grad, log=log: log.append(plain(grad))  # noqa: E731
        lib.autograd.graph.register_multi_grad_hook((a, b, c), hook, mode=mode)
    y = (a * b).sum()
    y.backward(inputs=(a, b), retain_graph=True)
    y.backward(inputs=(c,), retain_graph=True)
    y.backward(inputs=(b,))
    return found["all"], len(found["any"])


def what_pack_hooks_are_given(lib):
    """The very tensor that is saved, a Parameter too, with nothing recorded; a result without a name."""
    found, x, p = [], leaf(lib, 1), lib.nn.Parameter(lib.tensor([2.0]))
    y = x * 1
    names = {id(x): "x", id(y): "y", id(p): "p"}

    def pack(tensor):
        found.append((names.get(id(tensor)), type(tensor).__name__, lib.is_grad_enabled(), (tensor * 2).requires_grad))
        return tensor

    with lib.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        results = y * p, lib.sin(x), lib.exp(y)
    for result in results:
        result.sum().backward(retain_graph=True)
    return sorted(map(str, found)), x.grad, p.grad


def values_that_hooks_change(lib):
    grads = []
    for pack, unpack in ((lambda t: 2 * t, lambda t: t), (lambda t: t.numpy() * 3, lib.from_numpy), (lambda t: t, lambda t: t / 4)):
        x = leaf(lib, 1, 2)
        with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = (x * x * x).sum()
        (grad,) = lib.autograd.grad(y, x, create_graph=True)
        grads += [grad, lib.autograd.grad(grad.sum(), x)[0]]
    return grads


def raw_saved_values(lib):
    x = leaf(lib, 2)
    y = x * 1
    unpack = lambda tensor: tensor  # noqa: E731
    with lib.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        hooked = scaled(lib).apply(y)
    bare = scaled(lib).apply(y)
    one, other = hooked.grad_fn._raw_saved_tensors[0], bare.grad_fn._raw_saved_tensors[0]
    return one.data is y, one.unpack_hook is unpack, other.data is y, other.unpack_hook


def products_of_vjp_and_no_grad(lib):
    x, found = leaf(lib, 1, 2), []
    with lib.no_grad():
        output, inside = lib.func.vjp(lambda x: x**3, x)
        found += [output.requires_grad, inside(lib.ones(2))[0].requires_grad]
    _, outside = lib.func.vjp(lambda x: x**3, x)
    with lib.no_grad():
        found += [outside(lib.ones(2))[0].requires_grad]
    for pullback in (inside, outside):
        (grad,) = pullback(lib.ones(2))
        found += [grad.requires_grad, lib.autograd.grad(grad.sum(), x)[0]]
    return found


def once_differentiable_runs_unrecorded(lib):
    x, modes = leaf(lib, 1), []

    class Once(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        @lib.autograd.function.once_differentiable
        def backward(ctx, grad):
            modes.append(lib.is_grad_enabled())
            return grad * 3

    given = leaf(lib, 1)
    (grad,) = lib.autograd.grad(Once.apply(x), x, given, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()
    return grad, modes


def undefined_gradients(lib):
    log = []

    class Two(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            log.append((plain(a), plain(b)))
            return a, None

    for materialize in (True, False):
        Two.apply(leaf(lib, 1), materialize)[0].sum().backward()
    return log


def accumulation(lib):
    x, found = leaf(lib, 1, 2), []
    y = x * 2
    y.backward(lib.ones(2), retain_graph=True)
    held, before = x.grad, x.grad.clone()
    y.backward(lib.ones(2), retain_graph=True)
    found += [x.grad is held, held, before]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y.backward(lib.ones(2), create_graph=True)
    given = lib.ones(2)
    a, b = leaf(lib, 1, 2), leaf(lib, 3, 4)
    (a + b).backward(given)
    a.grad.add_(1)
    return [*found, x.grad is held, held, given, a.grad, b.grad]


def views_and_writes(lib):
    root = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    base = root * 1
    first, second, whole = base[0], base[0], base.view(4)
    first.mul_(5)
    plain_base = lib.zeros(2)
    view = plain_base[:1]
    before = view.requires_grad
    plain_base.add_(root.sum())
    (second.sum() * 2 + whole.sum() + view.sum()).backward()
    return before, view.requires_grad, root.grad, type(base.grad_fn).__name__, first._is_view(), first._base is base


def versions(lib):
    x = lib.ones(3)
    y, found = x[:2], []
    x.add_(1)
    y.mul_(2)
    found += [x._version, y._version, x.detach()._version]
    x.data = lib.zeros(2)
    return [*found, x._version]


def edges(lib):
    x = leaf(lib, 2).clone()
    edge = lib.autograd.graph.get_gradient_edge(x)
    x *= 3
    old, new = lib.autograd.grad(x.sum(), (edge, x))
    out = (x * x).sum()
    tail = lib.autograd.graph.get_gradient_edge(out)
    (from_edge,) = lib.autograd.grad(tail, (x,), grad_outputs=lib.tensor(2.0))
    return old, new, from_edge


def one_write_under_a_mode_that_replays_views(lib):
    auto, found = lib.autograd, []
    for mode in (False, True):

        @auto._force_original_view_tracking(mode)
        def written():
            view = leaf(lib, 1, 2).clone()[:1]
            view.add_(1)
            return view

        found += [auto.is_view_replay_enabled(), "AsStrided" in type(written().grad_fn).__name__, auto.is_view_replay_enabled()]
    return found


def forward_mode_names(lib):
    fw, found = lib.autograd.forward_ad, []
    found.append(fw._current_level)
    with fw.dual_level() as level:
        found += [level, fw._current_level, fw._is_fwd_grad_enabled()]
        dual = fw.make_dual(lib.ones(2), lib.ones(2))
        with fw._set_fwd_grad_enabled(False):
            found += [fw._is_fwd_grad_enabled(), fw.unpack_dual(dual * 2).tangent]

        class Told(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                found.append(fw._is_fwd_grad_enabled())
                return x * 2

            @staticmethod
            def jvp(ctx, tangent):
                return tangent * 2

        found.append(fw.unpack_dual(Told.apply(dual)).tangent)
    return [*found, fw._current_level, fw._is_fwd_grad_enabled()]


def second_runs_of_a_checkpoint(lib):
    found, calls = [], [0]

    def region(x):
        calls[0] += 1
        y = lib.sin(x) * x
        return y, lib.exp(y) * y

    def passes(y, z, x):
        (by_y,) = lib.autograd.grad(z, y, lib.ones(2))
        return lib.autograd.grad(y, x, by_y)[0]

    for together in (True, False):
        x, calls[0] = leaf(lib, 1, 2), 0
        y, z = lib.utils.checkpoint.checkpoint(region, x, use_reentrant=False)
        if together:
            with lib.utils.checkpoint.GraphExecGroup():
                grad = passes(y, z, x)
        else:
            grad = passes(y, z, x)
        found += [calls[0], grad]
    for stop in (True, False):
        x, calls[0] = leaf(lib, 1, 2), 0
        lib.utils.checkpoint.checkpoint(lambda x: region(lib.sin(x))[0].clone(), x, use_reentrant=False, early_stop=stop).sum().backward()
        found += [calls[0], x.grad]
    return found


def reading_the_gradient_of_a_nonleaf(lib):
    x = leaf(lib, 1)
    y = x * 2
    found = [len(warned(lambda: x.grad)), len(warned(lambda: y.grad))]
    y.retain_grad()
    return [*found, len(warned(lambda: y.grad))]


def lifetimes(lib):
    """Objects that reference counts alone free."""
    found = []
    was = gc.isenabled()
    gc.disable()
    try:
        x = leaf(lib, 1)
        y = x * 2
        y.retain_grad()
        z, alive = y * 3, weakref.ref(y)
        del y
        found.append(alive() is None)
        z.sum().backward()
        node, mark = (x * 2).exp(), type("Mark", (), {})()
        alive = weakref.ref(mark)
        node.grad_fn.metadata["mark"] = mark
        del mark
        found.append(alive() is None)
        del node
        found.append(alive() is None)
    finally:
        if was:
            gc.enable()
    return found


def modes_of_generators_and_classes(lib):
    found = []

    @lib.no_grad()
    def values():
        found.append(lib.is_grad_enabled())
        yield 1
        found.append(lib.is_grad_enabled())

    for _ in values():
        found.append(lib.is_grad_enabled())
    switch = lib.set_grad_enabled(False)
    found.append(lib.is_grad_enabled())
    with switch:
        pass
    found.append(lib.is_grad_enabled())
    return found


def gradients_asked_for_in_batches(lib):
    x = leaf(lib, 1, 2, 3)
    (rows,) = lib.autograd.grad(x * x, x, lib.eye(3), is_grads_batched=True)
    return rows


def passes_within_passes(lib):
    log = []

    class Outer(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            log.append(lib.is_grad_enabled())
            with lib.enable_grad():
                inner = leaf(lib, 2)
                (found,) = lib.autograd.grad((inner**3).sum(), inner)
            lib.autograd.Variable._execution_engine.queue_callback(lambda: log.append("over"))
            log.append(plain(found))
            return grad * found

    x = leaf(lib, 1)
    Outer.apply(x).sum().backward()
    return log, x.grad


PROGRAMS = [
    order_of_hooks_at_a_node, order_of_hooks_at_a_leaf, hooks_that_remove_each_other, hooks_stay_with_the_value_before_a_write,
    hooks_on_several_gradients, what_pack_hooks_are_given, values_that_hooks_change, raw_saved_values, products_of_vjp_and_no_grad,
    once_differentiable_runs_unrecorded, undefined_gradients, accumulation, views_and_writes, versions, edges,
    one_write_under_a_mode_that_replays_views, forward_mode_names, second_runs_of_a_checkpoint, reading_the_gradient_of_a_nonleaf,
    lifetimes, modes_of_generators_and_classes, gradients_asked_for_in_batches, passes_within_passes,
]  # fmt: skip


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@each("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_what_it_gives_in_pytorch(program):
    assert plain(program(gs)) == plain(program(torch))


# Errors: what is done, the class of the error, and the words in it that people search for.


def assign(target, name, value):
    setattr(target, name, value)


def of_no_grad(lib):
    x = leaf(lib, 1, 2).clone()
    with lib.no_grad():
        return x, x[:1]


def of_inference(lib):
    x = leaf(lib, 1, 2).clone()
    with lib.inference_mode():
        return x, x[:1]


def view_of(lib, function):
    """The result of a custom Function that gives views."""

    class Looks(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return function(x)

        @staticmethod
        def backward(ctx, *grads):
            return lib.zeros(2)

    return Looks.apply(leaf(lib, 1, 2).clone())


def pure_view(lib):
    class Pure(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx._is_pure_view = True
            return x[:1]

    return Pure.apply(leaf(lib, 1), leaf(lib, 2))


def overlapping(lib):
    x = leaf(lib, 1)
    out = lib.utils.checkpoint.checkpoint(lambda x: lib.sin(lib.exp(x)), x, use_reentrant=False).sum()
    with lib.utils.checkpoint.GraphExecGroup():
        out.backward(retain_graph=True)
        out.backward()


def nested_groups(lib):
    with lib.utils.checkpoint.GraphExecGroup(), lib.utils.checkpoint.GraphExecGroup():
        pass


def with_grad_dtype(lib, value):
    x = lib.ones(2, dtype=lib.float64, requires_grad=True)
    x.grad_dtype = lib.float32
    x.grad = value


def hooked(lib, pack=lambda t: t, unpack=lambda t: t):
    with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
        lib.exp(leaf(lib, 1)).sum().backward()


def in_no_grad_mode(text):
    return ("A view was created in no_grad mode", text, "modified inplace")


ERRORS = {
    "no graph": (lambda lib: lib.ones(1).backward(), RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"),
    "no inputs": (lambda lib: leaf(lib, 1).sum().backward(inputs=[]), RuntimeError, "cannot be empty"),
    "no inputs of grad": (lambda lib: lib.autograd.grad(leaf(lib, 1).sum(), []), RuntimeError, "cannot be empty"),
    "no scalar": (lambda lib: leaf(lib, 1, 2).backward(), RuntimeError, "grad can be implicitly created only for scalar outputs"),
    "no real scalar": (lambda lib: (leaf(lib, 1) * 1j).backward(), RuntimeError, "only for real scalar outputs"),
    "shape": (lambda lib: lib.autograd.grad(leaf(lib, 1) * 1, leaf(lib, 1), lib.ones(3)), RuntimeError, "Mismatch in shape: grad_output[0] has a shape of"),
    "complex": (lambda lib: (leaf(lib, 1) * 1).backward(lib.tensor([1j])), RuntimeError, "required to have the same dtype"),
    "unused": (lambda lib: lib.autograd.grad(leaf(lib, 1).sum(), leaf(lib, 1)), RuntimeError, "to not have been used in the graph", "Set allow_unused=True"),
    "materialize": (lambda lib: lib.autograd.grad(leaf(lib, 1).sum(), leaf(lib, 1), allow_unused=False, materialize_grads=True), ValueError, "Expected allow_unused to be True or not passed when"),
    "batches": (lambda lib: lib.autograd.grad(leaf(lib, 1, 2) * 1, leaf(lib, 1), lib.ones(2), is_grads_batched=True), RuntimeError, "If `is_grads_batched=True`, we interpret the first"),
    "freed": (lambda lib: [y.backward() for y in [lib.exp(leaf(lib, 1)).sum()] * 2], RuntimeError, "Specify retain_graph=True"),
    "arity": (lambda lib: (leaf(lib, 1) * 2).grad_fn(), TypeError, "expected 1 arguments, got 0 instead"),
    "grad is no tensor": (lambda lib: assign(leaf(lib, 1), "grad", 1), TypeError, "expected to be a Tensor or None"),
    "grad of another size": (lambda lib: assign(leaf(lib, 1), "grad", lib.ones(2)), RuntimeError, "attempting to assign a gradient of size", "[2]", "to a tensor of size", "[1]"),
    "grad of another dtype": (lambda lib: with_grad_dtype(lib, lib.ones(2)), RuntimeError, "attempting to assign a gradient with dtype", "to a tensor with grad_dtype"),
    "grad_dtype of a non-leaf": (lambda lib: (leaf(lib, 1) * 1).grad_dtype, RuntimeError, "grad_dtype can only be accessed on leaf tensors"),
    "numpy": (lambda lib: leaf(lib, 1).numpy(), RuntimeError, "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."),
    "integers": (lambda lib: lib.ones(1, dtype=lib.int64).requires_grad_(), RuntimeError, "floating point"),
    "data of integers": (lambda lib: assign(leaf(lib, 1), "data", lib.ones(1, dtype=lib.int64)), RuntimeError, "must be floating point or complex dtype"),
    "a leaf": (lambda lib: leaf(lib, 1).add_(1), RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."),
    "a view of a leaf": (lambda lib: leaf(lib, 1)[:].add_(1), RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation."),
    "a view in no_grad": (lambda lib: of_no_grad(lib)[1].add_(1), RuntimeError, *in_no_grad_mode("is being")),
    "its base": (lambda lib: [(x.add_(1), view.grad_fn) for x, view in [of_no_grad(lib)]], RuntimeError, *in_no_grad_mode("its base or another view of its base has been")),
    "a view in inference mode": (lambda lib: of_inference(lib)[1].add_(1), RuntimeError, "A view was created in inference mode and is being modified inplace"),
    "one of several views": (lambda lib: leaf(lib, 1, 2).clone().chunk(2)[1].add_(1), RuntimeError, "Output 1 of ", "is a view and is being modified inplace. This view is the output of a function that returns multiple views"),
    "a view of a Function": (lambda lib: view_of(lib, lambda x: x[:1]).add_(1), RuntimeError, "Output 0 of Looks is a view and is being modified inplace. This view was created inside a custom Function"),
    "views of a Function": (lambda lib: view_of(lib, lambda x: (x[:1], x + 1))[0].add_(1), RuntimeError, "Output 0 of Looks is a view and is being modified inplace. This view is the output of a function that returns multiple views"),
    "pure views": (pure_view, RuntimeError, "Pure view custom Function can only have one input Tensor and one output Tensor. Open an issue if you need to support more."),
    "saved and written to": (lambda lib: [(lib.no_grad()(x.add_)(1), y.backward()) for x in [leaf(lib, 1) * 1] for y in [(x * x).sum()]], RuntimeError, "one of the variables needed for gradient computation has been modified by an inplace operation", "is at version 1; expected version 0 instead"),
    "saved and detached": (lambda lib: [(x.detach_(), y.backward()) for x in [leaf(lib, 1) * 1] for y in [lib.sin(x).sum()]], RuntimeError, "Trying to use a saved tensor that has been detached"),
    "pack hooks write": (lambda lib: hooked(lib, lambda t: t.add_(1)), RuntimeError, "A saved tensor pack hook is modifying its input in place."),
    "unpack hooks": (lambda lib: hooked(lib, unpack=lambda t: 1), TypeError, "Output of saved tensor unpack_hook expected to be a Tensor"),
    "a saved tensor": (lambda lib: lib.autograd.SavedTensor(), RuntimeError, "Trying to create a SavedTensor object from Python is forbidden"),
    "hooks of a non-leaf": (lambda lib: (leaf(lib, 1) * 1).register_post_accumulate_grad_hook(print), RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors"),
    "hooks that return": (lambda lib: [(x.register_post_accumulate_grad_hook(lambda t: t.grad), x.sum().backward()) for x in [leaf(lib, 1)]], RuntimeError, "hooks should return None."),
    "hooks of another mode": (lambda lib: lib.autograd.graph.register_multi_grad_hook((leaf(lib, 1),), print, mode="foo"), ValueError, "Expects mode to be one of ('all', 'any') but got foo"),
    "overlapping passes": (overlapping, RuntimeError, "Performing two backward calls that overlap"),
    "nested groups": (nested_groups, RuntimeError, "GraphExecGroup contexts cannot be nested"),
}  # fmt: skip


@each("name", ERRORS)
def test_an_error_has_the_words_of_pytorchs(name):
    call, kind, *phrases = ERRORS[name]
    for lib in LIBRARIES:
        with pytest.raises(kind) as error:
            call(lib)
        said = re.sub(r"\s+", " ", str(error.value))
        assert [phrase for phrase in phrases if phrase not in said] == [], (lib.__name__, said)
