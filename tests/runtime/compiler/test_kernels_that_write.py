"""Kernels that write into an array return that array: one call of each."""

import numpy as np

from gradspec import kernels
from gradspec.generated.kernel_names import COMPILED, PYTHON

DICE = np.random.default_rng(0)
WRITING = {
    "bernoulli_": (0.5, DICE),
    "cauchy_": (0.0, 1.0, DICE),
    "clip_": (0.0, 0.5),
    "compare_": (1.0, "less"),
    "copy_": (2.0,),
    "exponential_": (1.0, DICE),
    "fill_": (2.0,),
    "fill_diagonal_": (2.0,),
    "geometric_": (0.5, DICE),
    "index_add_": (0, np.array([1]), np.ones((1, 3))),
    "index_put_": ((0,), 2.0),
    "log_normal_": (0.0, 1.0, DICE),
    "masked_fill_": (np.eye(3) > 0, 2.0),
    "normal_": (0.0, 1.0, DICE),
    "random_": (None, None, DICE),
    "scatter_": (0, np.array([[1, 0, 2]]), np.ones((1, 3))),
    "scatter_add_": (0, np.array([[1, 0, 2]]), np.ones((1, 3))),
    "uniform_": (0.0, 1.0, DICE),
    "zero_": (),
}


def test_what_is_written_is_what_is_returned():
    names = {name for table in (COMPILED, PYTHON) for names in table.values() for name in names if name.endswith("_")}
    assert names == {*WRITING}
    for name, arguments in WRITING.items():
        x = np.full((3, 3), 0.75)
        assert getattr(kernels, name)(x, *arguments) is x, name
        assert (x != 0.75).any(), name
