"""Files of other libraries: what PyTorch and safetensors write is read, and a hostile file is refused before anything runs."""

import os
import pickle
import struct
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from tests.asked import each


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="compares with files of PyTorch's, and PyTorch is not installed")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.pt"


def test_a_state_of_pytorchs(torch, path):
    there = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.BatchNorm2d(3), torch.nn.Flatten(), torch.nn.Linear(12, 2))
    torch.save(there.state_dict(), path)
    state = gs.load(path)
    assert type(state) is OrderedDict and list(state) == list(there.state_dict())
    assert state._metadata[""] == {"version": 1} and state._metadata["1"]["version"] == 2
    here = nn.Sequential(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(12, 2)).float()
    assert str(here.load_state_dict(state)) == "<All keys matched successfully>"
    for name, value in there.state_dict().items():
        assert str(state[name].dtype) == str(value.dtype).removeprefix("torch.") and not state[name].requires_grad
        np.testing.assert_array_equal(state[name].numpy(), value.numpy())


def test_a_checkpoint_of_nests_views_and_dtypes(torch, path):
    dtypes = "float64 float32 float16 int64 int32 int16 int8 uint8 bool complex64 complex128 uint16 uint32 uint64".split()
    whole = torch.arange(24.0).reshape(2, 3, 4)
    parameter = torch.nn.Parameter(torch.ones(2))
    net = torch.nn.Linear(2, 1)
    adam = torch.optim.Adam(net.parameters())
    net(torch.ones(2)).backward()
    adam.step()
    values = {
        "of": {name: torch.tensor([[0, 1, 5]]).to(getattr(torch, name)) for name in dtypes},
        "brain": torch.tensor([1.0, -2.5, float("inf"), 3e38], dtype=torch.bfloat16),
        "views": [whole.transpose(0, 2), whole[:, 1:, ::2], whole[1, 2, 3], whole[:, :0], torch.tensor(3.0).expand(4)],
        "conj": torch.tensor([1 + 2j]).conj(), "neg": torch.tensor([1 + 2j]).conj().imag,
        "parameter": parameter, "same": parameter, "needs grad": torch.ones(1, requires_grad=True),
        "size": torch.Size([2, 3]), "numbers": (1, -(2**40), 2**70, 1.5, True, None, 2j), "text": "größe", "set": {1, 2},
        "optimizer": adam.state_dict(), 3: [],
    }  # fmt: skip
    for protocol in (2, 4):
        torch.save(values, path, pickle_protocol=protocol)
        found = gs.load(path)
        assert list(found) == list(values)
        for name, value in values["of"].items():
            assert found["of"][name].dtype == name and found["of"][name].tolist() == value.tolist()
        assert found["brain"].dtype == np.float32 and found["brain"].tolist() == values["brain"].tolist()
        for a, b in zip([*found["views"], found["conj"], found["neg"]], [*values["views"], values["conj"].resolve_conj(), values["neg"].resolve_neg()]):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert found["parameter"].requires_grad and found["parameter"] is found["same"] and found["needs grad"].requires_grad
        for name in ("size", "numbers", "text", "set", 3):
            assert found[name] == values[name]
        ours = gs.optim.Adam([gs.zeros((1, 2), requires_grad=True), gs.zeros(1, requires_grad=True)])
        ours.load_state_dict(found["optimizer"])
        assert ours.state_dict()["state"][0]["step"].item() == 1.0
    flat = gs.load(path)["views"][0]
    flat += 1  # memory of its own
    assert flat[0, 0, 0].item() == 1.0


def test_what_holds_code_is_refused(torch, path):
    torch.save(torch.nn.Linear(1, 1), path)
    with pytest.raises(ValueError, match=r"refers to torch.nn.modules.linear.Linear, but only tensors.*save a state_dict\(\)"):
        gs.load(path)
    torch.save({"x": torch.ones(1)}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(ValueError, match="damaged or was not written by gradspec"):
        gs.load(path)


# Files as PyTorch lays them out, made by hand.


def name(path):
    module, _, last = path.rpartition(".")
    return f"c{module}\n{last}\n".encode()


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value):
    return b"J" + struct.pack("<i", value) if -(2**31) <= value < 2**31 else b"\x8a\x08" + struct.pack("<q", value)


def many(*values):
    return b"(" + b"".join(values) + b"t"


def reference(kind="torch.FloatStorage", key="0", count=4, what="storage"):
    return many(text(what), name(kind), text(key), text("cpu"), number(count)) + b"Q"


def rebuilt(storage=None, start=0, shape=(4,), strides=(1,), last=b""):
    numbers = [number(start), many(*map(number, shape)), many(*map(number, strides))]
    return name("torch._utils._rebuild_tensor_v2") + many(storage or reference(), *numbers, b"\x89", b"}", last) + b"R"


def pack(path, value, data=np.arange(4, dtype="<f4").tobytes(), compression=zipfile.ZIP_STORED, **members):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("model/data.pkl", b"\x80\x02" + value + b".")
        archive.writestr("model/data/0", data)
        for member, content in members.items():
            archive.writestr(f"model/{member}", content)


def test_files_made_by_hand(path):
    pack(path, rebuilt())
    assert gs.load(path).tolist() == [0.0, 1.0, 2.0, 3.0]
    pack(path, rebuilt(), np.arange(4, dtype=">f4").tobytes(), byteorder=b"big")
    assert gs.load(path).tolist() == [0.0, 1.0, 2.0, 3.0]
    pack(path, rebuilt(start=1, shape=(2, 2), strides=(1, 1)))
    assert gs.load(path).tolist() == [[1.0, 2.0], [2.0, 3.0]]
    pack(path, rebuilt(reference("torch.BoolStorage")), b"\0\1\2\xff")
    assert gs.load(path).numpy().view("u1").tolist() == [0, 1, 1, 1]
    pack(path, rebuilt(reference("torch.BFloat16Storage", count=1), shape=(1,)), struct.pack("<f", 1.5)[2:])
    assert gs.load(path).tolist() == [1.5]


class Ran(Exception):
    pass


def ran(*_):
    raise Ran


class Code:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def pickled(value, protocol=2):
    return pickle.dumps(value, protocol)[2:-1]


SYSTEM = pickled(Code(os.system, "touch owned"))
HOSTILE = {
    "os.system": (SYSTEM, "refers to posix.system|refers to nt.system"),
    "eval": (pickled(Code(eval, "1/0")), "refers to (__builtin__|builtins).eval"),
    "code of protocol 4": (pickle.dumps(Code(os.system, "true"), 4)[2:-1], "refers to posix.system|refers to nt.system"),
    "nested globals": (name("torch._utils._rebuild_tensor_v2.__globals__"), "refers to torch._utils._rebuild_tensor_v2.__globals__"),
    "attributes of a name": (name("torch._utils._rebuild_parameter") + b"}" + text("__code__") + text("x") + b"sb", "sets attributes of a Name"),
    "attributes of a dict": (name("collections.OrderedDict") + b")R}" + text("__class__") + text("x") + b"sb", "sets attributes of a OrderedDict"),
    "a call of a value": (text("os.system") + many(text("true")) + b"R", "calls an object that is not a function"),
    "a call of a dtype": (name("torch.float32") + b")R", "calls an object that is not a function"),
    "an extension": (b"\x82\x01", "instruction EXT1"),
    "an instance": (b"(" + text("x") + b"ios\nsystem\n", "instruction INST"),
    "a new object": (name("collections.OrderedDict") + b")\x81", "instruction NEWOBJ"),
    "a huge number": (rebuilt(shape=(2**40,)), "reaches beyond its storage"),
    "a huge zero stride": (rebuilt(shape=(2**40,), strides=(0,)), "far more numbers than the file"),
    "a huge empty": (rebuilt(shape=(2**62, 2**62, 0), strides=(1, 1, 1)), "damaged"),
    "beyond the storage": (rebuilt(start=1), "reaches beyond its storage"),
    "strides beyond": (rebuilt(shape=(2, 2), strides=(3, 1)), "reaches beyond its storage"),
    "before the storage": (rebuilt(start=-1), r"offset -1"),
    "negative strides": (rebuilt(start=3, strides=(-1,)), r"strides \(-1,\)"),
    "negative shape": (rebuilt(shape=(-4,)), r"shape \(-4,\)"),
    "fewer strides": (rebuilt(strides=()), r"strides \(\)"),
    "a wrong dtype": (rebuilt(reference("torch.DoubleStorage")), "storage 0 should have 32 bytes, and has 16"),
    "an unknown dtype": (rebuilt(reference("torch.QInt8Storage")), "refers to torch.QInt8Storage"),
    "a storage too short": (rebuilt(reference(count=5), shape=(5,)), "storage 0 should have 20 bytes, and has 16"),
    "a negative storage": (rebuilt(reference(count=-4)), "storage 0 should have -16 bytes"),
    "no such storage": (rebuilt(reference(key="7")), "damaged.*data/7"),
    "a storage elsewhere": (rebuilt(reference(key="../data.pkl")), "damaged.*data/../data.pkl"),
    "another reference": (rebuilt(reference(what="module")), "not a storage"),
    "no storage": (rebuilt(text("x")), "from an object that is not a storage"),
    "unknown bits": (rebuilt(last=b"}" + text("sparse") + b"\x88s"), "a tensor has sparse"),
    "a parameter of nothing": (name("torch._utils._rebuild_parameter") + many(number(1), b"\x88", b"}") + b"R", "not a tensor"),
    "an empty stack": (b"0", "instruction POP|damaged"),
    "no mark": (b"t", "damaged"),
    "a huge memo": (b"]r\xff\xff\xff\xffh\x00", "damaged"),
    "a huge text": (b"X\xff\xff\xff\xff", "damaged"),
    "nothing": (b"", "damaged"),
    "two values": (b"]]", "damaged"),
    "a list as a key": (b"}]Ns", "damaged"),
    "a deep key": (b"})" + b"\x85" * 10**6 + b"Ns", "key that is a tuple of too many parts"),  # Python's hash would end the process
    "a key in a set": (b"\x8f()" + b"\x85" * 10**6 + b"\x90", "key that is a tuple of too many parts"),
    "a key of pairs": (name("collections.OrderedDict") + b"]()" + b"\x85" * 10**6 + b"N\x86e\x85R", "key that is a tuple of too many"),
    "a wide key": (b"})" + b"q\x01h\x01\x86" * 40 + b"Ns", "key that is a tuple of too many parts"),  # 2 ** 40 parts, in 200 bytes
    "a function as a value": (b"]" + name("torch._utils._rebuild_parameter") + b"a", "contains a name in the place of a value"),
    "a storage as a value": (reference(), "contains a name in the place of a value"),
    "a deep nest": (b")" + b"\x85" * 10**5, "nested more than 200 times"),
    "a deep metadata": (name("collections.OrderedDict") + b")R}" + text("_metadata") + b")" + b"\x85" * 10**5 + b"sb", "nested more than 200 times"),
    "a list in itself": (b"]q\x00h\x00a", "holds itself"),
    "many parts": (b")" + b"q\x01h\x01\x86" * 40, "more than 10000000 parts"),
    "whole numbers that require grad": (name("torch._utils._rebuild_parameter") + many(rebuilt(reference("torch.IntStorage")), b"\x88", b"}") + b"R",
                                        "a tensor of whole numbers requires grad"),
    "a shape that is text": (name("torch._utils._rebuild_tensor_v2") + many(reference(), number(0), text("4"), many(number(1)), b"\x89", b"}") + b"R", "shape '4'"),
    "a name that is a number": (number(1) + text("x") + b"\x93", "by a name that is not text"),
    "a byte order": (rebuilt(), "its byte order is b'middle'"),
    "a list that is no list": (b"}Na", "puts values into a dict"),
}  # fmt: skip


@pytest.mark.slow
@each("case", list(HOSTILE))
def test_a_hostile_file_is_refused(case):
    value, message = HOSTILE[case]
    path = os.path.join(FOLDER[0], "hostile.pt")
    pack(path, value, **{"byteorder": b"middle"} if case == "a byte order" else {})
    with pytest.raises(ValueError, match=message):
        gs.load(path)
    assert not os.path.exists("owned")


JUNK = {
    "nothing": b"N", "a number": number(7), "a negative number": number(-7), "text": text("x"), "a tuple": many(number(1), number(2)),
    "no parts": b")", "a list": b"]", "a dictionary": b"}", "true": b"\x88", "a tensor": rebuilt(), "a storage": reference(),
    "a function": name("torch._utils._rebuild_parameter"), "a fraction": b"G" + struct.pack(">d", 0.5),
}  # fmt: skip
ARGUMENTS = {
    "torch._utils._rebuild_tensor_v2": [reference(), number(0), many(number(4)), many(number(1)), b"\x89", b"}", b"}"],
    "torch._utils._rebuild_parameter": [rebuilt(), b"\x88", b"}"],
    "torch._tensor._rebuild_from_type_v2": [name("torch._utils._rebuild_tensor_v2"), name("torch.Tensor"), b")", b"N"],
    "collections.OrderedDict": [b"]"],
}  # fmt: skip


@each("junk", list(JUNK))
def test_any_value_in_the_place_of_any_argument(junk, tmp_path):
    """It is read, or refused with the name of the file; no other error leaves the reader."""
    path, read = str(tmp_path / "junk.pt"), 0
    for function, arguments in ARGUMENTS.items():
        for place in range(len(arguments)):
            pack(path, name(function) + many(*arguments[:place], JUNK[junk], *arguments[place + 1 :]) + b"R")
            try:
                gs.load(path)
                read += 1
            except ValueError as error:
                assert path in str(error)
    assert read < sum(map(len, ARGUMENTS.values()))


FOLDER = []


@pytest.fixture(autouse=True)
def folder(tmp_path):
    FOLDER[:] = [str(tmp_path)]


def test_many_copies_of_one_storage_are_refused(path):
    large = np.zeros(2**21, "<f4").tobytes()  # 8 MiB, and twenty tensors of it
    tensor = rebuilt(reference(count=2**21), shape=(2**21,))
    pack(path, b"](" + tensor * 8 + b"e", large)
    assert len(gs.load(path)) == 8
    pack(path, b"](" + tensor * 20 + b"e", large)
    with pytest.raises(ValueError, match="far more numbers than the file"):
        gs.load(path)


def test_compressed_truncated_and_changed_files(path):
    pack(path, rebuilt(), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="is compressed"):
        gs.load(path)
    pack(path, rebuilt())
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError):
            gs.load(path)
    refused, rng = 0, np.random.default_rng(0)
    for _ in range(150):
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(changed))
        try:
            gs.load(path)
        except ValueError:
            refused += 1
    assert refused > 50  # the rest changed what nobody reads: dates, flags, what is behind a member


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
def test_random_pickles_give_a_value_or_a_refusal(path):
    """Changed instructions end in a value or in ValueError, and in nothing else."""
    whole = pickle.dumps(OrderedDict(a=[1, {"b": (2.5, "x")}]), 2)[2:-1] + rebuilt() + b"\x86"
    rng = np.random.default_rng(1)
    for _ in range(150):
        changed = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            changed[rng.integers(len(whole))] = rng.integers(256)
        pack(path, bytes(changed))
        try:
            gs.load(path)
        except ValueError:
            pass


def test_safetensors(tmp_path):
    files = pytest.importorskip("safetensors.numpy", reason="reads files of safetensors, and it is not installed")
    path = tmp_path / "model.safetensors"
    state = {"b.weight": gs.tensor(np.arange(6, dtype=np.float32).reshape(2, 3).T, requires_grad=True), "a": gs.tensor(2), "half": gs.ones(2, dtype=np.float16),
             "none": gs.zeros((0, 3)), "größe": gs.tensor([True, False])}  # fmt: skip
    gs.save(path, state)
    assert {name: value.tolist() for name, value in files.load_file(path).items()} == {name: value.tolist() for name, value in state.items()}
    found = gs.load(path)
    assert found.keys() == state.keys()
    for name, value in state.items():
        assert found[name].dtype == value.dtype and found[name].shape == value.shape and found[name].requires_grad == value.requires_grad
        np.testing.assert_array_equal(found[name].detach().numpy(), value.detach().numpy())
    files.save_file({"x": np.ones(2)}, path)
    assert gs.load(path)["x"].tolist() == [1.0, 1.0]
    header = b'{"x":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<f", 1.5)[2:] + struct.pack("<f", -2.0)[2:])
    assert gs.load(path)["x"].tolist() == [1.5, -2.0] and gs.load(path)["x"].dtype == np.float32
    for damaged in (b"\xff" * 7 + b"\x7f{", struct.pack("<Q", len(header)) + header, struct.pack("<Q", 5) + b"{abc}"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="is damaged"):
            gs.load(path)
    for twice, words in ((header.replace(b"{\"x\"", header[:-1] + b",\"x\"", 1), "a name twice"),
                         (header[:-1] + b',"__metadata__":{"requires_grad":"[1"}}', "requires_grad of the header is not valid JSON"),
                         (header[:-1] + b',"__metadata__":{"requires_grad":"{}"}}', "must be a list of strings, got {}"),
                         (header[:-1] + b',"__metadata__":{"requires_grad":"[\\"y\\"]"}}', "'y' cannot require grad")):  # fmt: skip
        path.write_bytes(struct.pack("<Q", len(twice)) + twice + bytes(4))
        with pytest.raises(ValueError, match=f"model.safetensors.*{words}"):
            gs.load(path)
    nothing = header[:-1] + b',"__metadata__":null}'
    path.write_bytes(struct.pack("<Q", len(nothing)) + nothing + struct.pack("<f", 1.5)[2:] * 2)
    assert gs.load(path)["x"].tolist() == [1.5, 1.5]
    header = b'{"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}'
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\2\0")
    assert gs.load(path)["x"].numpy().view("u1").tolist() == [1, 0]  # NumPy counts the bytes of booleans
    header = header.replace(b"BOOL", b"BF16").replace(b"[0,2]", b"[0,4]")
    header = header.replace(b"BF16", b"F8_E5M2").replace(b"[0,4]", b"[0,2]")
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0\0")
    with pytest.raises(ValueError, match="holds 'x' as F8_E5M2, a dtype that NumPy lacks"):
        gs.load(path)


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    monkeypatch.setitem(__import__("sys").modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match="save: safetensors files want its package: pip install safetensors"):
        gs.save(tmp_path / "x.safetensors", {"x": gs.ones(1)})
    (tmp_path / "x").write_bytes(struct.pack("<Q", 2) + b"{}")
    with pytest.raises(ImportError, match="load: safetensors files want"):
        gs.load(tmp_path / "x")
