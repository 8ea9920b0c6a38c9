"""Dtypes: what an entry does not claim is refused by the name of operator and argument, with nothing changed, and single precision
stays single in every recorded rule, so that no gradient is computed in double behind the user's back, and cast.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad, grad
from gradspec.support.dispatch import ops

from .calls import NAMESPACES, array, flat, in_place_only, samples_of
from .questions import of_entries, of_samples

KINDS = {"any": "fciub", "float": "fciub", "real": "fiub", "complex": "c", "int": "iub", "bool": "b"}
DTYPES = (np.complex128, np.complex64, np.float64, np.float32, np.float16, np.int64, np.uint8, np.bool_)


def unclaimed(op):
    return [np.dtype(d) for d in DTYPES if np.dtype(d).kind not in KINDS[op.dtype]]


def array_arguments(op):
    return [name for name, type_, *_ in op.arguments if type_.startswith("Array")]


def cast(value, dtype):
    return (value if np.dtype(dtype).kind == "c" else value.real).astype(dtype)


def replaced(value, dtype):
    """The argument in another dtype, in all of its places; None where it holds no array."""
    if isinstance(value, list):
        return [cast(np.asarray(item), dtype) for item in value]
    return cast(value, dtype) if isinstance(value, np.ndarray) else None


def refusals(op, make):
    """(argument, its refused value, the other arguments) of the first sample, for each array argument."""
    case = samples_of(op)[0]
    for name in array_arguments(op):
        arguments = case.arguments()
        value = make(arguments[name])
        if value is not None:
            yield name, arguments | {name: value}


def refused(op, entry, name, given):
    return pytest.raises(TypeError, match=rf"^{entry}: argument '{name}' is of {given}, but {entry} takes \w+.*; ")


def written(op, arguments):
    """The arguments, the first one a tensor where the operator writes to it."""
    first = op.arguments[0][0]
    return arguments | ({first: gs.tensor(arguments[first])} if in_place_only(op) else {})


def function_and_method(op):
    count = 0
    for dtype in unclaimed(op):
        for name, arguments in refusals(op, lambda value, dtype=dtype: replaced(value, dtype)):
            with refused(op, op.name, name, f"dtype {dtype}"):
                getattr(ops, op.name)(**written(op, arguments))
            count += 1
            first = op.arguments[0][0]
            if "method" in op.variants and isinstance(arguments[first], np.ndarray):
                x = gs.tensor(arguments[first], requires_grad=arguments[first].dtype.kind in "fc")
                with refused(op, op.name, name, f"dtype {dtype}"):
                    getattr(x, op.name)(**{key: value for key, value in arguments.items() if key != first})
    assert count >= len(unclaimed(op))


def in_place_changes_nothing(op):
    if "inplace" not in op.variants:
        return
    for dtype in unclaimed(op):
        for name, arguments in refusals(op, lambda value, dtype=dtype: replaced(value, dtype)):
            written, *others = (argument for argument, *_ in op.arguments)
            first, rest = arguments[written], {argument: arguments[argument] for argument in others}
            x = gs.tensor(first)
            function = getattr(x, op.name + "_", None)
            function = function or (lambda **r: getattr(NAMESPACES[op.namespace], op.name + "_")(x, **r))
            with refused(op, op.name + "_", name, f"dtype {dtype}"):
                function(**rest)
            np.testing.assert_array_equal(array(x), first)
            assert x._version == 0


def out_changes_nothing(op):
    if "out" not in op.variants:
        return
    expected = samples_of(op)[0]
    shape = expected.all_outputs(*expected.arrays)[0].shape
    for dtype in unclaimed(op):
        for name, arguments in refusals(op, lambda value, dtype=dtype: replaced(value, dtype)):
            out = gs.zeros(shape, dtype=dtype)
            with refused(op, op.name, name, f"dtype {dtype}"):
                getattr(ops, op.name)(**arguments, out=out)
            assert not array(out).any() and out._version == 0


def python_numbers(op):
    for number in (1.0, 1j):
        if np.dtype(type(number)).kind in KINDS[op.dtype]:
            continue
        for name, arguments in refusals(op, lambda value: number if isinstance(value, np.ndarray) else None):  # noqa: B023
            if in_place_only(op) and name == op.arguments[0][0]:
                continue  # which is no tensor at all
            with refused(op, op.name, name, f"type {type(number).__name__}"):
                getattr(ops, op.name)(**written(op, arguments))


@of_entries(lambda op: unclaimed(op) and array_arguments(op), way=[function_and_method, in_place_changes_nothing, out_changes_nothing, python_numbers])
def test_what_an_entry_does_not_claim_is_refused(op, way):
    way(op)


def takes_numbers(op):
    """Whether numbers alone make a call."""
    wanted = [type_ for _, type_, default, _ in op.arguments if default is None]
    return bool(wanted) and set(wanted) == {"Array"} and op.dtype != "complex" and not op.name.startswith("_")


@of_entries(takes_numbers)
def test_python_numbers_alone_are_of_double_precision(op):
    """As NumPy takes them: `np.sin(0.5)` is a float64, whatever kernel computes it."""
    count = sum(a[2] is None for a in op.arguments)

    def dtypes(number):
        try:
            y = getattr(ops, op.name)(*[number] * count)
        except (TypeError, ValueError, IndexError, np.linalg.LinAlgError):
            return None  # what wants an axis, or a tensor
        return [array(v).dtype for v in (y if isinstance(y, (tuple, list)) else [y])]

    assert dtypes(0.5) in (None, dtypes(np.float64(0.5)))


SINGLE = (np.float32, np.complex64)


def widths(tensors):
    return {tensor.dtype for tensor in flat([t for t in tensors if not isinstance(t, (int, float, type(None)))])} & {np.dtype(float), np.dtype(complex)}


def answered(node, cotangents):
    """What a node gives for the cotangents by number; the outputs that nobody sees have none."""
    for count in range(max(cotangents) + 1, max(cotangents) + 4):
        try:
            found = node(*(cotangents.get(i) for i in range(count)))
            return flat([t for t in (found if isinstance(found, tuple) else [found]) if t is not None])
        except TypeError as error:
            if "arguments, got" not in str(error):
                raise
    raise AssertionError(node)


# Samples of single precision are those whose arrays all are.
SINGLES = {name: tuple(dtype for dtype in SINGLE if np.dtype(dtype).kind in kinds) for name, kinds in KINDS.items()}


def is_single(case):
    return case.places and not widths(case.arrays)


def has_rules(op):
    return op.dtype not in ("int", "bool") and op.form != "nondifferentiable"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@of_entries(has_rules)
def test_single_precision_stays_single(op):
    """The rules themselves, before the engine casts what they give: those of the last nodes that an operator makes."""
    tried, wrong = False, []
    for case in filter(is_single, samples_of(op, SINGLES)):
        ys = case(*case.leaves())
        if widths(ys):
            continue  # a number that came as an array of double precision
        nodes = {}
        for y in ys:
            if y.grad_fn is not None:
                nodes.setdefault(y.grad_fn, {})[y.output_nr] = gs.ones_like(y.detach())
        for node, cotangents in nodes.items():
            found = answered(node, cotangents)
            if widths(found):
                wrong.append(f"{node} gives {[str(t.dtype) for t in found]} at {case.source} in {np.dtype(case.dtype)}")
            tried = True
    assert not wrong, "\n".join(wrong)
    if not tried:
        pytest.skip("no result of single precision has a history: it is a constant, or was asked for in double")


def nodes_behind(ys):
    """Every node of a graph, each once."""
    found, left = [], [y.grad_fn for y in ys]
    while left:
        node = left.pop()
        if node is not None and not any(node is other for other in found):
            found.append(node)
            left += [following for following, _ in node.next_functions]
    return found


def plain_rules(case, monkeypatch):
    """What every node gives where nothing is recorded, seen by a hook before the engine casts it to the dtype of the input."""
    leaves = case.leaves()
    live = [y for y in case(*leaves) if y.requires_grad]
    if widths(live) or not live:
        return
    wide = []

    def look(node, given, _):
        for (following, place), gradient in zip(node.next_functions, given):
            if gradient is not None and following is not None and widths([gradient]):
                wanted = following._input_metadata[place].dtype
                wide.extend([f"{node.name()} gives {gradient.dtype}"] * (not widths([gs.zeros((), dtype=wanted)])))

    for node in nodes_behind(live):
        if node.next_functions:
            node.register_hook(functools.partial(look, node))
    grad(live, leaves, [gs.ones_like(y.detach()) for y in live], materialize_grads=True)
    assert not wide


def forward_mode(case, monkeypatch):
    """No tangent is computed in double precision, and cast to that of the result."""
    cast = []
    original = ops.astype

    def astype(x, dtype, *rest, **keywords):
        narrow = not widths([gs.zeros((), dtype=dtype)])
        if narrow and widths([x]) and np.dtype(dtype).kind in "fc" and (array(x) != array(x).ravel()[:1]).any():
            cast.append(x.shape)  # what a formula makes of a Python number has one value
        return original(x, dtype, *rest, **keywords)

    with monkeypatch.context() as patched, forward_ad.dual_level():
        patched.setattr(ops, "astype", astype)
        leaves = case.leaves(requires_grad=False)
        tangents = [np.asarray(np.cos(np.arange(x.size)).reshape(x.shape), x.dtype) for x in leaves]
        duals = [forward_ad.make_dual(x, gs.tensor(t)) for x, t in zip(leaves, tangents)]
        ys = case(*duals)
        assert widths(ys) or not cast


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@of_samples(has_rules, SINGLES, rules=[plain_rules, forward_mode])
def test_what_is_not_recorded_stays_single(case, rules, monkeypatch):
    if is_single(case):
        rules(case, monkeypatch)
