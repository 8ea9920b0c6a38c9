"""The spec is checked before anything is compiled: what needs a kernel that is not built is unproved, which is no yes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNBUILT = """
import sys
sys.modules["gradspec"] = None  # as before the first build
sys.argv = ["codegen", "check", "--anew", *sys.argv[1:]]
import runpy
runpy.run_module("codegen", run_name="__main__")
"""


def check(*names):
    command = [sys.executable, "-c", UNBUILT, *names]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


@pytest.mark.slow
def test_the_whole_spec_is_checked_where_nothing_is_built():
    done = check()
    assert done.returncode == 3, done.stdout[-2000:] + done.stderr[-2000:]
    unproved = {line.strip() for line in done.stdout.splitlines()[1:]}
    assert {"matmul", "matrix_power"} < unproved  # a kernel, and what calls it
    assert not {"add", "multiply", "exp"} & unproved


def test_an_entry_that_needs_no_kernel_is_proved_where_nothing_is_built():
    done = check("unflatten")
    assert done.returncode == 0, done.stdout + done.stderr
