"""Programs as people type them from memory who come from PyTorch, HIPS autograd, JAX, and NumPy with SciPy: the imports alone are changed.

Each of the 123 in `tests/newcomers` runs, or stops with an error that says what to write; ten do neither yet (`OPEN`).
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.apart import run

FOLDER = Path(__file__).parent / "newcomers"
PROGRAMS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.py"))
# What the last line of the error says of those that stop; each says what to write.
STOPS = {
    "hips/deconvolution.py": "write gs.func, which has grad",
    "hips/dynamic_regression.py": "write gs.func.elementwise_grad(f)",
    "jax/flax_style_mlp.py": "write gs.nn.init.xavier_uniform_(x)",
    "jax/mpc_cartpole.py": "did you mean 'argnum'?",
    "jax/vae_equinox.py": "write gs.Tensor",
    "jax/wave_inversion.py": "write x[index] = value",
    "pytorch/survival_deep.py": "write gs.random.Generator",
    "pytorch/wgan_gp.py": "use gradspec.tensor(data)",
    "jax/at_updates.py": "write x[index] = value",
    "numpy/heat_equation.py": "begin with a tensor",
    "numpy/image_blur.py": "write a gs.autograd.Function",
    "numpy/kmeans_columns.py": "x.detach() has the values alone",
    "numpy/regression_columns.py": "x.detach() has the values alone",
    "numpy/normal_likelihood.py": "write gs.scipy.stats.norm.logpdf",
    "numpy/scipy_beside.py": "x.detach() has the values alone",
    "numpy/solve_ivp.py": "write gs.array in the place of np.array",
    "pytorch/dqn.py": "write amax(axis=) and argmax(axis=)",
    "pytorch/layer_norm.py": "write correction=1 or correction=0",
    "pytorch/pca.py": "write gs.random.Generator",
    "pytorch/rnn_cell.py": "PyTorch's x.repeat(m, n) is x.tile((m, n))",
}
# Those that stop at an assertion of their own or without a sufficient message: open.
OPEN = {
    "hips/vae_mnist_like.py",
    "pytorch/image_registration.py",
    "pytorch/graph_network.py",
    "numpy/audio_synth.py",
    "numpy/gp_by_scipy.py",
    "jax/bundle_adjust.py",
    "jax/optax_schedule.py",
    "jax/nuts_like_hmc.py",
    "hips/topic_model.py",
    "hips/truss_topology.py",
}


def test_there_are_eight_of_each_and_more():
    counts = Counter(name.partition("/")[0] for name in PROGRAMS)
    assert counts == {"hips": 25, "jax": 30, "numpy": 27, "pytorch": 41}
    assert STOPS.keys() | OPEN <= set(PROGRAMS) and not STOPS.keys() & OPEN


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_or_is_told_what_to_write(name):
    for package in ("pandas", "xarray"):
        if f"import {package}" in (FOLDER / name).read_text():
            pytest.importorskip(package)
    done = run(FOLDER / name)
    if name in OPEN:
        assert done.returncode == 1, "it runs now: take it out of OPEN"
    elif name in STOPS:
        assert done.returncode == 1 and STOPS[name] in done.stderr.splitlines()[-1], done.stderr
    else:
        assert done.returncode == 0, done.stderr
