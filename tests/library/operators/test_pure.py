"""An entry changes no state of NumPy or of the process, whatever function of NumPy it names: it is refused, or it computes."""

import contextlib
import copy
import os
import warnings

import numpy as np
import pytest

import gradspec as gs
from gradspec.codegen.rules.pure import is_pure
from gradspec.operators.text import OperatorError
from tests.asked import each

MODULES = ("", "linalg", "fft", "random", "testing", "polynomial", "ma", "lib", "lib.format", "lib.stride_tricks", "char", "ctypeslib", "emath", "rec",
           "exceptions", "strings", "core", "dtypes", "typing", "f2py", "array_api")  # fmt: skip


def names():
    """Each public name of each public module of NumPy: the module, the name."""
    for module in MODULES:
        owner = np
        for part in module.split(".") if module else ():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                owner = getattr(owner, part, None)
        for name in dir(owner) if owner is not None else ():
            if not name.startswith("_"):
                yield owner, name


def state(folder):
    generator = np.random.get_state()
    return (np.geterr(), np.geterrcall(), np.getbufsize(), np.get_printoptions(), generator[0], generator[1].tobytes(), generator[2:], list(warnings.filters),
            os.getcwd(), dict(os.environ), sorted(os.listdir(folder)))  # fmt: skip


def entry(forward):
    return f"op: tried(x) -> y\ndoc: A function.\ndtype: real\nshape: _\nforward: {forward}\nnondifferentiable: true\nsamples:\n- f(x(3, 4))"


def define(forward):
    try:
        return gs.operator(entry(forward))
    except OperatorError as refused:
        return str(refused)


def test_every_name_that_formulas_may_say_computes_and_does_nothing_else(tmp_path, monkeypatch, capfd):
    """Called with all that may be given to it: numbers, arrays, several, the name of a file."""
    monkeypatch.chdir(tmp_path)
    x, several = np.linspace(0.1, 0.9, 16).reshape(4, 4), [np.eye(2), np.ones((2, 2))]
    given = [(), (x,), (x, x), (x, 1), (3,), (several,), ((2, 3),), (x[0], x[0], x[0]), ("file", x), ("file",), (x, "file")]
    before, pure, found = state(tmp_path), [], 0
    for owner, name in names():
        found += 1
        if not is_pure(owner, name):
            continue
        pure.append(name)
        for arguments in given:
            if callable(getattr(owner, name)):
                with contextlib.suppress(Exception), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    getattr(owner, name)(*copy.deepcopy(arguments))  # the last of which may be `out`
            assert state(tmp_path) == before, name
        assert capfd.readouterr() == ("", ""), name
    assert found > 1000 and len(pure) > 350 and {"sin", "sum", "norm", "fft", "pi", "newaxis", "float32"} <= {*pure}
    for setter in ("seterr", "set_printoptions", "setbufsize", "info", "load", "errstate", "printoptions", "frompyfunc", "vectorize", "random", "testing"):
        assert setter not in pure


SETTERS = ["np.set_printoptions(3)", "np.seterr(all='raise')", "np.random.seed(0)", "np.random.seed(x)", "np.setbufsize(8192)", "np.info(x)", "np.save('a', x)",
           "np.random.rand(3, 4)", "np.show_config()", "np.lib.npyio.save('a', x)", "np.core.numeric.seterr(all='raise')", "np.printoptions(precision=2)",
           "np.put(x, 0, 1)", "np.copyto(x, 1)", "x.tofile('a')", "x.dump('a')", "x.fill(0)", "x.sort()", "x.setflags(write=False)", "np.add.at(x, 0, 1)",
           "np.ndarray.tofile(x, 'a')", "np.load('a')", "np.linalg.linalg.sys.exit()", "np.sum.__globals__", "np.linalg", "np.errstate(all='raise')"]  # fmt: skip


@each("forward", SETTERS)
def test_what_does_something_else_is_refused_by_name(forward, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = state(tmp_path)
    said = define(forward)
    assert isinstance(said, str) and (
        "is not for formulas: they compute, of arrays" in said or "NumPy has no" in said or "is a module" in said), said  # fmt: skip
    assert state(tmp_path) == before


def test_a_private_name_has_a_message():
    for text in (entry("np.sin(x)").replace("tried", "_tried"), "- " + entry("np.sin(x)").replace("tried", "_tried").replace("\n", "\n  ")):
        with pytest.raises(OperatorError, match="'_tried' is private: formulas alone could call it; name it 'tried'"):
            gs.operator(text)


def test_a_kernel_that_ends_the_program_ends_it():
    """SystemExit and KeyboardInterrupt belong to the program, as they do in every call of a kernel; nothing is left changed."""
    def leaves(x):
        raise SystemExit(3)

    before = np.geterr()
    with pytest.raises(SystemExit):
        gs.operator(entry("kernels.leaves(x)"), kernels={"leaves": leaves})
    assert np.geterr() == before
