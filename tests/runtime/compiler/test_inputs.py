"""What a traced call is given: keywords of the function and of the tracer, and generators."""

import numpy as np
import pytest

import gradspec as gs


def scaled(x, *, factor=2.0, flag=False, w=None):
    y = x * factor if flag else x
    return y if w is None else y @ w["w"]


def test_keywords_are_those_of_the_function():
    taken = gs.trace(scaled, np.ones((2, 3)), flag=True, w={"w": np.ones((3, 1))})
    assert [value.name for value in taken.inputs] == ["x", "w_w"]
    for program in taken.compiled(), taken.compiled(numpy=True):
        assert program(np.full((2, 3), 3.0), flag=True, w={"w": np.ones((3, 1))}).tolist() == [[18.0], [18.0]]
        with pytest.raises(ValueError, match="flag was True when it was traced"):
            program(np.ones((2, 3)), flag=False, w={"w": np.ones((3, 1))})
        with pytest.raises(TypeError, match="flag"):
            program(np.ones((2, 3)))


def test_keywords_reach_other_programs_of_the_call():
    taken = gs.trace(lambda x, *, power, w: ((x**power) * w).sum(), np.ones(2), power=3, w=np.ones(2), shapes={"x": ("n",), "w": ("n",)})
    x, w = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0])
    assert taken.decompose().run(x, power=3, w=w).item() == 55.0
    value, gradient = taken.derivative().run(x, power=3, w=w)
    assert value.item() == 55.0 and gradient.tolist() == [3.0, 0.0, 54.0]


def test_what_could_be_a_keyword_of_either_is_refused():
    def f(x, check=1):
        return x * check

    with pytest.raises(TypeError, match="'check' is a parameter of the function and of trace"):
        gs.trace(f, np.ones(2), check=False)
    assert gs.trace(f, np.ones(2), 3).run(np.ones(2), 3).tolist() == [3.0, 3.0]
    assert gs.trace(lambda x, **rest: x * len(rest), np.ones(2), check=False, other=1).run(np.ones(2), other=1).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="a program has 'np' for a module"):
        gs.trace(lambda x, np: x, np.ones(2), np=1)


def test_a_function_without_such_a_parameter_says_so_itself():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        gs.trace(lambda x: x, np.ones(2), nonsense=1)


def test_keywords_of_the_operator_of_this_name():
    assert gs.trace(np.arange(4.0).reshape(2, 2), offset=1).item() == 1.0


@pytest.mark.parametrize("call", [lambda f, rng: gs.trace(f, np.zeros(3), rng), lambda f, rng: gs.trace(f, np.zeros(3), generator=rng)])
def test_a_generator_that_is_an_argument_is_one_of_the_program(call):
    def f(x, generator):
        return x + gs.random.normal(size=(3,), generator=generator) + gs.randn(3)

    taken = call(f, np.random.default_rng(1))
    assert [source.name for source in taken.sources] == ["generator", "generator_2"]
    given = {"generator": np.random.default_rng(7), "generator_2": np.random.default_rng(5)}
    rest = [given.pop("generator")] if not taken.keywords else []
    wanted = np.random.default_rng(7).normal(size=3) + np.random.default_rng(5).normal(size=3)
    assert taken.run(np.zeros(3), *rest, **given).tolist() == wanted.tolist()
