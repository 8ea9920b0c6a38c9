"""Translate Cython modules to C, many in one process: a start of Cython takes as long as the translation of a module.

`python translate.py DEPFILE OUTPUT_FOLDER FLAG... -- MODULE=SOURCE...` writes `MODULE.c` for each module, and DEPFILE, which says
for ninja what all of them were made of.  A module is translated if something that it was made of is newer than its `.dep`, which
is Cython's list.  Its C is written only if it changes, so that a header that many modules read costs the compiler nothing where
it says nothing new.
"""

import gc
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

depfile, folder = Path(sys.argv[1]), Path(sys.argv[2])
end = sys.argv.index("--")
flags, modules = sys.argv[3:end], dict(argument.split("=", 1) for argument in sys.argv[end + 1 :])
places: dict[tuple, str | None] = {}


def made_of(target: Path) -> list[str]:
    """The files that Cython noted for a module; none where it was never translated."""
    listed = target.with_suffix(".dep")
    if not listed.exists() or not target.exists():
        return []
    text = listed.read_text().replace("\\\n", " ").replace("\\ ", "\0")
    return [name.replace("\0", " ") for name in text.partition(": ")[2].split()]


def is_current(target: Path, wanted: str) -> bool:
    """Whether a translation with the same flags is newer than all that it was made of."""
    said, sources = target.with_suffix(".flags"), made_of(target)
    if not sources or not said.exists() or said.read_text() != wanted:
        return False
    then = target.with_suffix(".dep").stat().st_mtime_ns
    return all(os.path.exists(name) and os.stat(name).st_mtime_ns < then for name in sources)


def translate(module: str, source: str, target: Path) -> bool:
    """Whether Cython translated the module; it prints what is wrong."""
    from Cython import __version__

    # Two processes that import the package may both build it, so each has a file of its own.
    new, wanted = target.with_suffix(f".{os.getpid()}.c"), " ".join([__version__, *flags, source])
    if is_current(target, wanted):
        return True
    target.with_suffix(".flags").unlink(missing_ok=True)
    began = time.time_ns()
    read = run_cython(module, source, new)
    if read is None:
        return False
    c = new.read_text().replace(new.name, target.name)
    if target.exists() and target.read_text() == c:
        new.unlink()
    else:
        new.write_text(c)
        os.replace(new, target)
    target.with_suffix(".dep").write_text(rule([target], read))
    os.utime(target.with_suffix(".dep"), ns=(began, began))  # a source that is edited meanwhile is newer
    target.with_suffix(".flags").write_text(wanted)
    return True


def run_cython(module: str, source: str, new: Path) -> set[str] | None:
    """The files that Cython read for a module's C; none if it failed."""
    from Cython.Compiler.CmdLine import parse_command_line
    from Cython.Compiler.Main import CompilationOptions, Context, compile_single

    class Noting(Context):
        """Notes each file that it reads, where Cython's own list would read all of them again."""

        def parse(self, source_desc, *others, **named):
            read.add(os.path.abspath(source_desc.filename))
            return super().parse(source_desc, *others, **named)

        def find_include_file(self, *others, **named):
            if found := super().find_include_file(*others, **named):
                read.add(os.path.abspath(found))
            return found

        def search_include_directories(self, name, suffix=None, source_pos=None, include=False, sys_path=False, **named):
            """Cython remembers a place for each line that asks; a header stands where it stands, whoever asks."""
            key = name, suffix, sys_path
            if include or key not in places:
                places[key] = super().search_include_directories(name, suffix, source_pos, include, sys_path, **named)
            return places[key]

    read: set[str] = set()
    options, (path,) = parse_command_line(["--fast-fail", *flags, source, "-o", str(new)])
    options = CompilationOptions(defaults=options)
    failed = compile_single(path, options, module, context=Noting.from_options(options)).num_errors
    return None if failed else read


def rule(targets: list[Path], read: Iterable[str]) -> str:
    """What ninja reads of targets that were made of files."""
    escaped = (name.replace(" ", "\\ ") for name in sorted(read))
    return f"{' '.join(str(target) for target in targets)}: {' '.join(escaped)}\n"


def main() -> int:
    # The trees of a module are many objects that live as long as it is translated: looking for cycles among them takes an
    # eighth of the time even where it is done seldom, and a process without it needs 540 MB in place of 400.
    gc.disable()
    targets = {module: folder / f"{module}.c" for module in modules}
    for module, source in modules.items():
        if not translate(module, source, targets[module]):
            return 1
    depfile.write_text(rule(list(targets.values()), {name for target in targets.values() for name in made_of(target)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
