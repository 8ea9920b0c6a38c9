"""Examples in docstrings, the public names, and how much of PyTorch's namespace is there."""

import doctest
import importlib
from pathlib import Path

import gradspec as gs
from tests.asked import each
from tests.later import later

torch = later("torch")

FOLDER = Path(gs.distributions.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


@each("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(f"gradspec.distributions.{name}")).failed == 0


def test_names_are_pytorchs():
    assert set(torch.distributions.__all__) <= set(gs.distributions.__all__)
    assert set(torch.distributions.transforms.__all__) == set(gs.distributions.transforms.__all__)
    assert set(torch.distributions.constraints.__all__) <= set(gs.distributions.constraints.__all__)


@each("name", [name for name in gs.distributions.__all__ if isinstance(getattr(gs.distributions, name), type)])
def test_each_distribution_has_an_example(name):
    kind = getattr(gs.distributions, name)
    assert kind.__doc__
    if issubclass(kind, gs.distributions.Distribution) and name not in ("Distribution", "ExponentialFamily"):
        assert ">>>" in kind.__doc__
