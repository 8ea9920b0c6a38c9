"""Samples: deterministic, in the domain, of the dtype that is asked for."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from codegen.spec.samples import MARGIN, evaluate_sample, satisfied, seed_of
from tests.asked import each


def arrays(source: str, **options):
    return evaluate_sample(source, **options)[0]


def test_the_same_seed_gives_the_same_values():
    one, two, other = (arrays("f(x(3, 4))", seed=seed)[0] for seed in (1, 1, 2))
    assert (one == two).all() and (one != other).any()
    assert seed_of("tanh", 1) == seed_of("tanh", 0) + 1 != seed_of("sinh", 1)


def test_a_generator_gives_the_same_numbers_in_every_call():
    one, two = (evaluate_sample("f(x(2), generator=generator(3))")[1]["generator"] for _ in range(2))
    assert one is not two and (one.random(4) == two.random(4)).all()


def test_constants_are_words_of_samples_and_domains():
    assert arrays("f(pi, e, -inf)") == (np.pi, np.e, -np.inf)
    (x,) = arrays("f(x(50))", domain="-pi / 2 < x < pi / 2", parameters=["x"])
    assert np.abs(x).max() < np.pi / 2


@each("dtype", ["float32", "float64", "complex64", "complex128", "int64", "uint8", "bool"])
@each("maker", ["x", "pos", "unit", "distinct"])
def test_makers_follow_the_dtype(maker, dtype):
    (value,) = arrays(f"f({maker}(3, 4))", dtype=dtype)
    assert value.dtype == dtype and value.shape == (3, 4)
    assert not np.iscomplexobj(value) or value.imag.all()


def test_values_keep_off_kinks_and_off_one_another():
    x, y = arrays("f(x(5, 6), x(7))")
    values = np.sort(np.concatenate([x.ravel(), y]))
    assert np.abs(2 * values - np.round(2 * values)).min() > 0.15
    assert np.diff(values).min() > 1e-3


def test_matrices():
    psd, mat, tril = arrays("f(psd(2, 3), mat(4, 2), tril(3))", dtype=complex)
    assert (psd == psd.conj().swapaxes(-1, -2)).all() and (np.linalg.eigvalsh(psd) > 0.9).all()
    assert np.allclose(np.linalg.svd(mat)[1], [1.7, 1.0])
    assert (np.triu(tril, 1) == 0).all()
    assert arrays("f(psd(0))")[0].shape == (0, 0)


def test_other_makers_and_literals():
    args, kwargs = evaluate_sample("f(ints(4, high=3), mask(5), perm(4), (slice(1, None), Ellipsis, None), axis=-1)")
    assert args[0].dtype.kind == "i" and set(args[0]) <= {0, 1, 2}
    assert args[1].any() and not args[1].all()
    assert sorted(args[2]) == [0, 1, 2, 3]
    assert args[3] == (slice(1, None), ..., None) and kwargs == {"axis": -1}


def test_strides():
    (x,) = arrays("f(x(4, 3)[::-1, ::2].T)")
    assert x.shape == (2, 4) and min(x.strides) < 0


@each("domain", ["x > 0", "-1 < x < 1", "abs(x) > 1", "x > 0 and x < 1", "x < -1 or x > 1"])
@each("dtype", [float, complex])
def test_values_lie_in_the_domain_by_a_margin(domain, dtype):
    (x,) = arrays("f(x(4, 5).T)", domain=domain, dtype=dtype, parameters=["x"])
    assert np.all(satisfied(ast.parse(domain, mode="eval").body, {"x": x}))


def test_a_domain_of_two_arguments_broadcasts():
    a, b = arrays("f(x(3, 1, 4), x(2, 1))", domain="abs(a - b) > 0.2", parameters=["a", "b"])
    assert a.shape == (3, 1, 4) and (np.abs(a - b) > 0.2 + MARGIN).all()


def test_an_empty_domain_is_an_error():
    with pytest.raises(ValueError, match="no sample was found in the domain x > 100"):
        arrays("f(x(3))", domain="x > 100", parameters=["x"])


def test_a_domain_finds_the_defaults():
    """As it finds what the call gives."""
    for call, bound in (("f(x(50))", 0.25), ("f(x(50), 0.5)", 0.5), ("f(x(50), c=0.5)", 0.5)):
        args, _ = evaluate_sample(call, "abs(x) < c", parameters=["x", "c"], defaults={"c": 0.25})
        assert (abs(args[0]) < bound).all()
