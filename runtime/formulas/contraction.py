"""The subscripts of einsum: resolve them for operands of given shapes, once for each combination.

Chooses the order of pairwise products: the cheapest order that adds one operand after the other.
"""

import functools
import math

from .shapes import _integers, axes_tuple

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_INDICES = _LETTERS[:26] + "".join(map(chr, range(0x100, 0x170)))  # enough for two arrays; vmap adds capitals
_MANY = 7  # with more operands not all orders are tried


@functools.lru_cache(1024)
def einsum_adjoint(subscripts, operand):
    """The summation that carries the cotangent of 'a,b->y' back to `a` (operand 0) or `b` (1)."""
    left, right, out = subscripts.replace("->", ",").split(",")
    return f"{left},{out}->{right}" if operand else f"{out},{right}->{left}"


def einsum_axes(subscripts, shapes):
    """The axes of the only operand in the order of the result, if einsum is a mere transposition; else None."""
    steps, _ = _plan(subscripts, tuple(shapes))
    term, _, out = steps[0].partition("->")
    return [term.index(i) for i in out] if len(steps) == 1 and sorted(term) == sorted(out) == sorted(set(term)) else None


def einsum_steps(subscripts, shapes):
    """Subscripts for the first operand and then, for each further one, for itself (empty if unchanged) and for the pair.

    Ellipses get their own letters, which are summed if they do not occur in the result.  An index of length 1 in one operand and
    longer in others is dropped from the former.  An index is summed as soon as no later operand has it.
    """
    return _plan(subscripts, tuple(shapes))[0]


def einsum_order(subscripts, shapes):
    """The operands' order in einsum_steps."""
    return _plan(subscripts, tuple(shapes))[1]


def tensordot_subscripts(a_shape, b_shape, axes):
    """The subscripts of einsum that compute tensordot."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(len(a_shape), len(b_shape)):
            raise ValueError(f"cannot sum {axes} axes of shapes {a_shape} and {b_shape}")
        axes = range(len(a_shape) - axes, len(a_shape)), range(axes)
    a_axes, b_axes = axes
    return _tensordot(a_shape, b_shape, tuple(_integers(a_axes)), tuple(_integers(b_axes)))


@functools.lru_cache(1024)
def _tensordot(a_shape, b_shape, a_axes, b_axes):
    a_axes, b_axes = axes_tuple(a_axes, len(a_shape)), axes_tuple(b_axes, len(b_shape))
    if [a_shape[i] for i in a_axes] != [b_shape[j] for j in b_axes] or len({*a_axes}) + len({*b_axes}) < 2 * len(a_axes):
        raise ValueError(f"cannot pair axes {a_axes} of shape {a_shape} with axes {b_axes} of shape {b_shape}")
    left, right = list(_INDICES[: len(a_shape)]), list(_INDICES[len(a_shape) : len(a_shape) + len(b_shape)])
    for i, j in zip(a_axes, b_axes):
        right[j] = left[i]
    out = [i for i in left if i not in right] + [i for i in right if i not in left]
    return f"{''.join(left)},{''.join(right)}->{''.join(out)}"


@functools.lru_cache(1024)
def _plan(subscripts, shapes):
    inputs, out = _einsum_terms(subscripts, shapes)
    lengths = {}
    for term, shape in zip(inputs, shapes):
        for index, length in zip(term, shape):
            if 1 not in (length, lengths.get(index, 1)) and length != lengths[index]:
                raise ValueError(f"einsum: index {index} of {subscripts!r} has lengths {lengths[index]} and {length}")
            if lengths.get(index, 1) == 1:
                lengths[index] = length
    wide = [[i for i, n in zip(term, shape) if n == lengths[i]] for term, shape in zip(inputs, shapes)]

    kept = []
    for place, term in enumerate(wide):
        others = set(out).union(*wide[:place], *wide[place + 1 :])
        kept.append("".join(i for i in dict.fromkeys(term) if i in others))
    if len(inputs) == 1:
        kept = [out]
    steps = [f"{term}->{rest}" if term != rest or len(inputs) == 1 else "" for term, rest in zip(inputs, kept)]
    order = _cheapest([set(term) for term in kept], set(out), lengths)
    plan, left = [steps[order[0]]], kept[order[0]]
    for count, place in enumerate(order[1:], 2):
        later = set(out).union(*(kept[other] for other in order[count:]))
        both = "".join(i for i in dict.fromkeys(left + kept[place]) if i in later)
        result = out if count == len(inputs) else both
        plan += [steps[place], f"{left},{kept[place]}->{result}"]
        left = result
    return tuple(plan), order


def _cheapest(terms, out, lengths):
    """The order of operands with the fewest multiplications, if each is multiplied with the product of its predecessors.

    The indices that remain for a set of operands do not depend on their order, so the best order of a set is the best order of a
    subset followed by one operand.  With many operands only the cheapest next operand is tried.  Ties keep the given order.
    """
    everything = range(len(terms))

    def left_over(chosen):
        rest = out.union(*(terms[i] for i in everything if i not in chosen))
        return set().union(*(terms[i] for i in chosen)) & rest if len(chosen) > 1 else terms[chosen[0]]

    def cost(chosen, place):
        return math.prod(lengths[index] for index in left_over(chosen) | terms[place])

    best = {frozenset((i,)): (0, (i,)) for i in everything}
    for _ in everything[1:]:
        longer = {}
        for total, chosen in best.values():
            for place in everything:
                if place not in chosen:
                    found = total + cost(chosen, place), (*chosen, place)
                    key = frozenset(found[1])
                    longer[key] = min(longer.get(key, found), found)
        best = longer if len(terms) <= _MANY else dict([min(longer.items(), key=lambda item: item[1])])
    return min(best.values())[1]


def _einsum_terms(subscripts, shapes):
    """The subscripts of each operand and of the result, with ellipses and an implied result made explicit."""
    given, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"einsum: {subscripts!r} is for {len(terms)} operands, {len(shapes)} given")
    ranks = [len(shape) - len(term.replace("...", "")) for term, shape in zip(terms, shapes)]
    for term, shape, rank in zip(terms, shapes, ranks):
        if rank < 0 or rank and "..." not in term:
            raise ValueError(f"einsum: {term!r} does not name the {len(shape)} axes of its operand")
    width = max(ranks, default=0)
    rest = "".join([letter for letter in _LETTERS if letter not in subscripts][:width])
    terms = [term.replace("...", rest[width - rank :]) for term, rank in zip(terms, ranks)]
    if not arrow:
        named = given.replace("...", "").replace(",", "")
        out = rest + "".join(sorted(i for i in set(named) if named.count(i) == 1))
    out = out.replace("...", rest)
    for index in out:
        if out.count(index) > 1 or index not in "".join(terms):
            raise ValueError(f"einsum: index {index} of the result occurs twice or in no operand")
    return terms, out
