"""`python -m gradspec.selftest`: every example in a docstring holds, and a wrong installation is noticed."""

import numpy as np
import pytest

import gradspec as gs
from gradspec import selftest


@pytest.mark.parametrize("part", selftest.PARTS, ids=lambda part: part.__name__)
def test_a_part_finds_nothing_wrong(part):
    assert not selftest.found_by(part)


def test_a_wrong_value_is_found_by_its_example(monkeypatch):
    def exp2(x):
        return gs.tanh(x)

    exp2.__doc__ = gs.exp2.__doc__
    monkeypatch.setattr(gs, "exp2", exp2)
    found = [text for text in selftest.found_by(selftest.examples) if "gs.exp2" in text]
    assert found and all("Expected:" in text and "Got:" in text for text in found)


def test_a_wrong_mode_is_found(monkeypatch):
    class Tripled(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 3

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    def exp2(x):
        return Tripled.apply(gs.asarray(x))

    exp2.__doc__ = gs.exp2.__doc__
    monkeypatch.setattr(gs, "exp2", exp2)
    (found,) = selftest.found_by(selftest.transformations)
    assert found.startswith("gs.exp2([-1.0, 3.0]): forward mode, reverse mode and two compiled calls give")


def test_numbers_are_compared_to_six_digits():
    check = selftest._Printed().check_output
    assert check("tensor([1.0000001, -0.])", "tensor([ 1.0000002, 0.])", 0)
    assert not check("tensor([1.0001])", "tensor([1.0002])", 0) and not check("tensor([1.])", "array([1.])", 0)
    assert not check("tensor([nan])", "tensor([1.])", 0)


def test_it_prints_the_environment_and_a_line_for_each_part(capsys, monkeypatch):
    monkeypatch.setattr(selftest, "PARTS", (selftest.programs,))
    assert selftest.main() == 0
    printed = capsys.readouterr().out
    assert f"gradspec {gs.__version__}" in printed and f"NumPy {np.__version__}" in printed and "BLAS: " in printed
    assert "programs         right" in printed
    monkeypatch.setitem(selftest.PROGRAMS, "zero is one", lambda: False)
    assert selftest.main() == 1 and "not true: zero is one" in capsys.readouterr().out
