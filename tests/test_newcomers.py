"""Programs as people type them from memory who come from PyTorch, HIPS autograd, JAX, and NumPy with SciPy: the imports alone are changed.

Each of the 143 in `tests/newcomers` runs, or stops with an error that says what to write; four do neither (`OPEN`).  Seven programs
were mended: `mpc_cartpole`, `wave_inversion` and `nuts_like_hmc` failed with JAX as well, the iteration of `truss_topology`
does not converge, SciPy's minimizer ends `robust_location` beside its event without a gradient, too, and `elastic_curve` and
`voigt_spectrum` asserted what NumPy's values deny.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.apart import run

FOLDER = Path(__file__).parent / "newcomers"
PROGRAMS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.py"))
# What the last line of the error says of those that stop; each says what to write.
STOPS = {
    "numpy/heat_equation.py": "begin with a tensor",
    "numpy/image_blur.py": "write a gs.autograd.Function",
    "numpy/kmeans_columns.py": "x.detach() has the values alone",
    "numpy/regression_columns.py": "x.detach() has the values alone",
    "numpy/epidemic_network.py": "write gs.array in the place of np.array",
    "numpy/filter_design.py": "write gs.scipy.signal.sosfilt",
    "numpy/molecule_geometry.py": "write gs.scipy.spatial.distance.cdist",
    "numpy/normal_likelihood.py": "write gs.scipy.stats.norm.logpdf",
    "numpy/scipy_beside.py": "x.detach() has the values alone",
    "numpy/solve_ivp.py": "write gs.array in the place of np.array",
    "numpy/audio_synth.py": "write x.numpy().view(dtype)",
    "numpy/voigt_spectrum.py": "write gs.scipy.special.voigt_profile",
    "numpy/yield_curve.py": "write gs.scipy.interpolate.CubicSpline",
    "pytorch/ctc_spectrogram.py": "write gs.signal.windows.hann(n, sym=False)",
    "pytorch/dqn.py": "write amax(axis=) and argmax(axis=)",
    "pytorch/graph_attention.py": "write nonzero(mask) for the places where it is true",
    "pytorch/image_registration.py": "is gradspec.array_equal(a, b)",
    "pytorch/layer_norm.py": "write correction=1 or correction=0",
    "pytorch/option_greeks.py": "write amax(axis=) and argmax(axis=)",
    "pytorch/point_cloud_fit.py": "write gs.linalg.matrix_exp",
    "pytorch/rnn_cell.py": "PyTorch's x.repeat(m, n) is x.tile((m, n))",
    "pytorch/unet_dice.py": "write tuple, the class of x.shape",
}
# Those that stop without a sufficient message, three of them at an assertion of their own, and why.
OPEN = {
    "hips/topic_model.py": "a set of tensors: their hash is the object's, as in PyTorch",
    "jax/optax_schedule.py": "0.1 is compared with float32's, and the default is float64",
    "jax/vae_equinox.py": "a dictionary keeps its own order, and JAX sorts the keys",
    "pytorch/graph_network.py": "nonzero() is NumPy's tuple of indices, which has no method t",
}


def test_there_are_eight_of_each_and_more():
    counts = Counter(name.partition("/")[0] for name in PROGRAMS)
    assert counts == {"hips": 30, "jax": 35, "numpy": 32, "pytorch": 46}
    assert STOPS.keys() | OPEN.keys() <= set(PROGRAMS) and not STOPS.keys() & OPEN.keys()


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
