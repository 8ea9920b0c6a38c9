"""Who gets a tensor as the one object of an ndarray: a method of SciPy's sparse arrays that asks for one inside of an operator."""

import gradspec as gs

ASKS = """
import numpy as np
def _matmul_dispatch(x): return np.asarray(x)
def toarray(x): return np.asarray(x)
def __matmul__(ask, x): return globals()[ask](x)
def dot(ask, x): return globals()[ask](x)
"""


def asked(module, operator, ask, x):
    names = {"__name__": module}
    exec(ASKS, names)
    return names[operator](ask, x) if operator else names[ask](x)


def test_only_a_method_that_asks_within_an_operator_gets_the_tensor():
    x = gs.asarray([1.0, 2.0])
    for module in ("scipy.sparse._base", "scipy.special._base", "mine"):
        for operator in ("__matmul__", "dot", None):
            for ask in ("_matmul_dispatch", "toarray"):
                found = asked(module, operator, ask, x)
                if (module, operator, ask) == ("scipy.sparse._base", "__matmul__", "_matmul_dispatch"):
                    assert found.shape == () and found.dtype == object and found[()] is x
                else:
                    assert found.dtype == float and found.tolist() == [1.0, 2.0], (module, operator, ask)
