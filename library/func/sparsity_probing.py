"""Probing: find, by running a linear map, the elements of its argument that each element of its result depends on.

Tests from the cheapest on.  Does the map only move elements (two runs on random numbers)?  Along which axes does it act
separately at each place (two runs for each bit of the place)?  On which elements of the result does each single element of the
argument act? If there are too many single elements, groups are tested and halved as long as runs are left.  Each answer holds
with probability 1; untested dependences are assumed, so there may be too many elements, never too few.  Independent of operators.
"""

import math

import numpy as np

from ..support.generator import numpy_random

DIRECT = 1 << 25  # elements in the results of all runs on single elements
BATCH = 1 << 20  # elements in the results of one batch of runs
RUNS = 256  # limit of the runs on groups of elements


class Places:
    """Each element of the result is one element of the argument, or zero.

    Attributes
    ----------
    index : ndarray of int
        The index of that element; -1 for zero.
    """

    def __init__(self, index):
        self.index = index


class Rows:
    """Each element of the result depends on a set of elements of the argument; equal sets may be stored once.

    Attributes
    ----------
    cells : ndarray of int
        For each element of the result the number of its set.
    sets : csr_array of bool
        One row for each set, one column for each element of the argument.
    """

    def __init__(self, cells, sets):
        self.cells, self.sets = cells, sets


def scipy_sparse(caller):
    """The module `scipy.sparse`; an error if it is missing names the function `caller`."""
    try:
        import scipy.sparse
    except ImportError:
        raise ImportError(f"gradspec: {caller} needs SciPy, which is not installed: pip install scipy") from None
    return scipy.sparse


def boolean(rows, columns, shape):
    """A sparse matrix of bools that is true at some places."""
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(rows), bool), (rows, columns)), shape).tocsr()


def structure(run, shape, dtype, pairs=None):
    """The dependence of each result of a linear map on its argument.

    Parameters
    ----------
    run : callable
        Maps a batch of arguments, along a first axis, to a list of arrays, the results, with the same first axis.
    shape, dtype
        Of the argument.
    pairs : list of list of (int, int), optional
        For each result, pairs of axes of the argument and of the result that the map does not mix.  If given, no tests are run.

    Returns
    -------
    list of Places or Rows
        One for each result.
    """
    size = math.prod(shape)
    random = numpy_random().default_rng(0)
    first, second = (_numbers(random, (1, *shape), dtype) for _ in range(2))
    ones = run(first)
    if pairs is not None:
        return [_blocks(shape, y.shape[1:], known) for y, known in zip(ones, pairs)]
    found = [_places(first, second, a, b) for a, b in zip(ones, run(second))]
    if None not in found:
        return found
    loops = _loops(run, random, shape, dtype, [y.shape[1:] for y in ones])
    inner = [axis for axis in range(len(shape)) if not all(axis in dict(known) for known in loops)]
    count = math.prod(shape[axis] for axis in inner)
    # Only axes that no result mixes are probed at all of their places together.
    loops = [[(a, b) for a, b in known if a not in inner] for known in loops]
    results = [y.shape[1:] for y in ones]
    width = sum(map(math.prod, results)) + size
    if count > 64 and all(math.prod(s) * count == size for s in results):  # each result is a sum over all of them
        rows = [_blocks(shape, s, known) for s, known in zip(results, loops)]
    elif count * width <= DIRECT:
        rows = _singly(run, random, shape, dtype, results, loops, inner)
    else:
        rows = _halving(run, random, shape, dtype, results, loops, inner)
    return [b if a is None else a for a, b in zip(found, rows)]


def _numbers(random, shape, dtype):
    """Random numbers with modulus from 1 to 2 and random sign, all different with probability 1."""
    found = (1 + random.random(shape)) * random.choice([-1.0, 1.0], shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * (1 + random.random(shape))
    return found.astype(dtype)


def _places(first, second, a, b):
    """The source of each element of a result; None if some are not elements of the argument."""
    first, second, a, b = first.ravel(), second.ravel(), a.ravel(), b.ravel()
    if not first.size or not a.size:
        return Places(np.full(a.size, -1))
    order = np.argsort(first, kind="stable")
    at = order[np.minimum(np.searchsorted(first[order], a), first.size - 1)]
    zero = (a == 0) & (b == 0)
    if np.all(zero | (first[at] == a) & (second[at] == b)):
        return Places(np.where(zero, -1, at))
    return None


def _loops(run, random, shape, dtype, results):
    """For each result, pairs of an axis of the argument and one of the result that the map does not mix.

    Elements at half of the places along an axis are set to zero; the results at these places must then be zero.  Any two places
    are distinguished by a bit of their numbers.
    """
    found = [[] for _ in results]
    for axis, length in enumerate(shape):
        able = [[other for other, size in enumerate(s) if size == length] for s in results]
        if length == 1 or not any(able):
            continue
        for bit in range(int(length - 1).bit_length()):
            for half in (0, 1):
                absent = (np.arange(length) >> bit & 1) == half
                given = _numbers(random, (1, *shape), dtype)
                given[(slice(None), *[slice(None)] * axis, absent)] = 0
                for y, axes in zip(run(given), able):
                    axes[:] = [other for other in axes if not np.any(y[0][(*[slice(None)] * other, absent)])]
            if not any(able):
                break
        for known, axes in zip(found, able):
            taken = {other for _, other in known}
            if left := [other for other in axes if other not in taken]:
                known.append((axis, left[0]))
    return found


def _numbered(shape, axes):
    """For each element of an array the number of its place along some axes."""
    number = np.zeros(shape, np.intp)
    for axis in axes:
        number = number * shape[axis] + np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return number.ravel()


def _blocks(shape, result, known):
    """Assume that everything is mixed except along the known axes."""
    groups = math.prod(shape[axis] for axis, _ in known)
    inside, outside = _numbered(shape, [axis for axis, _ in known]), _numbered(result, [axis for _, axis in known])
    return Rows(outside, boolean(inside, np.arange(inside.size), (groups, inside.size)))


class _Probes:
    """Runs on elements at chosen places of the inner axes, for all places of the other axes at once."""

    def __init__(self, run, random, shape, dtype, results, loops, inner):
        self.run, self.random, self.shape, self.dtype = run, random, shape, dtype
        outer = [axis for axis in range(len(shape)) if axis not in inner]
        inside, loop = _numbered(shape, inner), _numbered(shape, outer)
        self.inside = inside
        self.count = math.prod(shape[axis] for axis in inner)
        self.elements = np.empty((self.count, math.prod(shape[axis] for axis in outer)), np.intp)
        self.elements[inside, loop] = np.arange(inside.size)  # (place of the inner axes, place of the others) -> element
        axes = [dict(known) for known in loops]
        self.loops = [_numbered(result, [known[axis] for axis in outer]) for result, known in zip(results, axes)]

    def ask(self, members):
        """For each result and run, whether its elements depend on the places that `members` selects, a row for each run."""
        given = np.where(members[:, self.inside], _numbers(self.random, (1, self.inside.size), self.dtype), 0)
        return [y.reshape(len(members), -1) != 0 for y in self.run(given.astype(self.dtype).reshape(-1, *self.shape))]

    def rows(self, number, places, elements):
        """The dependence of elements of a result on places of the inner axes."""
        size = len(self.loops[number])
        columns = self.elements[places, self.loops[number][elements]]
        return Rows(np.arange(size), boolean(elements, columns, (size, self.inside.size)))


def _singly(run, random, shape, dtype, results, loops, inner):
    probes = _Probes(run, random, shape, dtype, results, loops, inner)
    step = max(1, BATCH // max(1, probes.inside.size, *map(math.prod, results)))
    touched = [([], []) for _ in results]
    for start in range(0, probes.count, step):
        places = np.arange(start, min(start + step, probes.count))
        for (all_places, all_elements), y in zip(touched, probes.ask(places[:, None] == np.arange(probes.count))):
            at, elements = np.nonzero(y)
            all_places.append(at + start)
            all_elements.append(elements)
    return [probes.rows(number, *map(np.concatenate, found)) for number, found in enumerate(touched)]


def _halving(run, random, shape, dtype, results, loops, inner):
    """Halve groups of places; groups whose parents acted on different elements share a run."""
    probes = _Probes(run, random, shape, dtype, results, loops, inner)
    bounds = np.array([0, probes.count])
    ends = np.cumsum([0, *map(math.prod, results)])  # elements of all results are numbered consecutively
    whole = probes.ask(np.ones((1, probes.count), bool))
    footprints = [np.flatnonzero(np.concatenate([y[0] for y in whole]))]
    left = RUNS - 1
    while np.any(np.diff(bounds) > 1):
        finer = np.unique(np.concatenate([bounds, (bounds[:-1] + bounds[1:]) // 2]))
        before = [footprints[parent] for parent in np.searchsorted(bounds, finer[:-1], side="right") - 1]
        together = _apart(before, ends[-1], left)
        if together is None:
            break
        left -= together.max() + 1
        groups = np.repeat(np.arange(len(before)), np.diff(finer))  # the group of each place
        touched = [np.concatenate([y[0] for y in probes.ask((together == colour)[groups][None])])
                   for colour in range(together.max() + 1)]  # fmt: skip
        bounds, footprints = finer, [ids[touched[colour][ids]] for ids, colour in zip(before, together)]
    at = np.repeat(np.arange(len(footprints)), [len(ids) for ids in footprints])
    elements, sizes = np.concatenate(footprints), np.diff(bounds)[at]
    places = np.repeat(bounds[at] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    elements = np.repeat(elements, sizes)
    found = []
    for number, (start, stop) in enumerate(zip(ends, ends[1:])):
        mine = (start <= elements) & (elements < stop)
        found.append(probes.rows(number, places[mine], elements[mine] - start))
    return found


def _apart(footprints, count, most):
    """Assign groups to runs so that no two groups of a run act on the same element; None if this takes more than `most` runs."""
    occupied, found = [], np.empty(len(footprints), int)
    for group, ids in enumerate(footprints):
        found[group] = next((run for run, taken in enumerate(occupied) if not taken[ids].any()), len(occupied))
        if found[group] == len(occupied):
            if len(occupied) == most:
                return None
            occupied.append(np.zeros(count, bool))
        occupied[found[group]][ids] = True
    return found
