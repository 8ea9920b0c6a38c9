"""Einstein summation: the order in which operands are multiplied, against NumPy's path and against what any order gives."""

import itertools
import math

import numpy as np

import gradspec as gs
from gradspec.formulas.contraction import einsum_order, einsum_steps
from tests.asked import each


def multiplications(steps, lengths):
    return sum(math.prod(lengths[i] for i in set(pair) - set(",->")) for pair in steps[2::2])


def random_case(rng):
    """Subscripts of two to five operands, and the length of each index."""
    letters = "abcdef"
    terms = ["".join(rng.permutation(list(letters))[: rng.integers(1, 4)]) for _ in range(rng.integers(2, 6))]
    named = sorted(set("".join(terms)))
    out = "".join(letter for letter in named if rng.random() < 0.4)
    return terms, out, {letter: int(rng.integers(2, 9)) for letter in named}


@each("seed", range(60))
def test_no_order_costs_less(seed):
    """Among those that add one operand after the other; and the value is NumPy's."""
    rng = np.random.default_rng(seed)
    terms, out, lengths = random_case(rng)
    subscripts = ",".join(terms) + "->" + out
    shapes = [tuple(lengths[i] for i in term) for term in terms]
    chosen = multiplications(einsum_steps(subscripts, shapes), lengths)
    assert sorted(einsum_order(subscripts, shapes)) == list(range(len(terms)))
    for order in itertools.permutations(range(len(terms))):
        left, cost = set(terms[order[0]]), 0
        left &= set(out).union(*(terms[i] for i in range(len(terms)) if i != order[0]))
        for count, place in enumerate(order[1:], 2):
            own = set(terms[place]) & set(out).union(*(terms[i] for i in range(len(terms)) if i != place))
            cost += math.prod(lengths[i] for i in left | own)
            left = (left | own) & set(out).union(*(terms[i] for i in order[count:]))
        assert chosen <= cost
    arrays = [rng.normal(size=shape) for shape in shapes]
    found = gs.einsum(subscripts, *map(gs.tensor, arrays))
    np.testing.assert_allclose(found.numpy(), np.einsum(subscripts, *arrays), rtol=1e-10, atol=1e-10)


def test_many_operands_in_a_chain():
    """Each product of two matrices before a vector would cost what all products by the vector do."""
    terms = ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi", "ij", "j"]
    lengths = dict.fromkeys("abcdefghij", 30)
    shapes = [(30,) * len(term) for term in terms]
    subscripts = ",".join(terms) + "->a"
    assert multiplications(einsum_steps(subscripts, shapes), lengths) == 9 * 900


def test_an_operand_whose_axes_change_places_is_a_view():
    x = gs.tensor(np.arange(24.0).reshape(2, 3, 4), requires_grad=True)
    y = gs.einsum("ijk->kij", x)
    assert np.shares_memory(y.detach().numpy(), x.detach().numpy()) and y.shape == (4, 2, 3)
    (y * gs.tensor(np.arange(24.0).reshape(4, 2, 3))).sum().backward()
    assert np.array_equal(x.grad.numpy(), np.arange(24.0).reshape(4, 2, 3).transpose(1, 2, 0))
    assert not np.shares_memory(gs.einsum("iik->ik", gs.tensor(np.ones((2, 2, 3)))).numpy(), x.detach().numpy())
