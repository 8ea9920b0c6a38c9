"""The lines of each room beside their bounds: `python -m tests.budget`, which `make lint` calls.

A bound is lowered when its room gets smaller.  If a room has to grow, raise its bound and say in the commit what the lines are for.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = (".py", ".pyx", ".pxd", ".h", ".j2")
LONG = 400  # lines of a file, from which on it is named
CORE = ("runtime/core", "runtime/saved", "runtime/engine", "runtime/methods", "runtime/kernels/loops", "runtime/kernels/fusion_engine")

BOUNDS: dict[str, int] = {
    "the core of the runtime": 17287,
    "runtime/api": 2373,
    "runtime/compiler": 17421,
    "runtime/core": 4478,
    "runtime/engine": 2842,
    "runtime/formulas": 1178,
    "runtime/kernels": 22029,
    "runtime/methods": 2308,
    "runtime/saved": 1740,
    "runtime/support": 2737,
    "runtime/transforms": 2521,
    "library/array_api": 647,
    "library/autograd": 2922,
    "library/compat": 1178,
    "library/distributed": 992,
    "library/distributions": 5424,
    "library/func": 6643,
    "library/nested": 1006,
    "library/nn": 8785,
    "library/operators": 1377,
    "library/optim": 2684,
    "library/profiler": 1919,
    "library/random": 723,
    "library/scipy": 18365,
    "library/signal": 251,
    "library/sparse": 993,
    "library/special": 298,
    "library/utils": 1026,
    "runtime": 124,
    "library": 892,
    "codegen": 15886,
}


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


def files(room: str) -> list[Path]:
    """The hand-written files of a room; `runtime` and `library` themselves are the files that are in no folder."""
    top = ROOT / room
    found = top.rglob("*") if "/" in room or room in ("codegen", "generated") else top.iterdir()
    return sorted(path for path in found if path.suffix in SUFFIXES and "__pycache__" not in path.parts)


def rooms() -> list[str]:
    """Each folder of the runtime and of the library, their own files, and the generator."""
    inside = [f"{top}/{path.name}" for top in ("runtime", "library") for path in sorted((ROOT / top).iterdir())
              if path.is_dir() and path.name != "__pycache__"]  # fmt: skip
    return [*inside, "runtime", "library", "codegen"]


def lines() -> dict[str, int]:
    """Room -> its lines; "the core of the runtime" is the sum of six rooms."""
    counted = {room: sum(map(lines_of, files(room))) for room in rooms()}
    return {"the core of the runtime": sum(lines_of(path) for room in CORE for path in files(room)), **counted}


def long_files() -> dict[str, int]:
    """Files of more than `LONG` lines."""
    sizes = {path.relative_to(ROOT).as_posix(): lines_of(path) for room in rooms() for path in files(room)}
    return {name: size for name, size in sizes.items() if size > LONG}


def main() -> None:
    found = lines()
    for room, count in found.items():
        print(f"{count:7,} of {BOUNDS.get(room, 0):7,}  {room}")
    print(f"{sum(map(lines_of, files('generated'))):7,}             generated, which follows from the spec")
    print(f"{sum(count for room, count in found.items() if '/' in room or room in ('runtime', 'library')):7,}             runtime and library")
    for name, size in long_files().items():
        print(f"warning: {name} has {size} lines")


if __name__ == "__main__":
    main()
