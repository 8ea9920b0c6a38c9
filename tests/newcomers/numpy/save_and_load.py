import pickle
import tempfile
from pathlib import Path

import numpy as np

import gradspec as gs

w = gs.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
b = gs.zeros(3, requires_grad=True)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder)
    np.savez(path / "weights.npz", w=w.detach(), b=b.detach())
    loaded = np.load(path / "weights.npz")
    assert np.array_equal(loaded["w"], w.detach())
    np.save(path / "w.npy", w.detach())
    np.savetxt(path / "w.txt", w.detach())
    with open(path / "w.pickle", "wb") as file:
        pickle.dump({"w": w, "b": b}, file)
    with open(path / "w.pickle", "rb") as file:
        again = pickle.load(file)
    assert again["w"].requires_grad and np.array_equal(again["w"].detach(), w.detach())
