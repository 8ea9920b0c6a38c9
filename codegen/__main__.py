"""The command line: `python -m codegen`, and `python -m gradspec.codegen` in the folder of another package of operators.

Decides arguments, exit codes (0 right, 1 wrong, 2 wrong usage, 3 unproved, 130 interrupted) and output streams: results go to
stdout, progress and errors to stderr.  Does not depend on the meaning of entries.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from . import build
from .errors import ErrorList, SpecErrors, did_you_mean
from .package import Package
from .progress import Progress

if TYPE_CHECKING:
    from .spec.model import Spec

CHECKOUT = Path(__file__).resolve().parent.parent
STALE = "generated/ is stale: run python -m codegen"
NOTHING = ("no package of operators here: a pyproject.toml with an entry point gradspec.operators makes one, and "
           "python -m gradspec.codegen new-package NAME writes it")  # fmt: skip
UNPROVED = 3
PACKAGES = {"yaml": "PyYAML", "jinja2": "Jinja2", "numpy": "NumPy", "mpmath": "mpmath", "sympy": "SymPy"}


class Failed(Exception):
    """A run that ends with exit code 1 and a message."""


def main(argv: list[str] | None = None) -> int:
    options = _arguments(argv)
    try:
        return options.run(options) or 0
    except SpecErrors as errors:
        count = len(errors.errors)
        _say(f"{errors}\n{count} error{'s' * (count != 1)}")
    except (Failed, build.BuildFailed) as failure:
        _say(f"error: {failure}")
    except ModuleNotFoundError as missing:
        if missing.name not in PACKAGES:
            raise
        _say(f"error: {PACKAGES[missing.name]} is not installed: python -m pip install pyyaml jinja2 numpy")
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        sys.stdout = None
    return 1


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description="Turn derivatives.yaml into operators: check the spec, write what follows from it, build gradspec itself.",
    )
    parser.add_argument("--check-generated", action="store_true", help="fail if generated/ is stale; write nothing")
    where = "a checkout (default: that of the package of this folder, else that of this program)"
    parser.add_argument("--root", type=Path, help=where)
    parser.add_argument("--package", metavar="NAME", help="an installed package, by its entry point gradspec.operators")
    jobs = f"compilers at the same time; by default ${build.JOBS}, else one for each processor"
    parser.add_argument("--jobs", type=int, help=jobs)
    parser.set_defaults(run=_everything)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")

    command = commands.add_parser("check", help="check what changed since it passed; exit code 3 where something is unproved")
    command.add_argument("op", metavar="OP", nargs="*", help="names or aliases: these, and what calls them; all by default")
    command.add_argument("--anew", action="store_true", help="what passed as well")
    command.add_argument("--built", action="store_true", help="fail where a kernel is still missing")
    prove = "say which elementwise rules sympy proves, and note it for OPS.md; needs sympy"
    command.add_argument("--prove", action="store_true", help=prove)
    command.set_defaults(run=_check_command)
    command = commands.add_parser("mutate", help="change each formula in one place; print what the check lets pass")
    command.add_argument("op", metavar="OP", nargs="*", help="names; all operators by default")
    command.set_defaults(run=_mutate_command)
    command = commands.add_parser("generate", help="check the spec and rewrite generated/, without building")
    command.set_defaults(run=_generate_command)
    command = commands.add_parser("build", help="build in place what changed, without regenerating")
    command.add_argument("--jobs", type=int, default=argparse.SUPPRESS, help=jobs)
    command.set_defaults(run=_build_command)
    command = commands.add_parser("show", help="an entry, what is derived from it and the code that it becomes")
    command.add_argument("op", metavar="OP", help="a name or an alias")
    command.set_defaults(run=_show_command)
    command = commands.add_parser("toc", help="the families and how many operators each has")
    command.set_defaults(run=_toc_command)
    command = commands.add_parser("new", help="a skeleton entry")
    command.add_argument("op", metavar="OP", help="a name, or a signature such as 'hypot(a, b) -> y'")
    command.add_argument("--form", choices=list(_forms()), default="partial", help="default: %(default)s")
    command.set_defaults(run=_new_command)
    command = commands.add_parser("new-package", help="a package of operators, to start from")
    command.add_argument("name", metavar="NAME", help="as it is imported")
    command.add_argument("--cython", action="store_true", help="with operators that are compiled, and a kernel in Cython")
    command.add_argument("--folder", type=Path, help="where (default: a folder of this name here)")
    command.set_defaults(run=_new_package_command)

    options = parser.parse_args(argv)
    if options.check_generated:
        if options.command:
            parser.error("--check-generated takes no command")
        options.run = _check_generated
    return options


def _forms() -> tuple[str, ...]:
    from .skeleton import FORMS

    return FORMS


# Helpers that the commands share.


def _read(package: Package, errors: ErrorList | None = None) -> Spec:
    """The analysed spec of a package; errors are raised, or added to `errors`."""
    from .spec_cache import analysed

    with Progress("read") as progress:
        return analysed(package, errors, progress)


def _package(options: argparse.Namespace) -> Package:
    """The package that the arguments select: an installed one, one in a folder, or gradspec's checkout."""
    from .packages import NoPackage, installed, package_at

    try:
        if options.package:
            return installed(options.package)
        found = package_at((options.root or Path.cwd()).resolve())
    except NoPackage as wrong:
        raise Failed(str(wrong)) from None
    package = found or Package(options.root or CHECKOUT)
    if not package.path(package.spec).exists():
        raise Failed(f"no {package.spec} in {package.root}" if options.root else NOTHING)
    return package


def _check(package: Package, names: Sequence[str] = (), anew: bool = False) -> tuple[Spec, list[str]]:
    """The spec and the names of its unproved entries.

    Checks all entries, or `names` and their callers.  Entries that passed before are skipped unless `anew`.  The errors of
    reading, of analysis and of the check are raised together.
    """
    from .verify.result_cache import Passed

    errors = ErrorList("", "")
    spec = _read(package, errors)
    wanted = spec.ops.keys() if not names else {_named(spec, name, errors) for name in names} - {""}
    passed = Passed(spec, package)
    wanted |= passed.callers(wanted) if names else set()
    if anew:
        passed.forget(wanted)
    pending = [name for name in wanted if not passed.holds(spec.ops[name])]
    unproved: list[str] = []
    if pending:
        from .verify.check import check

        # Importing the kernels must not start a build: the user of a check waits for its answer.
        build.no_build_on_import(package.root)
        with Progress("check") as progress:
            unproved = check(spec, package, progress, passed=passed, errors=errors, names=pending, shown=package.is_library)
    errors.raise_if_any()
    now = f", {len(pending)} of them now" if 0 < len(pending) < len(wanted) else ""
    left = f", {len(unproved)} of them unproved" if unproved else ""
    _say(f"checked {len(wanted)} operator{'s' * (len(wanted) != 1)}{now}{left}")
    return spec, unproved


def _named(spec: Spec, name: str, errors: ErrorList) -> str:
    """The operator with a name or an alias; "" if entries were rejected, since the name may belong to one of them."""
    if name in spec.by_spelling:
        return spec.by_spelling[name].name
    if not errors:
        raise Failed(f"no operator '{name}'{did_you_mean(name, spec.by_spelling)}")
    return ""


def _generate(spec: Spec, package: Package) -> None:
    changed = _writer(package).generate(spec, package)
    _say(f"{'generated/' if package.is_library else package.name}: {len(changed)} file{'s' * (len(changed) != 1)} rewritten")
    for path in changed[:8]:
        _say(f"  {path.relative_to(package.root)}")
    if len(changed) > 8:
        _say(f"  and {len(changed) - 8} more")
    if not package.is_library and any(path.suffix == ".pyx" for path in changed):
        _say("compile it: python -m pip install -e . --no-build-isolation, or python setup.py build_ext --inplace")


def _writer(package: Package) -> ModuleType:
    """The module that writes a package's code: `write.files` for gradspec, `write.guests` for other packages."""
    if package.is_library:
        from .write import files

        return files
    from .write import guests

    return guests


def _refuse_missing(spec: Spec, package: Package) -> None:
    """Raise Failed if the spec lacks an operator that the runtime calls by name."""
    if missing := [name for name in package.required if name not in spec.ops]:
        raise Failed(f"{package.spec}: the runtime calls operators that have no entry: {', '.join(missing)}")


def _build(root: Path, jobs: int | None) -> None:
    start = time.monotonic()
    with Progress("build") as progress:
        steps = build.build(root, progress, jobs)
    _say(f"built in {time.monotonic() - start:.0f} s" if steps else "nothing to build")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


# Commands.


def _everything(options: argparse.Namespace) -> None:
    package = _package(options)
    spec, unproved = _check(package)
    _generate(spec, package)
    if not package.is_library:
        if unproved:
            raise Failed(f"{package.name}.kernels is not built, or lacks what these operators need: {', '.join(unproved)}; "
                         "install the package (python -m pip install -e .) and run this again")  # fmt: skip
        return
    _refuse_missing(spec, package)
    _build(package.root, options.jobs)
    if unproved:  # in a new process, which imports the kernels that were just built
        command = [sys.executable, "-m", __package__, "--root", str(package.root), "check", "--built"]
        if subprocess.run(command, cwd=CHECKOUT).returncode:
            raise Failed("the build is done, but what could only be checked after it is wrong: see above")


def _check_command(options: argparse.Namespace) -> int:
    package = _package(options)
    spec, unproved = _check(package, options.op, options.anew)
    if unproved and options.built:
        raise Failed(f"{package.name}.kernels does not export what these operators need: {', '.join(unproved)}")
    if unproved:
        print("unproved until their kernels are built (python -m codegen builds and checks them):")
        print("\n".join(f"  {name}" for name in unproved))
    if options.prove:
        _prove(spec, package)
    return UNPROVED if unproved else 0


def _prove(spec: Spec, package: Package) -> None:
    if not package.is_library:
        raise Failed("--prove notes what sympy proves of gradspec's own rules; a package has its checks")
    from .verify.proofs import FILE, PROVED, text
    from .verify.prove import prove

    found = dict(prove(spec))
    print("\n".join(f"{how:13} {name}" for name, how in found.items()))
    FILE.write_text(text((name for name, how in found.items() if how == PROVED), spec))


def _mutate_command(options: argparse.Namespace) -> None:
    from .verify.mutate import survivors

    package = _package(options)
    spec = _read(package)
    for name in options.op:
        if name not in spec.ops:
            raise Failed(f"no operator is called '{name}'")
    with Progress("mutate") as progress:
        found = survivors(spec, package, options.op, progress)
    print("\n".join(map(str, found)))
    advice = ("add a sample, an example or a kink that refuses them, or list them in tests/codegen/equivalent_mutants.yaml, "
              "with the reason why the values are equal")  # fmt: skip
    _say(f"{len(found)} changes pass all checks" + (f": {advice}" if found else ""))


def _generate_command(options: argparse.Namespace) -> None:
    package = _package(options)
    _generate(_check(package)[0], package)


def _build_command(options: argparse.Namespace) -> None:
    if options.root is None and not (package := _package(options)).is_library:
        raise Failed(f"{package.name} is built by what its pyproject.toml names: python -m pip install -e {package.root}")
    _build(options.root or CHECKOUT, options.jobs)


def _show_command(options: argparse.Namespace) -> None:
    from .show import UnknownOp, show

    try:
        package = _package(options)
        print(show(_read(package), options.op, package))
    except UnknownOp as unknown:
        raise Failed(str(unknown)) from None


def _toc_command(options: argparse.Namespace) -> None:
    from .show import toc
    from .spec_cache import read

    print(toc(read(_package(options))))


def _new_command(options: argparse.Namespace) -> None:
    from .skeleton import skeleton
    from .spec_cache import read

    print(skeleton(options.op, options.form, read(_package(options))))
    _say("\nPaste it into its family in derivatives.yaml, in alphabetical order, and run python -m codegen.")


def _new_package_command(options: argparse.Namespace) -> None:
    from .starter import write

    try:
        package = write(options.name, options.folder or Path(options.name), options.cython)
    except ValueError as wrong:
        raise Failed(str(wrong)) from None
    _generate(_read(package), package)
    steps = ["python -m pip install -e . --no-build-isolation", "python -m gradspec.codegen", "python -m pytest"]
    _say("\n".join([f"\nNow, in {package.root}:", *(f"  {step}" for step in steps)]))


def _check_generated(options: argparse.Namespace) -> int:
    package = _package(options)
    files = _writer(package).stale(_read(package), package)
    if files:
        stale = STALE if package.is_library else f"{package.name} is stale: run python -m gradspec.codegen"
        _say(f"error: {stale}\n" + "\n".join(f"  {'generated/' * package.is_library}{name}" for name in files))
    return 1 if files else 0


if __name__ == "__main__":
    sys.exit(main())
