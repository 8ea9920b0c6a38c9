"""Devices: the one that there is, and what programs ask of those that are not."""

import copy
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec.support import devices


def test_the_one_device():
    cpu = gs.device("cuda" if gs.cuda.is_available() else "mps" if gs.backends.mps.is_available() else "cpu")
    x = gs.ones(2)
    assert cpu == "cpu" == x.device == gs.device("cpu", 0) == gs.get_default_device() and (cpu.type, cpu.index) == ("cpu", None)
    assert repr(cpu) == "device(type='cpu')" and f"{cpu}" == "cpu" and hash(cpu) == hash("cpu")
    assert x.to(cpu) is x and gs.zeros(2, device=cpu).device.type == "cpu" and not x.is_cuda
    assert type(pickle.loads(pickle.dumps(cpu))) is type(copy.deepcopy(cpu)) is gs.device
    assert gs.nn.Linear(2, 2, device=cpu).to(cpu)(x).shape == (2,)
    gs.set_default_device(cpu), gs.set_default_device(None)
    with gs.device("cpu") as entered:
        assert entered == cpu


def test_other_devices_are_asked_and_not_used():
    for absent in (gs.cuda, gs.mps, gs.xpu, gs.accelerator, gs.backends.cudnn):
        assert absent.is_available() is False and absent.device_count() == 0
        absent.manual_seed(0), absent.manual_seed_all(0), absent.empty_cache()
        with pytest.raises(AttributeError, match=r"gs\.\S+\.Stream: every tensor is in memory; write 'cpu', or nothing"):
            absent.Stream()
    assert repr(gs.cuda) == "<gs.cuda: not available>" and repr(gs.backends.cudnn) == "<gs.backends.cudnn: not available>"
    gs.backends.cudnn.deterministic = True
    del gs.backends.cudnn.deterministic
    for ask in (lambda: gs.device("cuda:0"), lambda: gs.set_default_device("mps")):
        with pytest.raises(RuntimeError, match="there is no device '(cuda:0|mps)': every tensor is in memory"):
            ask()
    assert set(devices.__all__) <= set(gs.__all__) and pickle.loads(pickle.dumps(gs.cuda)) is gs.cuda


def test_the_default_dtype():
    assert gs.get_default_dtype() == gs.double == gs.tensor(0.5).dtype and gs.set_default_dtype(gs.float64) is None
    with pytest.raises(TypeError, match=r"the default is float64, as in NumPy; write dtype='float32'"):
        gs.set_default_dtype(gs.float)


def test_dtypes_by_pytorchs_names():
    names = "float double half long int short cfloat cdouble bool".split()
    assert [getattr(gs, name) for name in names] == [np.dtype(code) for code in "f4 f8 f2 i8 i4 i2 c8 c16 ?".split()]
    x = gs.tensor([1.5, 0.0], requires_grad=True)
    for name in ("float", "double", "half", "long", "int", "bool"):
        assert getattr(x, name)().dtype == x.type(getattr(gs, name)).dtype == x.type_as(gs.zeros(1, dtype=getattr(gs, name))).dtype == getattr(gs, name)
    x.type(gs.float).sum().backward()
    assert x.grad.dtype == gs.double and x.nelement() == 2 and gs.finfo(gs.half).max == 65504 and gs.iinfo(gs.short).max == 32767
