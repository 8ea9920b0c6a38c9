"""Duals as users meet them: make_dual, unpack_dual, and tangents of views and bases after writes to either."""

import contextlib
import threading

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad as fwAD


def leaf(*values):
    return gs.tensor(np.array(values, float), requires_grad=True)


def same(tensor, expected):
    np.testing.assert_allclose(tensor.detach().numpy(), expected, rtol=1e-12)


def test_make_dual_wants_a_level():
    with pytest.raises(RuntimeError):
        fwAD.make_dual(gs.ones((1,)), gs.ones((1,)))


def test_what_make_dual_checks_and_shares():
    with fwAD.dual_level():
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            fwAD.make_dual(gs.tensor([1]), gs.ones((1,)))
        with pytest.raises(ValueError, match="Expected tangent to be floating point or complex"):
            fwAD.make_dual(gs.ones((1,)), gs.tensor([1]))
        x = gs.ones((2,))
        t = gs.ones((2,))
        d = fwAD.make_dual(x, t)
        assert fwAD.unpack_dual(d).tangent is t
        assert d._version == x._version
        d.mul_(2)
        assert x._version == 1
        same(x, [2, 2])
        with pytest.raises(RuntimeError, match="has a forward gradient at the same level"):
            fwAD.make_dual(x, d)
        with pytest.raises(RuntimeError, match="different size"):
            fwAD.make_dual(x, gs.ones((3,)))
        a = gs.ones((2, 3)).T
        t = gs.ones((3, 2))
        d = fwAD.make_dual(a, t)
        tt = fwAD.unpack_dual(d).tangent
        assert tt is not t and tt.strides == a.strides
        p1 = fwAD.unpack_dual(d).primal
        p2 = fwAD.unpack_dual(d).primal
        assert p1 is not p2 and p1._is_view() if hasattr(p1, "_is_view") else True


def test_repr_shows_the_tangent():
    with fwAD.dual_level():
        d = fwAD.make_dual(gs.ones((1,)), gs.ones((1,)))
        assert "tangent=" in repr(d)
        assert "tangent=" not in repr(gs.ones((1,)))


def test_writes_to_views_and_bases_reach_each_others_tangents():
    with fwAD.dual_level():
        d = fwAD.make_dual(gs.ones((2,)), gs.ones((2,)))
        w = d[:1]
        w *= 2
        same(fwAD.unpack_dual(d).tangent, [2, 1])
        u = d[1:]
        d *= 3
        same(fwAD.unpack_dual(u).tangent, [3.0])
        y = gs.zeros((3,))
        v = y[:2]
        v += fwAD.make_dual(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 0.0]))
        same(fwAD.unpack_dual((y * y).sum()).tangent, 2.0)


def test_detach_drops_the_tangent_and_no_grad_does_not():
    with fwAD.dual_level():
        d = fwAD.make_dual(gs.ones((2,)), gs.ones((2,)))
        assert fwAD.unpack_dual(d.detach()).tangent is None
        with gs.no_grad():
            assert fwAD.unpack_dual(d * 2).tangent is not None
        with fwAD._set_fwd_grad_enabled(False):
            assert fwAD.unpack_dual(d * 2).tangent is None
        dd = d * 1
        dd.detach_()
        assert fwAD.unpack_dual(dd).tangent is None


def test_a_write_to_the_primal_does_not_reach_the_tangent_of_the_dual():
    with fwAD.dual_level():
        x = gs.ones((2,))
        d = fwAD.make_dual(x, gs.ones((2,)))
        x.mul_(fwAD.make_dual(gs.ones((2,)) * 3, gs.ones((2,))))
        same(fwAD.unpack_dual(d).tangent, [1, 1])
        same(d, [3, 3])


def test_copy_copies_and_broadcasts_the_tangent():
    with fwAD.dual_level():
        t = gs.ones((2,))
        d = fwAD.make_dual(gs.ones((2,)), t)
        y = gs.zeros((2,))
        y.copy_(d)
        assert fwAD.unpack_dual(y).tangent is not t
        z = gs.zeros((3, 2))
        z.copy_(d)
        same(fwAD.unpack_dual(z).tangent, np.ones((3, 2)))


def test_out_is_refused():
    with fwAD.dual_level():
        d = fwAD.make_dual(gs.ones((2,)), gs.ones((2,)))
        with pytest.raises(RuntimeError, match="out= function"):
            gs.add(d, 1, out=gs.zeros((2,)))


def test_comparisons_have_no_tangent():
    with fwAD.dual_level():
        d = fwAD.make_dual(gs.ones((2,)), gs.ones((2,)))
        gs.equal(d, 1.0)


def test_a_tangent_vanishes_with_its_level():
    with fwAD.dual_level():
        d = fwAD.make_dual(gs.ones((2,)), gs.ones((2,)))
    with fwAD.dual_level():
        assert fwAD.unpack_dual(d).tangent is None


def in_a_thread(work):
    """What a function gives in another thread, or the message of its RuntimeError."""
    out = []

    def run():
        try:
            out.append(work())
        except RuntimeError as error:
            out.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return out[0]


def test_a_tangent_is_not_lost_in_a_thread_without_a_level():
    x = gs.tensor([5.0, 6.0])
    compiled = gs.compile(lambda x: x * 2)
    for _ in range(2):
        compiled(x)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, gs.tensor([2.0, 1.0]))
        view = dual[1:]
        uses = [lambda: gs.exp(dual), lambda: dual * 2, lambda: 2 - view, lambda: view.sum(), lambda: dual.reshape(2, 1), lambda: dual[0],
                lambda: gs.concat([x, dual]), lambda: gs.nn.softmax(dual, 0), lambda: x.clone().add_(dual), lambda: dual.clone().mul_(x),
                lambda: gs.where(x > 5, dual, x), lambda: dual @ x, lambda: dual.astype("f4"),
                lambda: compiled(dual), lambda: gs.grad(lambda x: (x * x).sum())(dual), lambda: gs.vmap(gs.sin)(dual)]  # fmt: skip
        for use in uses:
            for guard in (contextlib.nullcontext, gs.no_grad):
                with guard():
                    assert isinstance(use(), gs.Tensor)

                def guarded(use=use, guard=guard):
                    with guard():
                        return use()

                assert "of another thread" in in_a_thread(guarded)
    for use in uses:  # a tangent ends with its level
        assert isinstance(in_a_thread(use), gs.Tensor)


def test_a_tangent_of_another_thread_is_refused():
    out = []
    with fwAD.dual_level():
        d = fwAD.make_dual(gs.tensor([5.0]), gs.tensor([2.0]))

        def work():
            with fwAD.dual_level():
                e = fwAD.make_dual(gs.tensor([1.0]), gs.tensor([1.0]))
                try:
                    out.append(d * e)
                except RuntimeError as err:
                    out.append(str(err))

        t = threading.Thread(target=work)
        t.start()
        t.join()
    assert isinstance(out[0], str)
