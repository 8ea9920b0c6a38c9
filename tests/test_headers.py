"""Headers in C: what loops are written in stands in files that compilers, editors and sanitizers see."""

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from tests.asked import each

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = "runtime", "library"
FOUND = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.h"))]
HEADERS = [path for path in FOUND if not path.stem.endswith("_template")]
TEMPLATES = [path for path in FOUND if path.stem.endswith("_template")]
COMPILER = shlex.split(sysconfig.get_config_var("CC") or "cc")


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("folder", [*FOLDERS, "generated"])
def test_no_string_holds_c(folder):
    held = [
        name(path)
        for path in sorted((ROOT / folder).rglob("*.p[yx][xd]"))
        if re.search(r'cdef extern from [^\n]*:\n\s*(?:"""|\'\'\')', path.read_text())
    ]
    assert held == []


@each("header", HEADERS + TEMPLATES, ids=name)
def test_no_macro_is_a_function(header):
    """A function of each type is a template, included once for each T: a macro has at most six lines."""
    longest = max((len(macro.splitlines()) for macro in re.findall(r"#\s*define (?:.*\\\n)*.*", header.read_text())), default=0)
    assert longest <= 6


@each("template", TEMPLATES, ids=name)
def test_every_template_is_included(template):
    beside = [path.read_text() for path in template.parent.glob("*.h")]
    assert any(f'#include "{template.name}"' in text for text in beside)


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="needs a C compiler")
@pytest.mark.parametrize("header", HEADERS, ids=name)
def test_a_header_stands_alone_without_warnings(header, tmp_path):
    """It includes what it needs, and its includer may include it twice."""
    subprocess.run([sys.executable, ROOT / "buildtools/stage_headers.py", ROOT, tmp_path], check=True)
    place = Path("gradspec", *header.relative_to(ROOT).parts[1:])
    source = tmp_path / "includer.c"
    source.write_text(f'#include "{place.as_posix()}"\n' * 2)
    unused = ["-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-but-set-variable"]
    folders = [np.get_include(), sysconfig.get_path("include")]
    done = subprocess.run(
        [*COMPILER, "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *unused, "-Wno-tautological-compare",
         "-DNPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION", *(f"-isystem{folder}" for folder in folders), f"-I{tmp_path}", source],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
