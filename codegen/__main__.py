"""The command line: `python -m codegen`.

Owns arguments, exit codes and what goes to which stream: results to stdout, progress and errors to stderr.  Knows
nothing of what an entry means.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from . import build
from .errors import SpecErrors
from .package import Package
from .progress import Progress

if TYPE_CHECKING:
    from .spec.model import Spec

CHECKOUT = Path(__file__).resolve().parent.parent
STALE = "generated/ is stale: run python -m codegen"
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
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stdout = None
    return 1


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m codegen",
        description="Turn derivatives.yaml into operators: check the spec, rewrite generated/ and build in place.",
    )
    parser.add_argument("--check-generated", action="store_true", help="fail if generated/ is stale; write nothing")
    parser.add_argument("--root", type=Path, default=CHECKOUT, help="the checkout (default: the one of this program)")
    parser.set_defaults(run=_everything)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")

    command = commands.add_parser("check", help="check the spec; what needs unbuilt kernels is listed as deferred")
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

    options = parser.parse_args(argv)
    if options.check_generated:
        if options.command:
            parser.error("--check-generated takes no command")
        options.run = _check_generated
    return options


def _forms() -> tuple[str, ...]:
    from .skeleton import FORMS

    return FORMS


# What every command does with the spec.


def _read(root: Path) -> Spec:
    """The analysed spec of a checkout."""
    from .rules.analyze import analyze
    from .spec.reader import read

    package = Package(root)
    path = package.path(package.spec)
    if not path.exists():
        raise Failed(f"no {package.spec} in {root}")
    return analyze(read(path), package)


def _check(spec: Spec, root: Path, anew: bool = False) -> list[str]:
    """Checks the entries that changed since they passed; all of them where `anew`."""
    from .verify.check import check
    from .verify.passed import Passed

    # Whoever checks wants an answer now: importing the kernels must not start a build.
    build.no_build_on_import(root)
    with Progress("check") as progress:
        deferred = check(spec, root, progress, passed=None if anew else Passed(spec, root))
    _say(f"checked {len(spec.ops)} operators{f', {len(deferred)} of them deferred' if deferred else ''}")
    return deferred


def _generate(spec: Spec, root: Path) -> None:
    from .write.files import generate

    changed = generate(spec, root)
    _say(f"generated/: {len(changed)} file{'s' * (len(changed) != 1)} rewritten")
    for path in changed[:8]:
        _say(f"  {path.relative_to(root)}")
    if len(changed) > 8:
        _say(f"  and {len(changed) - 8} more")


def _refuse_missing(spec: Spec, package: Package) -> None:
    """Nothing is built from a spec that lacks an operator which the runtime calls by name."""
    if missing := [name for name in package.required if name not in spec.ops]:
        raise Failed(f"{package.spec}: the runtime calls operators that have no entry: {', '.join(missing)}")


def _build(root: Path) -> None:
    start = time.monotonic()
    with Progress("build") as progress:
        steps = build.build(root, progress)
    _say(f"built in {time.monotonic() - start:.0f} s" if steps else "nothing to build")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


# Commands.


def _everything(options: argparse.Namespace) -> None:
    spec = _read(options.root)
    deferred = _check(spec, options.root)
    _generate(spec, options.root)
    _refuse_missing(spec, Package(options.root))
    _build(options.root)
    if deferred:  # in a process of its own, which sees the kernels that were built just now
        command = [sys.executable, "-m", __package__, "--root", str(options.root), "check", "--built"]
        if subprocess.run(command, cwd=CHECKOUT).returncode:
            raise Failed("the build is done, but what could only be checked after it is wrong: see above")


def _check_command(options: argparse.Namespace) -> None:
    deferred = _check(_read(options.root), options.root, anew=not options.built)
    if deferred and options.built:
        raise Failed(f"gradspec.kernels does not export what these operators need: {', '.join(deferred)}")
    if deferred:
        print("deferred until the kernels are built (python -m codegen builds and checks them):")
        print("\n".join(f"  {name}" for name in deferred))
    if options.prove:
        from .verify.proofs import FILE, PROVED, text
        from .verify.prove import prove

        spec = _read(options.root)
        found = dict(prove(spec))
        print("\n".join(f"{how:13} {name}" for name, how in found.items()))
        FILE.write_text(text((name for name, how in found.items() if how == PROVED), spec))


def _mutate_command(options: argparse.Namespace) -> None:
    from .verify.mutate import survivors

    spec = _read(options.root)
    for name in options.op:
        if name not in spec.ops:
            raise Failed(f"no operator is called '{name}'")
    with Progress("mutate") as progress:
        found = survivors(spec, options.root, options.op, progress)
    print("\n".join(map(str, found)))
    _say(f"{len(found)} mutants survive")


def _generate_command(options: argparse.Namespace) -> None:
    spec = _read(options.root)
    _check(spec, options.root)
    _generate(spec, options.root)


def _build_command(options: argparse.Namespace) -> None:
    _build(options.root)


def _show_command(options: argparse.Namespace) -> None:
    from .show import UnknownOp, show

    try:
        print(show(_read(options.root), options.op, options.root))
    except UnknownOp as unknown:
        raise Failed(str(unknown)) from None


def _toc_command(options: argparse.Namespace) -> None:
    from .show import toc

    print(toc(_read(options.root)))


def _new_command(options: argparse.Namespace) -> None:
    from .skeleton import skeleton

    spec = _read(options.root)
    print(skeleton(options.op, options.form, spec))
    _say("\nPaste it into its family in derivatives.yaml, in alphabetical order, and run python -m codegen.")


def _check_generated(options: argparse.Namespace) -> int:
    from .write.files import stale

    files = stale(_read(options.root), options.root)
    if files:
        _say(f"error: {STALE}\n" + "\n".join(f"  generated/{name}" for name in files))
    return 1 if files else 0


if __name__ == "__main__":
    sys.exit(main())
