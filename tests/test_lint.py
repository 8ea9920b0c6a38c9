"""What `make lint` runs over the sources reports nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent


@pytest.mark.slow
@pytest.mark.parametrize("command", [["ruff", "check", "."], ["cython-lint", "runtime", "library"]], ids=" ".join)
def test_the_linter_reports_nothing(command):
    if not (PROGRAMS / command[0]).exists():
        pytest.skip(f"{command[0]} is not installed")
    environment = os.environ | {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}"}  # cython-lint starts pycodestyle
    done = subprocess.run([PROGRAMS / command[0], *command[1:]], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
