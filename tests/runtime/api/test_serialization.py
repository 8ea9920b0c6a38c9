"""serialization: round trips of names, dtypes and flags, atomic writes, refusals."""

import io
import os

import numpy as np
import pytest

import gradspec as gs
from gradspec.api.serialization import load, save

DTYPES = ["bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex64", "complex128"]
NAMES = [
    "weight",
    "layer0/weight",
    "",
    ".",
    "../up",
    "/root",
    "file",
    "a b\n",
    "%",
    "%gradspec",
    "%25",
    "größe",
    "层",
    "a\0b",
    "\ud800",
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.npz"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)])
def test_arrays(path, dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    save(path, {"x": gs.asarray(array)})
    loaded = load(path)["x"]
    assert isinstance(loaded, gs.Tensor) and loaded.dtype == dtype and not loaded.requires_grad
    np.testing.assert_array_equal(loaded.numpy(), array)


def test_requires_grad(path):
    save(path, {"w": gs.tensor([1.0], requires_grad=True), "x": gs.tensor([2.0])})
    loaded = load(path)
    assert loaded["w"].requires_grad and loaded["w"].is_leaf and not loaded["x"].requires_grad
    loaded["w"].sum().backward()
    assert loaded["w"].grad.item() == 1.0


def test_names_of_any_kind_keep_their_order(path):
    save(path, {name: gs.tensor(float(i), requires_grad=i % 2 == 0) for i, name in enumerate(NAMES)})
    loaded = load(path)
    assert list(loaded) == NAMES
    assert [value.item() for value in loaded.values()] == list(range(len(NAMES)))
    assert [value.requires_grad for value in loaded.values()] == [i % 2 == 0 for i in range(len(NAMES))]


def test_non_contiguous(path):
    array = np.arange(12.0).reshape(3, 4)
    save(path, {"transposed": gs.asarray(array.T), "reversed": gs.asarray(array[::-1, ::2])})
    np.testing.assert_array_equal(load(path)["transposed"].numpy(), array.T)
    np.testing.assert_array_equal(load(path)["reversed"].numpy(), array[::-1, ::2])


def test_empty_state(path):
    save(path, {})
    assert load(path) == {}


def test_numpy_reads_it(path):
    save(path, {"weight": gs.tensor([1.0, 2.0]), "layer/bias": gs.tensor([3.0])})
    with np.load(path, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["weight"], [1.0, 2.0])
        np.testing.assert_array_equal(archive["layer%2Fbias"], [3.0])


def test_path_is_used_as_it_is(tmp_path):
    save(str(tmp_path / "model"), {"x": gs.tensor(1.0)})
    assert os.listdir(tmp_path) == ["model"]


def test_replaces_a_file_and_follows_a_link(tmp_path):
    target, link = tmp_path / "target.npz", tmp_path / "link.npz"
    save(target, {"x": gs.tensor(1.0)})
    link.symlink_to(target)
    save(link, {"x": gs.tensor(2.0)})
    assert link.is_symlink() and load(target)["x"].item() == 2.0


def test_a_failed_write_leaves_the_old_file(path, monkeypatch):
    save(path, {"x": gs.tensor(1.0)})

    def fail(*args, **kwargs):
        raise OSError("no space left")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="no space left"):
        save(path, {"x": gs.tensor(2.0)})
    monkeypatch.undo()
    assert load(path)["x"].item() == 1.0 and os.listdir(path.parent) == [path.name]


def test_save_refuses(path):
    w = gs.tensor([1.0], requires_grad=True)
    with pytest.raises(TypeError, match=r"save: w\.0\.f is a function, but files can only hold tensors, arrays, numbers, text and pytrees of"):
        save(path, {"w": [{"f": load}]})
    with pytest.raises(TypeError, match=r"the value is a Linear, .*; save its state_dict\(\)"):
        save(path, gs.nn.Linear(2, 2))
    for nest in ({"y": w * 2}, {"y": w * 2, "n": 1}):
        with pytest.raises(ValueError, match=r"save: y is not a leaf and its graph cannot be saved; save its detach\(\)"):
            save(path, nest)
    with pytest.raises(TypeError, match="a dictionary of named tensors, not any other pytree"):
        save(path.with_suffix(".safetensors"), {"n": 1})
    with pytest.raises(RuntimeError, match="no device 'cuda'"):
        load(path, map_location="cuda")
    assert not path.exists()


@pytest.mark.parametrize("code", [0x110000, 0x7FFFFFFF, 0xFFFFFFFF])
@pytest.mark.parametrize("order", "<>")
def test_text_beyond_unicode_is_refused(path, code, order):
    """NumPy reads any four bytes as a character, and a str of them fails only when it is used."""
    index = np.array('{"version": 1, "requires_grad": []}', f"{order}U40")
    index.reshape(1).view(np.dtype("u4").newbyteorder(order))[3] = code
    np.savez(path, **{"%gradspec": index})
    with pytest.raises(ValueError, match=f"load: '{path}'.*beyond Unicode"):
        load(path)


def test_a_nest_comes_back_as_it_was(path):
    """A checkpoint, in NumPy's order of arguments and in PyTorch's, in a file and in memory."""
    model = gs.nn.Sequential(gs.nn.Linear(2, 3), gs.nn.BatchNorm1d(3))
    optimizer = gs.optim.Adam(model.parameters(), lr=0.1, betas=(0.5, 0.9))
    model(gs.ones((4, 2))).sum().backward()
    optimizer.step()
    nest = {"epoch": 3, "best": float("inf"), "model": model.state_dict(), "optimizer": optimizer.state_dict(), "name": "a.b", "on": True,
            "a": {"b": gs.tensor([1.0], requires_grad=True)}, "a.b": gs.tensor([2], dtype="int8"), "none": None, "z": 1 - 2j,
            "list": [np.arange(3, dtype="uint8"), (np.float32(0.5), [])], (1, "x"): {}, True: 2}  # fmt: skip
    for target, write in ((path, save), (path, lambda target, nest: save(nest, target)), (io.BytesIO(), save)):
        write(target, nest)
        if target is not path:
            target.seek(0)
        found = load(target, map_location="cpu", weights_only=True)
        assert repr(found) == repr({**nest, "model": dict(nest["model"])})
        assert found["a"]["b"].requires_grad and type(found["list"][1][0]) is np.float32
        gs.nn.Sequential(gs.nn.Linear(2, 3), gs.nn.BatchNorm1d(3)).load_state_dict(found["model"])
    save(path, gs.tensor([1.0, 2.0]))
    assert load(path).tolist() == [1.0, 2.0]
    assert sorted(np.load(path).files) == ["%gradspec", "tensor"]


@pytest.mark.parametrize("form", ['{"tensor": "y"}', '{"what": 1}', '{"dict": [[{"list": []}, 1]]}', '{"list": 3}', "{}", '{"number": []}'])
def test_a_form_that_is_none_is_refused(path, form):
    np.savez(path, **{"%gradspec": np.array(f'{{"version": 2, "requires_grad": [], "form": {form}}}'), "x": np.zeros(1)})
    with pytest.raises(ValueError, match="is damaged"):
        load(path)


def test_load_refuses(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        load(path)
    save(path, {"x": gs.tensor(np.arange(1000.0))})
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for damaged in (b"", b"not an archive", whole[:-100], whole[: len(whole) // 2], bytes(flipped)):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="is damaged or was not written by gradspec"):
            load(path)
    np.savez(path, x=np.zeros(1))
    with pytest.raises(ValueError, match="was not written by gradspec"):
        load(path)
    np.save(tmp_path / "one.npy", np.zeros(1))
    with pytest.raises(ValueError, match="was not written by gradspec"):
        load(tmp_path / "one.npy")


def test_never_unpickles(path):
    np.savez(path, **{"%gradspec": np.array('{"version": 1, "requires_grad": []}'), "x": np.array([object()])})
    with pytest.raises(ValueError, match="damaged or was not written by gradspec") as caught:
        load(path)
    assert "x.npy is an array of object" in str(caught.value)


def test_later_version(path):
    np.savez(path, **{"%gradspec": np.array('{"version": 99, "requires_grad": []}')})
    with pytest.raises(ValueError, match=r"written by a later gradspec \(file version 99\)"):
        load(path)
