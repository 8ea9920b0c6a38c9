"""NumPy's table of C functions is each module's own: one that calls through it without `import_array()` reads from nowhere."""

import re
from pathlib import Path

import numpy as np
import pytest

from codegen.build import build_folder

ROOT = Path(__file__).parents[1]
CALLED, COMMENT = re.compile(r"\bPyArray_\w+"), re.compile(r"/\*.*?\*/", re.DOTALL)
CALL = "= __pyx_f_8gradspec_7support_4capi_import_array()"


def names_in_the_table():
    """What NumPy's headers define by the table, or by what is defined by it."""
    headers = "\n".join(path.read_text() for path in (Path(np.get_include()) / "numpy").glob("*.h"))
    found = set(re.findall(r"#define (\w+)\s*\\?\s*\(\*", headers))
    macros = re.findall(r"^[ \t]*#define\s+(\w+)(?:\([^)]*\))?((?:.*\\\n)*.*)$", headers, re.M)
    while more := {name for name, text in macros if name not in found and found & set(re.findall(r"\w+", text))}:
        found |= more
    return {name for name in found if name.startswith("PyArray_")}


def test_who_calls_through_the_table_imports_it():
    table = names_in_the_table()
    assert {"PyArray_CheckExact", "PyArray_EMPTY", "PyArray_SIZE"} <= table and "PyArray_DIMS" not in table
    folder = build_folder(ROOT)
    if folder is None:
        pytest.skip("gradspec is not installed editable from this checkout")
    files = sorted(folder.glob("gradspec.*.c"))
    texts = {path.name: path.read_text() for path in files}
    assert any(CALL in text for text in texts.values())
    calls = {name: set(CALLED.findall(COMMENT.sub("", text))) & table for name, text in texts.items() if CALL not in text}
    assert {name: used for name, used in calls.items() if used} == {}
