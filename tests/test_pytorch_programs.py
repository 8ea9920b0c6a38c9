"""Programs of PyTorch's users: where they say `torch`, this library gives the losses, gradients and weights that PyTorch gives."""

import re

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn
from tests import pytorch_programs, pytorch_tutorials
from tests.asked import each

PROGRAMS = [*pytorch_programs.PROGRAMS, *pytorch_tutorials.PROGRAMS]
# Programs that stop, and what the error says of it.
STOPS: dict[str, str] = {}


def run(program, library):
    """The program with its library; what it draws and its first parameters are the same in each."""
    rng = np.random.default_rng(0)

    def draw(*shape):
        return library.from_numpy(rng.normal(size=shape))

    def fill(module):
        own = np.random.default_rng(1)
        with library.no_grad():
            for parameter in module.parameters():
                parameter.copy_(library.from_numpy(np.asarray(0.3 * own.normal(size=tuple(parameter.shape)))))
        return module

    return [np.asarray(item.detach().numpy() if hasattr(item, "detach") else item) for item in program(library, library.nn, library.nn.functional, draw, fill)]


@each("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_what_pytorch_gives(program):
    if program.__name__ in STOPS:
        with pytest.raises(TypeError, match=re.escape(STOPS[program.__name__])):
            run(program, gs)
        return
    found = run(program, gs)
    try:
        import torch
    except ImportError:
        assert all(np.isfinite(item).all() for item in found)
        return
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        wanted = run(program, torch)
    finally:
        torch.set_default_dtype(before)
    assert len(found) == len(wanted)
    for number, (item, other) in enumerate(zip(found, wanted)):
        np.testing.assert_allclose(item, other, rtol=1e-7, atol=1e-9, err_msg=str(number), strict=False)
        assert item.shape == other.shape, number


def test_there_are_seventy():
    assert len({program.__name__ for program in PROGRAMS}) == len(PROGRAMS) >= 70 and STOPS.keys() <= {program.__name__ for program in PROGRAMS}
