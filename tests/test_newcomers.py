"""Programs as people type them from memory who come from PyTorch, HIPS autograd, JAX, and NumPy with SciPy: the imports alone are changed.

Each of the 83 in `tests/newcomers` runs, or stops with an error that says what to write.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.apart import run

FOLDER = Path(__file__).parent / "newcomers"
PROGRAMS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.py"))
# What the last line of the error says of those that stop; all but the last say what to write.
STOPS = {
    "jax/at_updates.py": "write x[index] = value",
    "numpy/heat_equation.py": "begin with a tensor",
    "numpy/image_blur.py": "a list of tensors becomes one by gradspec.stack(list)",
    "numpy/kmeans_columns.py": "x.detach() has the values alone",
    "numpy/regression_columns.py": "x.detach() has the values alone",
    "numpy/normal_likelihood.py": "a list of tensors becomes one by gradspec.stack(list)",
    "numpy/scipy_beside.py": "x.detach() has the values alone",
    "numpy/solve_ivp.py": "a list of tensors becomes one by gradspec.stack(list)",
    "pytorch/dqn.py": "write amax(axis=) and argmax(axis=)",
    "pytorch/layer_norm.py": "write correction=1 or correction=0",
    "pytorch/pca.py": "write gs.random.Generator",
    "pytorch/rnn_cell.py": "PyTorch's x.repeat(m, n) is x.tile((m, n))",
}


def test_there_are_eight_of_each_and_more():
    counts = Counter(name.partition("/")[0] for name in PROGRAMS)
    assert counts == {"hips": 15, "jax": 20, "numpy": 17, "pytorch": 31}
    assert STOPS.keys() <= set(PROGRAMS)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_or_is_told_what_to_write(name):
    done = run(FOLDER / name)
    if name in STOPS:
        assert done.returncode == 1 and STOPS[name] in done.stderr.splitlines()[-1], done.stderr
    else:
        assert done.returncode == 0, done.stderr
