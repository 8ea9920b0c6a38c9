"""Exported modules, compiled and called: what the tests of `compiled.c` share."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from itertools import takewhile

import numpy as np
import pytest

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
EACH = [
    pytest.param(one, marks=pytest.mark.skipif(one not in COMPILERS, reason=f"{one} is not installed"))
    for one in ("gcc", "clang")
]


class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("ndim", ctypes.c_int), ("shape", ctypes.c_long * 32),
                ("rows", ctypes.c_long), ("columns", ctypes.c_long),
                ("colind", ctypes.POINTER(ctypes.c_int32)), ("row", ctypes.POINTER(ctypes.c_int32))]  # fmt: skip


class Module:
    """A compiled `stem.c` in a folder, whose functions are called with arrays."""

    def __init__(self, folder, stem, names, compiler=None, flags=()):
        sizes = "".join(f"const long {name}_size = sizeof({name}_workspace);\n" for name in names)
        (folder / f"{stem}_sizes.c").write_text(f'#include "{stem}.h"\n{sizes}')
        command = [
            compiler or COMPILERS[0],
            *STRICT,
            *flags,
            "-fPIC",
            "-shared",
            "-o",
            f"{stem}.so",
            f"{stem}.c",
            f"{stem}_sizes.c",
            "-lm",
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]
        self.library = ctypes.CDLL(str(folder / f"{stem}.so"))

    def rows(self, name):
        """The rows of a table."""
        return list(takewhile(lambda row: row.name is not None, (Array * 1000).in_dll(self.library, name)))

    def table(self, name):
        """The arrays of a table: their names, dtypes and shapes."""
        return [(row.name.decode(), row.dtype.decode(), tuple(row.shape[: row.ndim])) for row in self.rows(name)]

    def matrices(self, name, results):
        """The results of a function, sparse ones as dense matrices by the tables of their columns and rows."""
        for row, data in zip(self.rows(f"{name}_results"), results, strict=True):
            if not row.colind:
                yield data
                continue
            assert row.colind[row.columns] == data.size
            dense = np.zeros((row.rows, row.columns))
            for j in range(row.columns):
                for k in range(row.colind[j], row.colind[j + 1]):
                    dense[row.row[k], j] += data[k]
            yield dense

    def __call__(self, name, *arrays):
        """The results of a function for arrays in the order of its arguments."""
        wanted = self.table(f"{name}_arguments")
        assert [(a.dtype.name, a.shape) for a in arrays] == [row[1:] for row in wanted], (wanted, [a.shape for a in arrays])
        results = [np.full(shape, 7, dtype) for _, dtype, shape in self.table(f"{name}_results")]
        work = np.full(max(ctypes.c_long.in_dll(self.library, f"{name}_size").value, 1), 0x55, np.uint8)
        assert all(a.flags.c_contiguous for a in arrays)
        getattr(self.library, name)(*(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *results, work)))
        return results
