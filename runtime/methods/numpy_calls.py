"""NumPy's calls on tensors: map parameters to operators, beyond the arguments that both share.

Passes a parameter of a call to the operator, serves it differently (`numpy_parameters`), or refuses it by name.  A function
without an operator raises a clear error if it would drop a gradient; if nothing is lost it returns its value.  Imported by the
first call of a NumPy function on a tensor.
"""

import numpy as np

from ..core.conversion import asarray
from ..core.events import current_mapping
from ..core.tensor import TensorBase
from ..generated.numpy_table import FUNCTIONS
from ..support.counterparts import advice
from ..support.dispatch import ops
from .numpy_parameters import SERVED, dotted, holds_history, named, values_of, write_into
from .numpy_pieces import PIECED

WAY_OUT = ("an operator of your own is a gradspec.autograd.Function: forward computes on arrays, backward is its "
           "vector-Jacobian product")


class Unserved(TypeError):
    """The operator cannot do what the call of NumPy's function requires."""


class Call:
    """A call of a NumPy function with parameters that its operator lacks: sorts the arguments and calls the operator."""

    def __init__(self, function, row):
        operator, self.public_name, self.required, self.leading, keywords, parameters, self.by_place, self.defaults, given = row
        self.function, self.keywords = function, frozenset(keywords.split())
        self.own = self.operator = getattr(ops, operator)
        pairs = [parameter.partition("=") for parameter in parameters.split()]
        self.targets = {name: target if equals else name for name, equals, target in pairs}
        self.given = given

    def __call__(self, arguments, keywords):
        places = [name for name in self.targets][: self.by_place]
        given = dict(zip(places, arguments)) | keywords
        self.arguments, self.after, lacking = {}, [], {}
        for name, value in given.items():
            target = self.targets.get(name) or (name if name in self.keywords else None)
            if value is np._NoValue:
                continue
            if target:
                self.arguments[target] = value
            elif value is not None and not (name in self.defaults and same(value, self.defaults[name])):
                lacking[name] = value
        for name, serve in SERVED.items():  # in this order: operands are cast, then masked; results are written last
            if name in lacking:
                self.lacking = lacking
                if serve(self, lacking.get(name)) is NotImplemented:
                    self.refuse(name, lacking[name])
        for name in lacking.keys() - SERVED.keys():
            self.refuse(name, lacking[name])
        result = self.operator(**{**self.given, **self.arguments} if self.operator is self.own else self.arguments)
        for change in self.after:
            result = change(result)
        return result

    def refuse(self, name, value):
        raise Unserved(f"{named(self.function)}: {name}={value!r} has no counterpart in gradspec.{self.public_name}; leave it "
                       f"out, or compute with the operators of gradspec what it would do; {WAY_OUT}")

    @property
    def first(self):
        """The name of the operand, or of the list of operands."""
        return next(iter(self.targets.values()))

    def change(self, alter):
        """Replace each operand."""
        value = self.arguments[self.first]
        listed = isinstance(value, (list, tuple))
        self.arguments[self.first] = [alter(item) for item in value] if listed else alter(value)


def same(value, other):
    return type(value) is type(other) and value == other


ROWS = {dotted(name): row for name, row in FUNCTIONS.items() if dotted(name) is not None}


def short_calls():
    """Function -> operator, number of required arguments, number of shared positional arguments, and shared keywords."""
    return {f: (getattr(ops, row[0]), row[2], row[3], frozenset(row[4].split())) for f, row in ROWS.items() if f not in WRITTEN}


def call_function(function, arguments, keywords):
    """Call a NumPy function with more than its operator's arguments."""
    if function in READING and (mapping := current_mapping()) is not None:
        found = by_rows(mapping, function, arguments, keywords)
        if found is not NotImplemented:
            return found
    if function in WRITTEN:
        result = WRITTEN[function](*arguments, **keywords)
        return without_operator(function, arguments, keywords) if result is NotImplemented else result
    if function in (np.array, np.asarray, np.asanyarray):  # by like=
        return asarray(*arguments, **{name: value for name, value in keywords.items() if name in ("dtype", "copy")})
    if function in FORMAL:
        return function(*map(outline, arguments), **{name: outline(value) for name, value in keywords.items()})
    row = ROWS.get(function)
    if row is None:
        return without_operator(function, arguments, keywords)
    call = Call(function, row)
    needed = list(call.targets)[: call.required]
    if len(arguments) < call.required and not set(needed[len(arguments) :]) <= keywords.keys():
        return without_operator(function, arguments, keywords)
    try:
        return served(call, arguments, keywords)
    except Unserved as refusal:
        return without_operator(function, arguments, keywords, refusal=refusal)
    except ValueError as refusal:  # for a default of NumPy's, such as the further vectors of svd
        if not call.given:
            raise
        return without_operator(function, arguments, keywords, refusal=refusal)


def by_rows(mapping, function, arguments, keywords):
    """Run the call for each row of a vmap, which has the row's numbers; NotImplemented if no argument is a batch."""

    def row(*given):
        result = call_function(function, given[: len(arguments)], dict(zip(keywords, given[len(arguments) :])))
        return tuple(map(asarray, result)) if isinstance(result, (tuple, list)) else result if result is None else asarray(result)

    return mapping.call(named(function), row, (*arguments, *keywords.values()))


def call_method(name, tensor, keywords):
    """Call the NumPy function with this name, which an older NumPy may lack."""
    function = dotted(name)
    if function is None:
        return served(Call(np.copy, FUNCTIONS[name]), (tensor,), keywords)
    return call_function(function, (tensor,), keywords)


def served(call, arguments, keywords):
    """Call the operator, with all parameters of NumPy's call."""
    if not call.targets or call.leading > len(call.targets):  # any number of operands
        lacking = {name: value for name, value in keywords.items() if name not in call.keywords and value is not None}
        out = lacking.pop("out", None)
        for name in lacking.keys() - {"optimize"}:
            call.refuse(name, lacking[name])
        result = call.operator(*arguments, **{name: value for name, value in keywords.items() if name in call.keywords})
        return result if out is None else write_into(out, result, named(call.function))
    return call(arguments, keywords)


# Functions that are implemented here: those that write into their first argument, as assignments to it, and those that need
# several operators.


def copyto(dst, src, casting="same_kind", where=True):
    src = asarray(src)
    if where is not True:
        src = ops.where(where, src, dst)
    extra = src.ndim - np.ndim(dst)
    if extra > 0 and set(src.shape[:extra]) == {1}:  # like assignment, drop leading axes of length 1
        src = ops.reshape(src, src.shape[extra:])
    write_into(dst, ops.broadcast_to(src, np.shape(dst)), "np.copyto")


def repeated(values, count):
    """`count` elements; shorter values are repeated."""
    values = ops.reshape(asarray(values), (-1,))
    return ops.take(values, np.arange(count) % values.size, 0)


def put(a, ind, v, mode="raise"):
    places = np.ravel_multi_index((np.ravel(values_of(ind)),), (a.size,), mode=mode)
    assign(np.put, a, np.unravel_index(places, a.shape), repeated(v, places.size))


def place(arr, mask, vals):
    mask = np.reshape(values_of(mask).astype(bool), arr.shape)
    assign(np.place, arr, mask, repeated(vals, np.count_nonzero(mask)))


def putmask(a, mask, values):
    mask = np.reshape(values_of(mask).astype(bool), a.shape)
    assign(np.putmask, a, mask, ops.getitem(ops.reshape(repeated(values, a.size), a.shape), mask))


def fill_diagonal(a, val, wrap=False):
    if wrap or a.ndim != 2 and len(set(a.shape)) != 1:
        raise TypeError("np.fill_diagonal: wrap=True and unequal lengths are not known to gradspec; write x[index] = value")
    count = min(a.shape)
    value = asarray(val)
    assign(np.fill_diagonal, a, (np.arange(count),) * a.ndim, value if value.ndim == 0 else repeated(value, count))


def put_along_axis(arr, indices, values, axis):
    if axis is None:
        return put(arr, indices, values)
    indices = values_of(indices)
    index = list(np.ogrid[tuple(slice(length) for length in arr.shape)])
    index[axis] = indices
    assign(np.put_along_axis, arr, tuple(index), values)
    return None


def assign(function, target, index, values):
    """A recorded write into a tensor; an array only accepts values without a history."""
    if isinstance(target, TensorBase):
        target[index] = values
    else:
        write_into(target[index], ops.broadcast_to(values, np.shape(target[index])), named(function))
        target[index] = asarray(values).numpy()


WRITTEN = {
    np.copyto: copyto, np.put: put, np.place: place, np.putmask: putmask, np.fill_diagonal: fill_diagonal,
    np.put_along_axis: put_along_axis, **PIECED,
}  # fmt: skip


# Written functions that depend on the numbers themselves, for a choice of elements or a rank.

READING = {
    np.choose, np.geomspace, np.histogram, np.linalg.lstsq, np.piecewise, np.place, np.put, np.put_along_axis, np.putmask,
    np.real_if_close, np.unique,
}  # fmt: skip


# Functions that only read the shape or the dtype, not the numbers.  A row of a vmap has no numbers, and in a compiled function
# reading a number is a branch.

FORMAL = {np.common_type, np.iscomplexobj, np.isrealobj, np.ndim, np.result_type, np.shape, np.size}


def outline(value):
    """An array with the shape and dtype of a tensor, whose elements share one zero."""
    if not isinstance(value, TensorBase):
        return value
    return np.ndarray(value.shape, value.dtype, bytes(value.dtype.itemsize), 0, (0,) * value.ndim)


# Functions without an operator.


def without_operator(function, arguments, keywords, name="", refusal=None):
    """Call the function on values, if nothing is lost: the tensors have no history, or the result contains only integers."""
    lost, name = [], name or named(function)
    try:
        plain = arrays_in(arguments, lost), arrays_in(keywords, lost)
    except RuntimeError as error:
        error.add_note(f"{name} asked for it: gradspec has no operator for this call")
        raise
    if lost and refusal is not None:
        raise refusal
    arguments, keywords = arrays_in(plain, [], read_only=True) if lost else plain
    try:
        result = function(*arguments, **keywords)
    except ValueError as error:
        if "read-only" in str(error) or "not writeable" in str(error):
            raise TypeError(f"{name}: gradspec has no operator for it, and it writes into its argument, which would pass by the "
                            "history of the tensor; write x[index] = value") from None
        raise
    if lost and has_fractions(result):
        raise TypeError(f"{name}: gradspec has no operator for it, and its values alone would lose the history of the tensors "
                        f"that it is called with{advice(place=name.replace('np.', 'numpy.', 1))}")
    return result


def arrays_in(value, lost, read_only=False):
    """Replace tensors, and with `read_only` also arrays, by read-only arrays.

    Tensors whose values lose their history are appended to `lost`.
    """
    if isinstance(value, TensorBase):
        if holds_history(value):
            lost.append(value)
        array = value.detach().numpy().view()
        array.flags.writeable = False
        return array
    if read_only and type(value) is np.ndarray:
        array = value.view()
        array.flags.writeable = False
        return array
    if type(value) in (list, tuple):
        return type(value)(arrays_in(item, lost, read_only) for item in value)
    if type(value) is dict:
        return {key: arrays_in(item, lost, read_only) for key, item in value.items()}
    return value


def has_fractions(result):
    """Whether the result contains a number that is not an integer, which could have a gradient."""
    if isinstance(result, (tuple, list)):
        return any(has_fractions(item) for item in result)
    if isinstance(result, (float, complex)):
        return True
    return isinstance(getattr(result, "dtype", None), np.dtype) and result.dtype.kind in "fcOV"
