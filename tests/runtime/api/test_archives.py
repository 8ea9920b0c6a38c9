"""Archives: what is no archive, array or JSON is refused before anything is read by it."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest

from gradspec.api.archives import DEEPEST, Archive, Damaged, array_from, json_from


def zipped(*members, method=zipfile.ZIP_STORED):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return memory


def npy(header, data=b"", version=1):
    text = header if isinstance(header, bytes) else repr(header).encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def test_members():
    with Archive(zipped(("a", b"1"), ("b.npy", npy({"descr": "<f8", "fortran_order": True, "shape": (2, 2)}, np.arange(4.0).tobytes())))) as found:
        assert found.names == ["a", "b.npy"] and found.bytes("a") == b"1"
        assert found.array("b.npy").tolist() == [[0, 2], [1, 3]]
        with pytest.raises(Damaged, match="c is missing"):
            found.bytes("c")


def test_archives_that_are_refused(recwarn):
    data = zipped(("a", bytes(5000))).getvalue()
    cases = [(io.BytesIO(b"PK"), "not a zip archive"), (zipped(("a", b"1"), ("a", b"2")), "it contains a twice"),
             (zipped(("a", bytes(10**6)), method=zipfile.ZIP_DEFLATED), "a is compressed"), (io.BytesIO(data[:-30]), "not a zip archive")]  # fmt: skip
    at = data.rindex(b"PK\1\2")
    huge = bytearray(data)
    huge[at + 20 : at + 28] = struct.pack("<II", 10**9, 10**9)
    locked = bytearray(data)
    locked[at + 8] |= 1
    cases += [(io.BytesIO(bytes(huge)), "more bytes than the file"), (io.BytesIO(bytes(locked)), "a is encrypted")]
    # a bomb whose members lie in each other: many entries of the directory for the same bytes
    entry, end = data[at : data.rindex(b"PK\5\6")], data[data.rindex(b"PK\5\6") :]
    entries = b"".join(entry[:-1] + bytes([65 + n]) for n in range(20))
    end = end[:8] + struct.pack("<HHII", 20, 20, len(entries), at) + b"\0\0"
    cases.append((io.BytesIO(data[:at] + entries + end), "more bytes than the file"))
    for file, words in cases:
        with pytest.raises(Damaged, match=words):
            Archive(file)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no header"), (b"\x93NUMPY\x01\x00\xff\xff", "no header"), (npy(b"("), "no header"), (npy(b"(" * 9000), "no header"),
        (npy({"descr": "<f8", "fortran_order": False, "shape": (3,)}, bytes(23)), r"float64\[3\], which are 24 bytes, and has 23"),
        (npy({"descr": "<f8", "fortran_order": False, "shape": (3,)}, bytes(25)), "and has 25"),
        (npy({"descr": "|O", "fortran_order": False, "shape": (1,)}, bytes(8)), "array of object"),
        (npy({"descr": "<U2", "fortran_order": False, "shape": (1,)}, bytes(8)), "array of <U2"),
        (npy({"descr": [("a", "<f8")], "fortran_order": False, "shape": (1,)}, bytes(8)), "and only numbers"),
        (npy({"descr": "<f8", "fortran_order": False, "shape": (2**32, 2**32)}), "beyond all memory"),
        (npy({"descr": "<f8", "fortran_order": False, "shape": (0, 2**62)}), "beyond all memory"),
        (npy({"descr": "<f8", "fortran_order": False, "shape": (-1,)}), "has the shape"),
        (npy({"descr": "<f8", "fortran_order": False, "shape": (1,) * 65}, bytes(8)), "has the shape"),
        (npy({"descr": "<f8", "fortran_order": False, "shape": ()}, bytes(8), version=9), "no header"),
        (npy(repr({"descr": "<f8", "fortran_order": False, "shape": ()}).encode() + b" " * 20000), "no header"),
    ],
)  # fmt: skip
def test_arrays_that_are_refused(data, words):
    with pytest.raises(Damaged, match="x.npy.*" + words):
        array_from(data, "x.npy")


def test_arrays_are_native_and_their_own():
    found = array_from(npy({"descr": ">i4", "fortran_order": False, "shape": (2,)}, np.array([1, -2], ">i4").tobytes()), "x")
    assert found.dtype == np.dtype("=i4") and found.dtype.isnative and found.tolist() == [1, -2] and found.flags.writeable
    found = array_from(npy({"descr": "|b1", "fortran_order": False, "shape": (4,)}, b"\0\1\2\xff"), "x")
    assert found.view("u1").tolist() == [0, 1, 1, 1]  # NumPy counts the bytes of booleans
    found = array_from(npy({"descr": "<f8", "fortran_order": False, "shape": (0, 3)}), "x")
    assert found.shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"), (b"\xff", "not valid JSON"), ('{"a": 1, "a": 2}', "a name twice"), ("NaN", "NaN"), ("[-Infinity]", "Infinity"),
        ("[" * 10**5, "not valid JSON"), ("[" * (DEEPEST + 2) + "]" * (DEEPEST + 2), "nested more than"), ("9" * 5000, "not valid JSON"),
    ],
)  # fmt: skip
def test_json_that_is_refused(text, words):
    with pytest.raises(Damaged, match="x.json.*" + words):
        json_from(text, "x.json")


def test_json():
    assert json_from(b'{"a": [1, "b", null]}', "x") == {"a": [1, "b", None]}
    assert json_from(json.dumps(float("inf")), "x", constants=True) == float("inf")
