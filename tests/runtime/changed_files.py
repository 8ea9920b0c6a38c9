"""Changes of files: bytes, members of archives, headers of arrays, trees of JSON, instructions of pickles."""

import copy
import io
import json
import warnings
import zipfile

import numpy as np

from gradspec.generated.op_info import OPS
from tests.runtime.api.test_pytorch_files import name, number, rebuilt, reference, text

SIZES = (0, 1, -1, 2, 3, 7, 9, 255, 2**31, -(2**31), 2**32 + 1, 2**62, 2**63 - 1, -(2**63), 2**64, 10**30)
WORDS = ("", "x", "NaN", "float64", "float32", "int64", "object", ">f8", "<f4", "|O", "V8", "U3", "save", "load", "exec", "callback", "empty",
         "../x", "\x00", "\ud800", "0x1p5000", "9" * 5000, "result", "constant", "_strided", "index_put_", "add_", "exp.out", "guard")  # fmt: skip
OPERATORS = [entry.name for entry in OPS]
OF_COUNT = {count: [entry.name for entry in OPS if len(entry.arguments) == count] for count in range(12)}
HEADERS = ("<f8", "<f4", ">f8", "|b1", "<i8", "|O", "|V8", "<U2", "<c16", "<f2", "<m8[s]", "|S0", "<U0")


def changed_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        place = rng.randrange(len(data) + 1)
        how = rng.randrange(5)
        if how == 0 and data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        elif how == 1 and data:
            data[place % len(data)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif how == 2:
            del data[place : place + rng.choice((1, 4, 8, 64, len(data)))]
        elif how == 3:
            data[place:place] = rng.randbytes(rng.choice((1, 4, 8, 64)))
        else:
            start = rng.randrange(len(data) + 1)
            data[place : place + 8] = data[start : start + 8]
    return bytes(data)


def nodes(tree, way=()):
    yield way
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in parts:
        yield from nodes(part, (*way, key))


def at(tree, way):
    for key in way:
        tree = tree[key]
    return tree


def changed_tree(rng, tree):
    """Another tree of JSON."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        ways = list(nodes(tree))
        *front, key = rng.choice(ways[1:]) if len(ways) > 1 else (None,)
        if key is None:
            return rng.choice((None, [], 3, "x"))
        inside, now = at(tree, front), at(tree, (*front, key))
        how = rng.randrange(10)
        if how < 4 and isinstance(now, int):
            inside[key] = rng.choice((now + 1, now - 1, now * 2, -now, now + 8, now - 8, *SIZES))
        elif how < 4 and isinstance(now, str):
            inside[key] = rng.choice((rng.choice(WORDS), rng.choice(OPERATORS), rng.choice(OPERATORS) + "_", now + "_", now[:-1], str(rng.choice(SIZES))))
        elif how < 5 and isinstance(now, list) and now:
            how = rng.randrange(4)
            place = rng.randrange(len(now))
            if how == 0:
                del now[place]
            elif how == 1:
                now.insert(place, copy.deepcopy(rng.choice(now)))
            else:
                other = rng.randrange(len(now))
                now[place], now[other] = now[other], now[place]
        elif how < 6:
            del inside[key]
        elif how < 7 and isinstance(inside, dict):
            inside[rng.choice((*WORDS, *inside))] = now
        elif how < 9:
            inside[key] = copy.deepcopy(at(tree, rng.choice(ways)))
        else:
            inside[key] = rng.choice((None, True, 1.5, float("nan"), [], {}, rng.choice(SIZES), rng.choice(WORDS), [[[]]], nested(rng)))
    return tree


def changed_program(rng, document):
    """Another program, in which the parts of each field are right: it says something else than what its operators do."""
    document = copy.deepcopy(document)
    recordings = [one for kind in document["kinds"] for one in kind["programs"]]
    for _ in range(rng.choice((1, 1, 2, 3))):
        lines = rng.choice(rng.choice(recordings)["lines"])
        values, how = document["values"], rng.randrange(7)
        one, other = rng.choice(values), rng.choice(values)
        uses = [way for way in nodes(recordings) if way[-1:] == ("value",)]
        if how == 0 and lines:
            line = rng.choice(lines)
            count = len(line[1].get("tuple", ())) if isinstance(line[1], dict) else -1
            line[0] = rng.choice(OF_COUNT.get(count, OPERATORS)) + rng.choice(("", "", "", "_", ".out"))
        elif how == 1:
            one[1:4] = copy.deepcopy(other[1:4])
        elif how == 2:
            one[4:6] = other[4:6]
        elif how == 3:
            one[2] = rng.choice(("float64", "float32", "int64", "bool", "complex128", "uint8", "float16"))
        elif how == 4 and one[1]:
            axis = rng.randrange(len(one[1]))
            one[1 + 2 * rng.randrange(2)][axis] = rng.choice((0, 1, 2, 8, -8, 16, 1000))
        elif how == 5 and uses:
            *front, key = rng.choice(uses)
            at(recordings, front)[key] = rng.randrange(len(values))
        elif lines:
            line = lines.pop(rng.randrange(len(lines)))
            for _ in range(rng.randrange(3)):
                lines.insert(rng.randrange(len(lines) + 1), line)
    return document


def nested(rng):
    found = 0
    for _ in range(rng.choice((3, 150, 400))):
        found = [found]
    return found


def text_of(rng, tree):
    written = json.dumps(tree)
    return written if rng.random() < 0.97 else "[" * rng.choice((100, 5000, 100000)) + written


def changed_array(rng, data):
    """Another `.npy` file: its header says something else, or its numbers are fewer."""
    try:
        array = np.lib.format.read_array(io.BytesIO(data))
    except ValueError:
        return changed_bytes(rng, data)
    how = rng.randrange(5)
    if how == 0:
        return changed_bytes(rng, data)
    if how == 1 and array.dtype.kind in "fciub":
        other = array.ravel()[: rng.randrange(array.size + 1)] if rng.random() < 0.5 else array.astype(rng.choice(("f4", "f8", "i8", "?", "c16")))
        memory = io.BytesIO()
        np.save(memory, other)
        return memory.getvalue()
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    shape = list(array.shape)
    if how == 2:
        header["descr"] = rng.choice((*HEADERS, [("a", "<f8")], 3))
    elif how == 3:
        shape.insert(rng.randrange(len(shape) + 1), rng.choice(SIZES))
        header["shape"] = tuple(shape)
    else:
        header[rng.choice(("shape", "fortran_order", "more"))] = rng.choice((True, None, "x", (), tuple(shape[::-1]), (1,) * 70, [3], (True,)))
    written = (repr(header) + " " * rng.choice((0, 64, 70000))).encode() + b"\n"
    version = rng.choice((1, 1, 1, 2, 3, 9))
    size = len(written) % 65536
    return b"\x93NUMPY" + bytes([version, 0]) + size.to_bytes(2 if version == 1 else 4, "little") + written + array.tobytes()


def changed_archive(rng, data):
    """Another zip archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    method = zipfile.ZIP_STORED
    place = rng.randrange(len(members))
    inside, held_there = members[place]
    how = rng.choice(("json", "json", "json", "json", "json", "json", "member", "member", "remove", "twice", "name", "exchange", "packed", "more"))
    if how == "json":
        place = next((n for n, (one, _) in enumerate(members) if one in ("program.json", "%gradspec.npy") or one.endswith("data.pkl")), place)
        inside, held_there = members[place]
        if inside == "program.json":
            change = rng.choice((changed_tree, changed_program, changed_program))
            held_there = text_of(rng, change(rng, json.loads(held_there))).encode("utf-8", "surrogatepass")
        elif inside == "%gradspec.npy":
            memory = io.BytesIO()
            index = json.loads(np.lib.format.read_array(io.BytesIO(held_there)).item())
            np.save(memory, np.array(text_of(rng, changed_tree(rng, index))))
            held_there = memory.getvalue()
        else:
            held_there = changed_pickle(rng, held_there)
        members[place] = inside, held_there
    elif how == "member":
        members[place] = inside, changed_array(rng, held_there) if inside.endswith(".npy") else changed_bytes(rng, held_there)
    elif how == "remove":
        del members[place]
    elif how == "twice":
        members.append((inside, held_there))
    elif how == "name":
        members[place] = rng.choice(("../x.npy", "/x.npy", "a\\b", "1.npy", "%41.npy", "%ff.npy", inside.upper(), "model/data/9", "x" * 5000)), held_there
    elif how == "exchange":
        other = rng.randrange(len(members))
        members[place], members[other] = (inside, members[other][1]), (members[other][0], held_there)
    elif how == "more":
        members.append((rng.choice(("9.npy", "x", "model/data/7", "y.npy")), bytes(rng.randrange(300))))
    else:
        method = zipfile.ZIP_DEFLATED
        members[place] = inside, bytes(rng.choice((10, 10**6)))
    memory = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(memory, "w", method) as archive:
            for one, content in members:
                archive.writestr(one, content)
    return memory.getvalue()


def changed_pickle(rng, data):
    """Another pickle: instructions and numbers between others."""
    pieces = (b"(", b")", b"t", b"R", b"b", b"s", b"u", b"}", b"]", b"\x85", b"\x86", b"\x87", b"Q", b"0", b"2", b"h\x00", b"q\x00", b"\x94", b"\x8f", b"\x90",
              number(-1), number(2**31), number(2**62), text("0"), text("w"), name("torch.FloatStorage"), name("torch.Size"), name("os.system"),
              name("torch._utils._rebuild_parameter"), name("collections.OrderedDict"), name("builtins.set"), rebuilt(), reference(),
              b"\x85" * 100000, b"(" * 1000, b"\x8a\x08" + b"\xff" * 8, b"G" + b"\x7f\xf8" + bytes(6))  # fmt: skip
    if rng.random() < 0.3:
        return changed_bytes(rng, data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(2, len(data))
        data = data[:place] + rng.choice(pieces) + data[place + rng.choice((0, 0, 1, 5)) :]
    return data


def changed_safetensors(rng, data):
    size = int.from_bytes(data[:8], "little")
    header = text_of(rng, changed_tree(rng, json.loads(data[8 : 8 + size]))).encode("utf-8", "surrogatepass")
    if rng.random() < 0.5:
        header += b" " * (-len(header) % 8)
    size = len(header) if rng.random() < 0.95 else rng.choice((0, 2**63, len(header) + 1, 10**9))
    return size.to_bytes(8, "little") + header + data[8 + int.from_bytes(data[:8], "little") :]


def changed(rng, reader, data):
    if rng.random() < 0.15:
        return changed_bytes(rng, data)
    return changed_safetensors(rng, data) if reader == "safetensors" else changed_archive(rng, data)
