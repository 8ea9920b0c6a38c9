"""The files that a kernel is made of are found by reading them, wherever they stand."""

import os
from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from codegen.package import Package
from codegen.verify.sources import Sources

FILES = {
    "kernels/__init__.py": "from .rows.softmax import softmax\nfrom .signs import negate\n",
    "kernels/rows/__init__.py": "",
    "kernels/rows/softmax.pyx": (
        "from ...support cimport capi as cnp\n"
        "from ..loops.span cimport (\n    Span,  # rows\n    find_span,\n)\n"
        "from . import losses as expressions, \\\n    normalisers\n"
        'cdef extern from "rows.h":\n    int rows(double* x)\n\n\n'
        "cpdef object softmax(x, int axis):\n    return later(x)\n\n\ndef later(x):\n    from ..late import thing\n"
    ),
    "kernels/rows/losses.py": "import numpy as np\n\n\ndef loss(x):\n    return x\n",
    "kernels/rows/normalisers.py": "from gradspec.formulas import axes\n",
    "kernels/rows/rows.h": '#include "span.h"\n#include <math.h>\n',
    "kernels/rows/span.h": "",
    "kernels/loops/span.pxd": "",
    "kernels/loops/span.pyx": "",
    "kernels/late.py": "thing = 1\n",
    "kernels/signs.py": "def negate(x):\n    return -x\n",
    "kernels/ufuncs.pyx": "pointwise = None\ncosine = pointwise('cos')\n",
    "formulas/__init__.py": "from .shapes import *\n",
    "formulas/shapes.py": "def axes(x):\n    return x\n",
    "formulas/numbers.py": "def half(x):\n    return x / 2\n",
    "support/capi.pxd": "",
    "support/errors.py": "",
}


@pytest.fixture
def sources(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "runtime" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Sources(Package(tmp_path))


def names(sources, paths):
    return {path.relative_to(sources.package.path("runtime")).as_posix() for path in paths}


def test_imports_cimports_and_headers_are_followed(sources):
    assert names(sources, sources.of_kernel("softmax")) == {
        "kernels/rows/softmax.pyx", "kernels/rows/losses.py", "kernels/rows/normalisers.py", "kernels/rows/rows.h",
        "kernels/rows/span.h", "kernels/loops/span.pxd", "kernels/loops/span.pyx", "kernels/late.py", "support/capi.pxd",
        "formulas/shapes.py",
    }  # fmt: skip


def test_what_uses_nothing_is_alone(sources):
    assert names(sources, sources.of_kernel("negate")) == {"kernels/signs.py"}
    assert names(sources, sources.of_kernel("cosine")) == {"kernels/ufuncs.pyx"}
    assert names(sources, sources.of_helper("half")) == {"formulas/numbers.py"}


def test_a_name_that_nothing_defines_may_be_of_any(sources):
    found = names(sources, sources.of_kernel("made_at_run_time"))
    assert found >= {name for name in FILES if name.startswith("kernels/") and not name.endswith(("__init__.py", ".h"))}


def test_every_kernel_of_the_spec_is_found(spec_of_the_checkout):
    from codegen.rules.calls import helpers_of, kernels_of

    package, spec = spec_of_the_checkout
    sources = Sources(package)
    every = len(sources.of_kernel("no kernel is called like this"))
    for op in spec.ops.values():
        for name in kernels_of(op):
            assert 0 < len(sources.of_kernel(name)) < every, name
        for name in helpers_of(op):
            assert {path.parent.name for path in sources.of_helper(name)} == {"formulas"}, name


def test_the_number_of_a_text_does_not_depend_on_its_place(sources):
    before = sources.digest(sources.of_kernel("negate"))
    folder = sources.package.path("runtime/kernels")
    (folder / "signs.py").rename(folder / "rows" / "signs.py")
    assert Sources(sources.package).digest(Sources(sources.package).of_kernel("negate")) == before
    (folder / "rows" / "signs.py").write_text("def negate(x):\n    return 0 - x\n")
    assert Sources(sources.package).digest(Sources(sources.package).of_kernel("negate")) != before


def test_compiled_sources_are_built_or_not(sources):
    softmax, negate = sources.of_kernel("softmax"), sources.of_kernel("negate")
    assert sources.unbuilt(softmax) and not sources.unbuilt(negate)  # there is no build
    built = sources.package.path("build") / "cp3" / "runtime" / "kernels" / f"modules{EXTENSION_SUFFIXES[0]}"
    built.parent.mkdir(parents=True)
    built.write_bytes(b"")
    (built.parents[1] / built.name).write_bytes(b"")  # of support/capi.pxd
    assert not Sources(sources.package).unbuilt(softmax)
    os.utime(built, (1, 1))
    assert Sources(sources.package).unbuilt(softmax)
    (built.parent / "modules.cpython-2-other.so").write_bytes(b"")  # of another Python
    assert Sources(sources.package).unbuilt(softmax)


def test_a_source_that_gives_the_same_c_is_built(sources):
    """Its extension is older than it, for nothing was compiled."""
    folder = sources.package.path("build") / "cp3"
    built = [folder / part / f"modules{EXTENSION_SUFFIXES[0]}" for part in ("runtime/kernels", "runtime")]
    made = [folder / f"gradspec.kernels.{module}{suffix}" for module in ("rows.softmax", "loops.span") for suffix in (".c", ".dep")]
    for path in (*built, *made):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    made[1].write_text("softmax.c: /p/kernels/rows/softmax.pyx /p/headers/kernels/loops/span.pxd /p/headers/support/capi.pxd")
    made[3].write_text("span.c: /p/kernels/loops/span.pyx /p/headers/kernels/loops/span.pxd")
    softmax = sources.of_kernel("softmax")
    for path in softmax:
        os.utime(path, (50, 50))
    for extension, c, note, unbuilt in ((40, 30, 60, False), (40, 30, 45, True), (40, 45, 60, True), (60, 30, 45, False)):
        for paths, time in ((built, extension), (made[::2], c), (made[1::2], note)):
            for path in paths:
                os.utime(path, (time, time))
        for header in (path for path in softmax if path.suffix == ".h"):
            os.utime(header, (20, 20))
        assert Sources(sources.package).unbuilt(softmax) == unbuilt, (extension, c, note)
    for path in built:
        os.utime(path, (40, 40))
    for path in made:
        os.utime(path, (60 if path.suffix == ".dep" else 30,) * 2)
    (header,) = (path for path in softmax if path.name == "rows.h")  # which the C includes
    os.utime(header, (50, 50))
    assert Sources(sources.package).unbuilt(softmax)


def test_a_module_is_as_new_as_its_own_translation(sources):
    """One of two modules was edited and translated to the same C; the other one was not touched."""
    folder = sources.package.path("build") / "cp3"
    built = [folder / part / f"modules{EXTENSION_SUFFIXES[0]}" for part in ("runtime/kernels", "runtime")]
    made = [folder / f"gradspec.kernels.{module}{suffix}" for module in ("rows.softmax", "loops.span") for suffix in (".c", ".dep")]
    for path in (*built, *made):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        os.utime(path, (40 if path in built else 30,) * 2)
    made[1].write_text("softmax.c: /p/kernels/rows/softmax.pyx")
    os.utime(made[1], (30, 30))
    softmax = sources.of_kernel("softmax")
    for path in softmax:
        os.utime(path, (20, 20))
    (edited,) = (path for path in softmax if path.name == "softmax.pyx")
    os.utime(edited, (50, 50))
    assert Sources(sources.package).unbuilt(softmax)
    os.utime(made[1], (60, 60))
    assert not Sources(sources.package).unbuilt(softmax)


def test_a_header_counts_for_the_modules_that_read_it(sources):
    """The others were not translated again when it changed."""
    folder = sources.package.path("build") / "cp3"
    extension = folder / "runtime" / "kernels" / f"modules{EXTENSION_SUFFIXES[0]}"
    extension.parent.mkdir(parents=True)
    (folder / "runtime" / extension.name).write_bytes(b"")
    extension.write_bytes(b"")
    for module, read in (("rows.softmax", "rows/softmax.pyx /p/support/capi.pxd"), ("loops.span", "loops/span.pyx /p/kernels/loops/span.pxd")):
        (folder / f"gradspec.kernels.{module}.c").write_bytes(b"")
        (folder / f"gradspec.kernels.{module}.dep").write_text(f"{module}.c: /p/kernels/{read}")
    softmax = sources.of_kernel("softmax")
    for path in (*softmax, *folder.rglob("*")):
        os.utime(path, (30, 30))
    (header,) = (path for path in softmax if path.name == "span.pxd")
    os.utime(header, (50, 50))
    assert Sources(sources.package).unbuilt(softmax)
    os.utime(folder / "gradspec.kernels.rows.softmax.dep", (60, 60))
    assert Sources(sources.package).unbuilt(softmax)  # it does not read the header
    os.utime(folder / "gradspec.kernels.loops.span.dep", (60, 60))
    os.utime(folder / "gradspec.kernels.rows.softmax.dep", (30, 30))
    assert not Sources(sources.package).unbuilt(softmax)
