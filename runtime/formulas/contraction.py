"""The subscripts of einsum: what they mean for operands of given shapes, computed once for each combination."""

import functools


@functools.lru_cache(1024)
def einsum_adjoint(subscripts, operand):
    """The summation that carries the cotangent of 'a,b->y' back to `a` (operand 0) or `b` (1)."""
    left, right, out = subscripts.replace("->", ",").split(",")
    return f"{left},{out}->{right}" if operand else f"{out},{right}->{left}"


def einsum_steps(subscripts, shapes):
    """Subscripts for one operand and then, for each further one, for itself (empty: as it is) and for the pair.

    Ellipses get letters of their own, summed where the result has none, an index of length 1 in one operand and longer in
    others is dropped there, and an index is summed as soon as nothing to the right names it.
    """
    return _steps(subscripts, tuple(shapes))


@functools.lru_cache(1024)
def _steps(subscripts, shapes):
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
    plan, left = steps[:1], kept[0]
    for place in range(1, len(inputs)):
        later = set(out).union(*kept[place + 1 :])
        both = "".join(i for i in dict.fromkeys(left + kept[place]) if i in later)
        result = out if place == len(inputs) - 1 else both
        plan += [steps[place], f"{left},{kept[place]}->{result}"]
        left = result
    return tuple(plan)


def _einsum_terms(subscripts, shapes):
    """The subscripts of each operand and of the result, ellipses and the implied result spelled out."""
    given, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"einsum: {subscripts!r} is for {len(terms)} operands, {len(shapes)} given")
    ranks = [len(shape) - len(term.replace("...", "")) for term, shape in zip(terms, shapes)]
    for term, shape, rank in zip(terms, shapes, ranks):
        if rank < 0 or rank and "..." not in term:
            raise ValueError(f"einsum: {term!r} does not name the {len(shape)} axes of its operand")
    width = max(ranks, default=0)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    rest = "".join([letter for letter in letters if letter not in subscripts][:width])
    terms = [term.replace("...", rest[width - rank :]) for term, rank in zip(terms, ranks)]
    if not arrow:
        named = given.replace("...", "").replace(",", "")
        out = rest + "".join(sorted(i for i in set(named) if named.count(i) == 1))
    out = out.replace("...", rest)
    for index in out:
        if out.count(index) > 1 or index not in "".join(terms):
            raise ValueError(f"einsum: index {index} of the result stands there twice or in no operand")
    return terms, out
