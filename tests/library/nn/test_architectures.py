"""Fifteen architectures in their usual form, with PyTorch's weights: its results and gradients."""

import re

import numpy as np
import pytest

import gradspec as gs
from tests.asked import each
from tests.runtime import architectures


@pytest.fixture
def torch():
    """PyTorch with double precision as its default, which is ours."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch's modules, and PyTorch is not installed")
    torch.set_default_dtype(torch.float64)
    yield torch
    torch.set_default_dtype(torch.float32)


def run(library, net, inputs):
    given = [library.tensor(value, requires_grad=True) if value.dtype.kind == "f" else library.tensor(value) for value in inputs]
    results = net(*given)
    results = results if isinstance(results, tuple) else (results,)
    weights = np.random.default_rng(0)
    total = sum((result * library.tensor(weights.normal(size=tuple(result.shape)))).sum() for result in results)
    total.backward()
    found = {f"result {number}": result for number, result in enumerate(results)}
    found |= {f"gradient of input {number}": value.grad for number, value in enumerate(given) if value.requires_grad}
    found |= {f"gradient of {name}": value.grad for name, value in net.named_parameters()}
    found |= {f"buffer {name}": value for name, value in net.named_buffers()}
    return {name: np.asarray(value.detach()) for name, value in found.items() if value is not None}


@each("build", architectures.ALL)
def test_a_model_of_pytorchs_gives_its_results_and_gradients(torch, build):
    there, inputs = build(torch, torch.nn, torch.nn.functional)
    here, _ = build(gs, gs.nn, gs.nn.functional)
    assert str(here.load_state_dict(there.state_dict())) == "<All keys matched successfully>"
    assert list(here.state_dict()) == list(there.state_dict())
    print_of_ours = re.sub(r"  # [\d,]+ parameters?$", "", repr(here), flags=re.MULTILINE)
    assert print_of_ours == repr(there).replace("NonDynamicallyQuantizableLinear", "Linear")
    found, wanted = run(gs, here, inputs), run(torch, there, inputs)
    assert found.keys() == wanted.keys() and sum(name.startswith("gradient") for name in found) > 2
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-8, atol=1e-9, err_msg=name)


def test_there_are_fifteen():
    assert len({build.__name__ for build in architectures.ALL}) == 15
