"""Peers: the name, the virtual environment and the interpreter of each library.

    python -m benchmarks.environments              create every environment that is missing
    python -m benchmarks.environments torch jax    only these, created anew

gradspec and the limits are measured with the interpreter that runs this module.  Every other peer has an environment
`benchmarks/.env-<name>`, so that the libraries share no NumPy, BLAS or thread pool.  An earlier gradspec runs in the
environment where it is installed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Peer:
    """One library; `library` names its environment and its functions `with_<library>` in the cases."""

    name: str
    library: str
    requirements: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    is_limit: bool = False  # work that no library can avoid: its results are not compared
    is_partial: bool = False  # missing in some cases
    python: Path | None = None  # an existing interpreter with the library

    @property
    def environment(self) -> Path:
        return HERE / f".env-{self.library}"

    @property
    def interpreter(self) -> Path:
        if not self.requirements:
            return self.python or Path(sys.executable)
        folder = "Scripts" if sys.platform == "win32" else "bin"
        return self.environment / folder / "python"

    def missing(self) -> str | None:
        """The reason why this peer cannot be measured now, or None."""
        if not self.interpreter.exists():
            return f"it has no environment yet: run python -m benchmarks.environments {self.library}"
        probe = subprocess.run([self.interpreter, "-c", f"import {self.library}"], capture_output=True, text=True, cwd=HERE)
        if probe.returncode != 0:
            reason = probe.stderr.strip().splitlines()[-1] if probe.stderr.strip() else f"exit {probe.returncode}"
            return f"`import {self.library}` fails in {self.interpreter.name}: {reason}"
        return None


TORCH = ("torch==2.13.0", "numpy")
PEERS = (
    Peer("gradspec", "gradspec"),
    Peer("replay", "gradspec", variables={"GRADSPEC_REPLAY": "1", "GRADSPEC_RECHECK": "0"}),  # the same step, compiled unchanged
    Peer("torch-1", "torch", TORCH, {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}),
    Peer("torch-2", "torch", TORCH, {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}),
    # float64 cases need 64-bit mode; float32 inputs stay float32 in it.
    Peer("jax", "jax", ("jax", "jaxlib"), {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}),
    Peer("autograd", "autograd", ("autograd", "numpy", "scipy")),
    Peer("casadi", "casadi", ("casadi", "numpy"), is_partial=True),
    Peer("numpy", "numpy", is_limit=True, is_partial=True),
)


def make(peer: Peer) -> None:
    """Create (or clear) the environment of `peer` and install its requirements."""
    print(f"{peer.library}: {peer.environment.relative_to(HERE.parent)}: {' '.join(peer.requirements)}", flush=True)
    venv.create(peer.environment, clear=True, with_pip=True)
    (peer.environment / ".gitignore").write_text("*\n")
    subprocess.run([peer.interpreter, "-m", "pip", "install", "--quiet", *peer.requirements], check=True)


def main() -> None:
    peers = {peer.library: peer for peer in PEERS if peer.requirements}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.environments", description=__doc__.splitlines()[0])
    parser.add_argument("library", nargs="*", help=f"of {', '.join(peers)}; default: what is missing")
    chosen = parser.parse_args().library
    if unknown := set(chosen) - set(peers):
        parser.error(f"no environment for {', '.join(sorted(unknown))}; there are {', '.join(peers)}")
    for peer in peers.values():
        if peer.library in chosen or (not chosen and peer.missing()):
            make(peer)


if __name__ == "__main__":
    main()
