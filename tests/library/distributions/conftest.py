"""PyTorch computes in double precision beside ours."""

import importlib.util

import pytest

from tests.later import later

torch = later("torch")


@pytest.fixture(autouse=True)
def double_precision():
    if importlib.util.find_spec("torch") is None:
        yield
        return
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
