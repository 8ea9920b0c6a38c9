"""Package: the paths and names of a package of operators, as data.

Holds each path and module name that differs between packages.  Does not depend on the content of a spec.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Operators that derivation and the runtime call by name: no package is built from a spec without them.
REQUIRED_OPS = (
    "conj", "zeros_like", "add", "subtract", "negative", "_sum_to", "astype", "broadcast_to", "real", "stack", "copy",
    "ones_like", "permute_dims", "moveaxis", "reshape", "zeros", "concat", "floor_divide", "remainder", "swapaxes",
    "repeat", "contiguous",
)  # fmt: skip

COMPILED = "generated"  # the folder of Cython operators in a package other than gradspec


@dataclass(frozen=True)
class Package:
    """One package; paths are relative to `root`, a checkout."""

    root: Path
    name: str = "gradspec"  # its import name
    spec: str = "derivatives.yaml"
    runtime: str = "runtime"  # the folder that is imported as the package itself
    formulas: str = "runtime/formulas"  # a folder of modules, or a file of this name
    kernels: str = "runtime/kernels"
    generated: str = "generated"
    required: tuple[str, ...] = REQUIRED_OPS
    cython: bool = False  # for a package other than gradspec: whether its operators are compiled

    @classmethod
    def at(cls, place: Package | Path | str) -> Package:
        """The package itself, or gradspec in the checkout at a path."""
        return place if isinstance(place, Package) else cls(Path(place))

    @property
    def is_library(self) -> bool:
        """Whether it is gradspec itself, whose operators the formulas of all packages may call."""
        return self.name == Package.name

    @property
    def generated_module(self) -> str:
        """The dotted name of the folder of generated code; in another package this folder contains Cython modules only."""
        return f"{self.name}.{self.generated if self.is_library else COMPILED}"

    @property
    def folders(self) -> list[Path]:
        """The folders of the package's modules; gradspec's public modules are in a folder of their own."""
        return [self.path(self.runtime), *([self.path("library")] if self.is_library else [])]

    def path(self, part: str) -> Path:
        return self.root / part

    def keep(self, part: str, data: bytes) -> None:
        """Write a cache file, which a concurrent run reads whole or not at all; nothing if its folder cannot be written."""
        file = self.path(part)
        beside = file.with_name(f"{file.name}.{os.getpid()}")
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            beside.write_bytes(data)
            beside.replace(file)

    @property
    def formulas_files(self) -> list[Path]:
        """The modules that hold the helpers of formulas."""
        folder = self.path(self.formulas)
        if not folder.is_dir():
            return [folder.with_suffix(".py")]
        return sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")

    @property
    def kernels_files(self) -> list[Path]:
        """The modules that define kernels: the modules of a folder, or the file of this name."""
        folder = self.path(self.kernels)
        if folder.is_dir():
            return sorted(path for path in folder.rglob("*.py*") if path.suffix in (".py", ".pyx"))
        return [path for path in (folder.with_suffix(".py"), folder.with_suffix(".pyx")) if path.exists()]
