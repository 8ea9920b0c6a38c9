"""Sparsity propagation: propagate index sets through a program that is linear in some of its inputs.

Computes for each element of each value the set of input elements that it depends on.  Sets are stored per memory cell, so views
need no rule, and all views of a region see each write.  The entry of an elementwise operator tells how its operands are aligned.
For any other operator the structure is found by running it on numbers (`sparsity_probing`).  If that is not possible, all
elements are assumed to mix, except along the axes that the entry leaves alone.
"""

import warnings
from copy import deepcopy

import numpy as np

from ..compiler.tracing.calling import by_keyword
from ..compiler.tracing.values import Source, Value, held, mapped, values_in
from ..core.conversion import asarray
from ..core.grad_mode import no_grad
from ..core.tensor import TensorBase
from ..support.dispatch import ops
from ..support.generator import numpy_random
from ..transforms.batching.vmap_levels import record_of
from .batching import vmap
from .index_sets import Sets
from .sparsity_probing import Places, structure


class Travel:
    """One run of a program on numbers and on index sets.

    Parameters
    ----------
    program : Trace
        A program that is linear in `moving`.
    moving : list of Value
        The inputs whose elements are the indices of the sets.
    fixed : list of Value
        The inputs whose numbers are the same in all runs that the pattern must hold for.
    local : bool
        Whether the pattern holds at these numbers only.
    """

    def __init__(self, program, moving, fixed, local):
        self.program, self.local = program, local
        self.numbers = {}  # Value -> Tensor
        self.regions = {}  # Value -> index of its memory region
        self.extents = []  # for each region: its first address, bytes per cell, number of cells
        self.sets = {}  # region -> Sets of its cells; a missing region has empty sets
        self.varying = set()  # regions whose numbers depend on the point
        self.roving = {}  # views whose offset depends on the point -> the cells that they may show
        self.generators = {source: deepcopy(source.state) for source in program.sources}
        self.count = sum(value.layout.count for value in moving)
        self.measure()
        keep = {*moving, *fixed}
        self.varying = {self.regions[value] for value in program.inputs if value not in keep and value.layout.count}
        self.known = {self.regions[value] for value in (*program.inputs, *program.constants) if value.layout.count}
        start = 0
        for value in moving:
            size = value.layout.count
            if size:
                self.put(value, Sets.counted(self.count, start, size))
            start += size

    # Memory.

    def measure(self):
        """Compute the memory regions: values that overlap are in one region."""
        every = [*self.program.inputs, *self.program.constants, *values_in(self.program.results)]
        for line in self.program.instructions:
            every += (*line.read, *line.made)
        spans = []
        for value in dict.fromkeys(every):
            layout = value.layout
            if layout.count:
                steps = [stride * (size - 1) for stride, size in zip(layout.strides, layout.shape)]
                low = value.address + sum(step for step in steps if step < 0)
                high = value.address + sum(step for step in steps if step > 0) + layout.dtype.itemsize
                spans.append((low, high, value))
        ends = []
        for low, high, value in sorted(spans, key=lambda span: span[:2]):
            unit = value.layout.dtype.itemsize
            if ends and low < ends[-1][1]:
                first, last, size = ends[-1]
                ends[-1] = first, max(last, high), min(size, unit)
            else:
                ends.append((low, high, unit))
            self.regions[value] = len(ends) - 1
        self.extents = [(first, unit, -(-(last - first) // unit)) for first, last, unit in ends]

    def places(self, value):
        """The cells of each element of a value: one row per element, with as many columns as an element has cells."""
        first, unit, _ = self.extents[self.regions[value]]
        offsets = np.full(value.layout.shape, value.address - first, np.intp)
        for axis, (stride, size) in enumerate(zip(value.layout.strides, value.layout.shape)):
            offsets += (np.arange(size) * stride).reshape([-1 if a == axis else 1 for a in range(offsets.ndim)])
        return offsets.reshape(-1, 1) // unit + np.arange(value.layout.dtype.itemsize // unit)

    def get(self, value):
        """The sets of the elements of a value."""
        cells = self.sets[self.regions[value]]
        if value in self.roving:
            return cells.taken(self.roving[value]).united(value.layout.count)
        first, *others = self.places(value).T
        found = cells.taken(first)
        for other in others:
            found = found.joined(cells.taken(other))
        return found

    def put(self, value, sets):
        region = self.regions[value]
        cells, places = self.sets.get(region), self.places(value)
        if cells is None:
            cells = Sets.none(self.extents[region][2], self.count)
        if value in self.roving:
            places = self.roving[value]
            cells = cells.written(places, cells.taken(places).joined(sets.united(places.size)))
        else:
            for column in places.T:
                cells = cells.written(column, sets)
        self.sets[region] = cells

    def moves(self, value):
        """Whether a value depends on the moving inputs."""
        return value.layout.dtype.kind in "fc" and self.regions.get(value) in self.sets

    def varies(self, value):
        """Whether the numbers of a value depend on the point."""
        return self.regions.get(value) in self.varying or value in self.roving

    def look(self, line, unsure):
        """Note the views whose offset depends on the point: views of such a view, or views by an index that depends on it."""
        source = line.read[0] if line.read else None
        for value in line.made:
            if value is source or not value.layout.count or self.regions[value] != self.regions.get(source):
                continue
            if source in self.roving:
                places = self.roving[source]
            elif any(other is not source for other in unsure):
                places = self.places(source)
            else:
                continue
            if value in self.numbers:  # another view has been the same, at these numbers
                places = np.append(places, self.roving.get(value, self.places(value)))
            self.roving[value] = np.unique(places)

    # The run.

    def run(self, inputs):
        """Run the program on the numbers of its inputs; return the sets of its results, in order."""
        self.numbers = dict(zip(self.program.inputs, inputs))
        for value in self.program.constants:
            self.numbers[value] = asarray(value.data.copy(order="K"))
        with no_grad(), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for line in self.program.instructions:
                self.step(line)
        found = []
        for value in values_in(self.program.results):
            found.append(self.get(value) if self.moves(value) else Sets.none(value.layout.count, self.count))
        return found

    def step(self, line):
        """Run one instruction: first compute its dependencies, then its numbers."""
        moving = list(dict.fromkeys(value for value in line.read if self.moves(value)))
        unsure = [value for value in line.read if value not in moving and self.varies(value)]
        if line.target is not None:
            outputs = [line.target]
        else:  # an output in a known region is a view
            outputs = [value for value in dict.fromkeys(line.made) if self.regions.get(value) not in self.known]
        outputs = [value for value in outputs if value.layout.count]
        carried = [value for value in outputs if value.layout.dtype.kind in "fc"]
        hanging = doubtful(line, unsure)
        self.look(line, hanging)
        found = zip(carried, self.depends(line, moving, hanging, carried)) if moving and carried else ()
        self.call(line)
        for value, sets in found:
            self.put(value, sets)
        regions = {self.regions[value] for value in outputs}
        self.known |= regions
        drawn = any(isinstance(item, Source) for item in line.arguments)
        if not self.local and (unsure or drawn or any(map(self.varies, (*moving, *outputs)))):
            self.varying |= regions

    def call(self, line):
        for value, tensor in pairs(line.outputs, called(line, {**self.numbers, **self.generators})):
            if value not in self.numbers:
                self.numbers[value] = tensor

    # The sets of a call's outputs.

    def depends(self, line, moving, unsure, outputs):
        """The sets of the elements of each output."""
        name = line.name.removesuffix(".out")
        record = record_of(name)
        if record.way == "rows" and name.endswith("_"):
            record = record_of(name[:-1])
        shapes = [value.layout.shape for value in outputs]
        found = [Sets.none(value.layout.count, self.count) for value in outputs]
        for value in moving:
            run = Run(self, line, value, moving, outputs)
            if record.way == "elements" and all(_fits(value.layout.shape, shape) for shape in shapes):
                answers = [self.aligned(run, line, value, shape, i, unsure) for i, shape in enumerate(shapes)]
            else:
                answers = self.probed(run, line, record, value, unsure, outputs)
            sets = self.get(value)
            for i, answer in enumerate(answers):
                part = sets.taken(answer.index) if isinstance(answer, Places) else sets.mixed(answer)
                found[i] = found[i].joined(part)
        return found

    def aligned(self, run, line, value, shape, i, unsure):
        """The structure of an elementwise operator: each element depends on the operand's element at its place.

        Elements with a coefficient of 0 are left out.
        """
        index = np.broadcast_to(np.arange(value.layout.count).reshape(value.layout.shape), shape).ravel()
        if not unsure:
            try:
                index = np.where(run.once()[i].ravel() != 0, index, -1)
            except Exception:  # the operator rejects these numbers: keep all elements
                pass
        return Places(index)

    def probed(self, run, line, record, value, unsure, outputs):
        shape, dtype = value.layout.shape, value.layout.dtype
        known = None
        if unsure:
            generic = all(other.layout.dtype.kind in "fc" for other in unsure)
            if line.entry is not None and line.entry.form == "multilinear" and generic and line.target is None:
                run.substitute(unsure)
            else:
                known = [stated(record, line.arguments, value, shape, one.layout.shape) for one in outputs]
        try:
            return structure(run, shape, dtype, known)
        except Exception:  # the operator rejects these numbers
            if known is None:
                known = [[] for _ in outputs]
            return structure(lambda batch: [np.ones((len(batch), *one.layout.shape)) for one in outputs], shape, dtype, known)


class Run:
    """A call as a linear map of one of its operands; all other moving operands are zero."""

    def __init__(self, travel, line, value, moving, outputs):
        self.travel, self.line, self.value, self.outputs = travel, line, value, outputs
        self.numbers = {one: travel.numbers[one] for one in line.read}
        self.numbers |= {one: ops.zeros(one.layout.shape, dtype=one.layout.dtype) for one in moving}
        self.base = None

    def substitute(self, values):
        """Replace the numbers of some operands by random ones."""
        random = numpy_random().default_rng(1)
        for value in values:
            self.numbers[value] = asarray((1 + random.random(value.layout.shape)).astype(value.layout.dtype))

    def results(self, given):
        numbers = {**self.numbers, self.value: given}
        target = self.line.target
        if target is not None:
            numbers[target] = ops.copy(numbers[target])
        numbers |= {source: deepcopy(generator) for source, generator in self.travel.generators.items()}
        result = called(self.line, numbers)
        if target is not None:
            return [numbers[target]]
        found = {}
        for value, tensor in pairs(self.line.outputs, result):
            found.setdefault(value, tensor)
        return [found[value] for value in self.outputs]

    def once(self):
        """The results for random numbers."""
        random = numpy_random().default_rng(2)
        shape, dtype = self.value.layout.shape, self.value.layout.dtype
        return [y[0] for y in self((1 + random.random((1, *shape))).astype(dtype))]

    def __call__(self, batch):
        """The results for a batch, minus the results for zeros."""
        if self.base is None:
            zeros = self.results(ops.zeros(self.value.layout.shape, dtype=self.value.layout.dtype))
            self.base = [np.array(held(y)) for y in zeros]
        if len(batch) == 1:
            found = [held(y)[None] for y in self.results(asarray(batch[0]))]
        else:
            found = [held(y) for y in self.several(batch)]
        return [_less(y, zero) for y, zero in zip(found, self.base)]

    def several(self, batch):
        try:
            return vmap(lambda given: tuple(self.results(given)))(asarray(batch))
        except Exception:  # the call cannot be batched
            return [ops.stack(list(column)) for column in zip(*[self.results(asarray(one)) for one in batch])]


def doubtful(line, unsure):
    """The operands whose numbers depend on the point and may change a call's structure; linear operands do not."""
    if line.entry is None:  # a copy
        return []
    if line.entry.form != "linear":
        return unsure
    named = zip(line.entry.arguments, line.arguments)
    hanging = {value for (name, *_), argument in named if name not in line.entry.linear for value in values_in([argument])}
    return [value for value in unsure if value in hanging]


def _less(y, zero):
    """The difference between a result and the result for zeros; NaN counts as different."""
    return np.where(y == zero, 0, y - zero) if zero.any() else y


def _fits(shape, result):
    try:
        return np.broadcast_shapes(shape, result) == tuple(result)
    except ValueError:
        return False


def called(line, numbers):
    """The results of an instruction, with tensors for its values and generators for its sources."""
    name, arguments = line.name, mapped(line.arguments, lambda item: numbers[item] if isinstance(item, (Value, Source)) else item)
    if line.entry is None:
        if name.endswith("_"):
            return getattr(arguments[0], name)(*arguments[1:])
        import gradspec

        return getattr(gradspec, name)(*arguments)
    if name.endswith("_") and not hasattr(ops, name):
        return getattr(arguments[0], name)(*arguments[1:])
    return by_keyword(name, line.entry, len(arguments))(*arguments)


def pairs(outputs, result):
    """Pairs of the values in a tree of outputs and the results at their places."""
    if type(outputs) is Value:
        return [(outputs, result)]
    if isinstance(outputs, (tuple, list)) and not isinstance(result, TensorBase):
        return [pair for one, item in zip(outputs, result) for pair in pairs(one, item)]
    return []


def stated(record, arguments, value, shape, result):
    """The axes that an operator's entry leaves alone, as pairs (axis of the operand, axis of the result)."""
    inside, outside = _kept(record, arguments, value, len(shape), len(result))
    return [(a, b) for a, b in zip(reversed(inside), reversed(outside)) if shape[a] == result[b]]


def _kept(record, arguments, value, rank, result):
    """The axes of an operand of some rank, and the corresponding axes of a result, paired from the last axis on."""
    if record.way == "leading":
        arrays = [arg for role, arg in zip(record.roles, arguments) if role == "a"]
        optional = any("?" in dim for dims in (*record.inputs, *record.results) for dim in dims)
        if value not in arrays or optional or len(record.results) > 1:
            return [], []
        cores = len(record.inputs[arrays.index(value)]), len(record.results[0])
        return range(max(0, rank - cores[0])), range(max(0, result - cores[1]))
    if record.way == "along":
        axes = [arg for role, arg in zip(record.roles, arguments) if role in "xX"]
        ranks = {arg.layout.shape for role, arg in zip(record.roles, arguments) if role == "a" and type(arg) is Value}
        if not axes or None in axes or len({len(one) for one in ranks}) > 1 or "l" in record.roles:
            return [], []  # without a named axis, the entry does not tell which axes the operator touches
        named = {int(axis) % max(rank, 1) for several in axes for axis in np.ravel(several)}
        kept = [axis for axis in range(rank) if axis not in named]
        if result == rank:
            return kept, kept
        if result == len(kept):
            return kept, range(result)
    return [], []
